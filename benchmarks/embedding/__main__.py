"""Runs every comparison, prints the ratios, keeps the rounds in last_embedding.json; exits 1 if a target is missed."""

import os
import sys
from pathlib import Path

import msgspec

from benchmarks.comparison import Comparison, table
from benchmarks.embedding import clustering, over_http, scaling, throughput
from benchmarks.embedding.model import DIRECTORY
from benchmarks.machine import CLIENT_CORE, SERVER_CORE, described, pin
from service.embedding.weights import fetch

LAST = Path(__file__).parent.with_name("last_embedding.json")


def main() -> int:
    """The exit status."""
    fetch(DIRECTORY)
    pin(os.getpid(), CLIENT_CORE)
    if SERVER_CORE == CLIENT_CORE:
        print("one core only: server and client share it")
    comparisons = [*throughput.compare(), *scaling.compare(), *over_http.compare(), *clustering.compare()]
    LAST.write_bytes(_record(comparisons))
    print(table(comparisons))
    return 0 if all(one.ok for one in comparisons) else 1


def _record(comparisons: list[Comparison]) -> bytes:
    """The run as JSON, ratios included."""
    rows = [msgspec.structs.asdict(one) | {"ratio": one.ratio, "ok": one.ok} for one in comparisons]
    return msgspec.json.format(msgspec.json.encode({"machine": described(), "comparisons": rows}), indent=1) + b"\n"


if __name__ == "__main__":
    sys.exit(main())
