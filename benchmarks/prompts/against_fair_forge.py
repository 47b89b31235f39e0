"""Prompt metrics beside Fair Forge's PromptEvaluator, in one thread of one process."""

import os
from collections.abc import Callable, Iterator, Sequence
from math import inf
from time import process_time

import msgspec

from benchmarks.comparison import Comparison, interleaved
from benchmarks.machine import SERVER_CORE
from benchmarks.prompts.alone import printed_by
from benchmarks.prompts.arrays import Arrays
from benchmarks.prompts.measures import Measures
from benchmarks.prompts.ours import Ours
from benchmarks.prompts.peer import Peer
from benchmarks.prompts.queries import MANY_QUERIES, MANY_RESPONSES, Session, large, small
from service.app import tune

LEAST = 10.0
"""For the numbers that both tell, from the same arrays."""

NO_SLOWER = 1.0
"""For whole answers, which tell more."""

MOST_APART = 0.5e-4 + 1e-6
"""The peer rounds to four decimals, and its vectors and cosines are float32."""


def compare() -> list[Comparison]:
    """CPU a query. CalledProcessError if the two measure one differently."""
    return msgspec.json.decode(printed_by("against_fair_forge"), type=list[Comparison])


def main() -> None:
    """Print the comparisons as JSON."""
    os.sched_setaffinity(0, {SERVER_CORE})
    tune()
    print(msgspec.json.encode(_compared()).decode())


def _compared() -> list[Comparison]:
    sessions, timed = small(), large()
    apart = max(_check(session) for session in (*sessions, timed))
    ours, peer = Ours(timed), Peer(timed)
    arrays, peer_of_arrays = Arrays(timed), Peer(timed, checks=False)
    rounds = interleaved(
        {
            "arrays": lambda: _milliseconds(arrays.run),
            "bare": lambda: _milliseconds(arrays.run_bare),
            "bare_with_icr": lambda: _milliseconds(arrays.run_bare_with_icr),
            "fair_forge_without_icr": lambda: _milliseconds(peer_of_arrays.run),
            "ours": lambda: _milliseconds(ours.run),
            "from_json": lambda: _milliseconds(ours.run_from_json),
            "fair_forge": lambda: _milliseconds(peer.run),
            "stacked": lambda: _milliseconds(ours.stack),
            "stacked_from_json": lambda: _milliseconds(ours.stack_from_json),
        }
    )
    queries = sum(len(session.queries) for session in sessions)
    alike = f"{queries} queries of 2 to 20 answers and these {MANY_QUERIES}: apart by {apart:.0e} at most"
    least = _ratio(rounds, "fair_forge", "stacked")
    least_from_json = _ratio(rounds, "fair_forge", "stacked_from_json")
    without = "fair_forge_without_icr"
    return [
        _row("CSR, stability, RSS of {}", "bare", without, LEAST, rounds, alike),
        _row("CSR, stability, RSS, ICR of {}", "bare_with_icr", "fair_forge", LEAST, rounds),
        _row("all about the vectors of {}", "arrays", without, NO_SLOWER, rounds),
        _row("{} as lists, all", "ours", "fair_forge", NO_SLOWER, rounds, f"reading the lists alone: {least:.1f}"),
        _row(
            "{} as JSON, all",
            "from_json",
            "fair_forge",
            NO_SLOWER,
            rounds,
            f"decoding and reading alone: {least_from_json:.1f}",
        ),
    ]


def _row(kind: str, run: str, peer: str, target: float, rounds: dict[str, list[float]], note: str = "") -> Comparison:
    speeds = f"{1000 / min(rounds[run]):,.0f} queries a second, {1000 / min(rounds[peer]):,.0f} of the peer"
    return Comparison(
        name=f"{kind.format(MANY_RESPONSES)}; Fair Forge",
        unit="ms",
        ours=min(rounds[run]),
        peer=min(rounds[peer]),
        sense="at least",
        target=target,
        rounds={one: rounds[one] for one in (run, peer)},
        note=f"{speeds}; {note}" if note else speeds,
    )


def _ratio(rounds: dict[str, list[float]], peer: str, run: str) -> float:
    return min(rounds[peer]) / min(rounds[run])


def _milliseconds(run: Callable[[], object]) -> float:
    """Of the processor, a query."""
    began = process_time()
    run()
    return (process_time() - began) * 1000 / MANY_QUERIES


def _check(session: Session) -> float:
    """How far apart the two are at most."""
    pairs = [
        (Ours(session).measures(), Peer(session).run()),
        (Arrays(session).run(), Peer(session, checks=False).run()),
        (Arrays(session).run_bare(), Peer(session, checks=False).run()),
        (Arrays(session).run_bare_with_icr(), Peer(session).run()),
    ]
    return max(_apart(session, *pair) for pair in pairs)


def _apart(session: Session, ours: Sequence[Measures], theirs: Sequence[Measures]) -> float:
    most = 0.0
    for place, pair in enumerate(zip(ours, theirs, strict=True)):
        apart = max(_differences(*pair))
        if apart > MOST_APART:
            raise RuntimeError(f"query {place} of K = {session.k}: {pair[0]} here, {pair[1]} by Fair Forge")
        most = max(most, apart)
    return most


def _differences(one: Measures, other: Measures) -> Iterator[float]:
    for value, theirs in zip(one, other, strict=True):
        if value is None or theirs is None:
            yield 0.0 if value is theirs else inf
        else:
            yield abs(value - theirs)


if __name__ == "__main__":
    main()
