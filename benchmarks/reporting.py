"""What becomes of a run's comparisons."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.comparison import Comparison, table
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, described


def report(comparisons: Sequence[Comparison], last: Path) -> int:
    """Print the ratios and keep the rounds in a file; 1 if a target is missed, else 0."""
    if SERVER_CORE == CLIENT_CORE:
        print("one core only: server and client share it, so latencies say little")
    rows = [msgspec.structs.asdict(one) | {"ratio": one.ratio, "ok": one.ok} for one in comparisons]
    record = msgspec.json.encode({"machine": described(), "comparisons": rows})
    last.write_bytes(msgspec.json.format(record, indent=1) + b"\n")
    print(table(comparisons))
    return 0 if all(one.ok for one in comparisons) else 1
