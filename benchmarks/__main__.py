"""Runs every comparison, prints the ratios, keeps the rounds in last.json; exits 1 if a target is missed."""

import os
import sys
from pathlib import Path

import msgspec

from benchmarks import against_autoevals_service, against_bare, in_process, latency
from benchmarks.comparison import Comparison, table
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, described, pin

LAST = Path(__file__).with_name("last.json")


def main() -> int:
    """The exit status."""
    pin(os.getpid(), CLIENT_CORE)
    if SERVER_CORE == CLIENT_CORE:
        print("one core only: server and client share it, so latencies say little")
    comparisons = [
        *in_process.compare(),
        against_bare.compare(),
        *against_autoevals_service.compare(),
        latency.compare(),
    ]
    LAST.write_bytes(_record(comparisons))
    print(table(comparisons))
    return 0 if all(one.ok for one in comparisons) else 1


def _record(comparisons: list[Comparison]) -> bytes:
    """The run as JSON, ratios included."""
    rows = [msgspec.structs.asdict(one) | {"ratio": one.ratio, "ok": one.ok} for one in comparisons]
    return msgspec.json.format(msgspec.json.encode({"machine": described(), "comparisons": rows}), indent=1) + b"\n"


if __name__ == "__main__":
    sys.exit(main())
