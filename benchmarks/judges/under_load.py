"""Batches beside what a judge's server allows, and beside nothing at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import msgspec

from benchmarks.client import answer_of, get
from benchmarks.comparison import Comparison
from benchmarks.judges import batches, stub
from benchmarks.judges.batches import Batch
from benchmarks.machine import CLIENT_CORE
from benchmarks.servers import Server, program, scorewright

ROUNDS = 3
IDEAL_SECONDS = batches.CALLS / stub.AT_ONCE * stub.CALL_SECONDS
MOST_OF_IDEAL = {stub.STEADY: 1.2, stub.REFUSING: 2.0}
MOST_MEMORY = 1.1
MOST_MILLISECONDS = 20.0

JUDGE = """
[judges.{name}]
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1"
model = "{name}"
max_concurrency = {at_once}
"""


def compare() -> list[Comparison]:
    """Wall time beside the ideal, memory of the last batch beside the first's, GET p99 beside its limit."""
    seen: dict[str, list[Batch]] = {name: [] for name in MOST_OF_IDEAL}
    with program("benchmarks.judges.stub", core=CLIENT_CORE) as judge, _asking(judge) as server:
        for _ in range(ROUNDS):
            for name, batches_of in seen.items():
                batches_of.append(batches.run(server, name))
        told = msgspec.json.decode(answer_of(judge, get("/")), type=stub.Seen)
    if told.refused_over:
        raise RuntimeError(f"the service had more than {stub.AT_ONCE} calls under way, {told.refused_over} times")
    in_order = [one for pair in zip(*seen.values(), strict=True) for one in pair]
    note = f"{told.refused:,} calls refused and asked again, at most {told.most} under way at once"
    return [
        _beside_ideal(stub.STEADY, seen[stub.STEADY]),
        _beside_ideal(stub.REFUSING, seen[stub.REFUSING], note),
        _memory(in_order),
        _latency(in_order),
    ]


@contextmanager
def _asking(judge: Server) -> Iterator[Server]:
    """The service, asking one server as two judges."""
    with TemporaryDirectory() as directory:
        file = Path(directory, "judges.toml")
        tables = [JUDGE.format(name=name, port=judge.port, at_once=stub.AT_ONCE) for name in MOST_OF_IDEAL]
        file.write_text("".join(tables))
        with scorewright({"SCOREWRIGHT_JUDGES": str(file)}) as server:
            yield server


def _beside_ideal(name: str, seen: list[Batch], note: str = "") -> Comparison:
    seconds = [one.seconds for one in seen]
    return Comparison(
        name=f"{batches.ITEMS:,} items x 3 judges, {name}, and ideal",
        unit="s",
        ours=median(seconds),
        peer=IDEAL_SECONDS,
        sense="at most",
        target=MOST_OF_IDEAL[name],
        rounds={"wall": seconds},
        note=note,
    )


def _memory(seen: list[Batch]) -> Comparison:
    peaks = [max(one.resident) for one in seen]
    begun, ended = [one.resident[0] for one in seen], [one.resident[-1] for one in seen]
    return Comparison(
        name="memory: peak of the last batch, of the first",
        unit="MB",
        ours=peaks[-1],
        peer=peaks[0],
        sense="at most",
        target=MOST_MEMORY,
        rounds={"peak": peaks, "begun": begun, "ended": ended},
    )


def _latency(seen: list[Batch]) -> Comparison:
    p99 = [quantiles(one.waits, n=100)[98] for one in seen]
    p50 = [median(one.waits) for one in seen]
    return Comparison(
        name="GET p99 beside judges, and its limit",
        unit="ms",
        ours=median(p99),
        peer=MOST_MILLISECONDS,
        sense="at least",
        target=1.0,
        rounds={"p99": p99, "p50": p50, "longest": [max(one.waits) for one in seen]},
        note=f"GET p50 {median(p50):.2f} ms, the longest {max(max(one.waits) for one in seen):.0f} ms",
    )
