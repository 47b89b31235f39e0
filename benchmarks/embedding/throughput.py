"""The embedder beside sentence-transformers, fastembed and the limit of the arithmetic: one thread on one core each."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from itertools import pairwise

import numpy as np

from benchmarks.comparison import Comparison, interleaved
from benchmarks.embedding.contestant import Contestant, Turns, contestant
from benchmarks.embedding.loads import LONG, MANY_MIXED, MEDIUM, MIXED, ONE, SHORT, TEN, Load
from benchmarks.embedding.model import GEMM_MFLOP, mflop
from benchmarks.machine import SERVER_CORE

PEERS = ("sentence_transformers", "fastembed")
LEAST = {
    MANY_MIXED: {"sentence_transformers": 2.5},
    MIXED: {"fastembed": 5.0},
    SHORT: {"sentence_transformers": 2.0, "fastembed": 0.95},
    MEDIUM: {"sentence_transformers": 2.0, "fastembed": 0.95},
    LONG: {"sentence_transformers": 2.0, "fastembed": 0.95},
    TEN: {"fastembed": 0.95},
    ONE: {"fastembed": 0.95},
}
LEAST_OF_PEAK = 0.75

MOST_APART = 1e-5
SAMPLE = ["", "A text.", *LONG.texts(-1)[:2], *MIXED.texts(-1)[:16]]


def compare() -> list[Comparison]:
    """Processor time a text. RuntimeError if the contestants' vectors are not the same."""
    with ExitStack() as stack:

        def start(name: str, *options: str) -> Contestant:
            return stack.enter_context(contestant(name, *options, cores={SERVER_CORE}))

        contestants = {"ours": start("ours", "1")} | {name: start(name) for name in PEERS}
        peak = start("gemm")
        _check(contestants.values())
        return [row for load, least in LEAST.items() for row in _rows(load, least, contestants, peak)]


def _rows(
    load: Load, least: Mapping[str, float], contestants: Mapping[str, Contestant], peak: Contestant
) -> list[Comparison]:
    turns = {name: Turns(contestants[name], load) for name in ("ours", *least)}
    rounds = _measured(turns, peak)
    rows = [_beside(load, name, turns, rounds, target) for name, target in least.items()]
    return [*rows, _of_peak(load, rounds)] if load is MEDIUM else rows


def _check(contestants: Iterable[Contestant]) -> None:
    made = [np.array(one.ask([SAMPLE], show=True).vectors[0]) for one in contestants]
    for one, other in pairwise(made):
        if (apart := np.abs(one - other).max()) > MOST_APART:
            raise RuntimeError(f"vectors of the same text are {apart:.1e} apart")


def _measured(turns: Mapping[str, Turns], peak: Contestant) -> dict[str, list[float]]:
    """Milliseconds a text of each contestant, microseconds a million operations of the peak."""
    runs = {name: one.cpu for name, one in turns.items()}
    return interleaved(runs | {"peak": lambda: peak.ask([]).cpu_seconds / GEMM_MFLOP * 1e6})


def _beside(
    load: Load, peer: str, turns: Mapping[str, Turns], rounds: dict[str, list[float]], target: float
) -> Comparison:
    clock = min(turns[peer].walls) / min(turns["ours"].walls)
    limit = min(rounds[peer]) / (mflop(load.texts(0)) / len(load.chars) * min(rounds["peak"]) / 1000)
    return Comparison(
        name=f"{load.name}, and {peer.replace('_', '-')}",
        unit="ms",
        ours=min(rounds["ours"]),
        peer=min(rounds[peer]),
        sense="at least",
        target=target,
        rounds={name: rounds[name] for name in ("ours", peer, "peak")},
        note=f"by the clock {clock:.2f}; at the peak of this core's fp32 GEMM it would be {limit:.2f}",
    )


def _of_peak(load: Load, rounds: dict[str, list[float]]) -> Comparison:
    """Time for the products that the texts need, padding not counted, beside the time at the peak."""
    ours = [cpu * 1000 * len(load.chars) / mflop(load.texts(turn)) for turn, cpu in enumerate(rounds["ours"])]
    peak = min(rounds["peak"])
    return Comparison(
        name=f"{load.name}, and the GEMM peak",
        unit="us",
        ours=min(ours),
        peer=peak,
        sense="at least",
        target=LEAST_OF_PEAK,
        rounds={"ours": ours, "peak": rounds["peak"]},
        note=f"a million operations; the peak is {1000 / peak:.0f} GFLOP/s on one thread",
    )
