"""Runs every comparison, prints the ratios, keeps the rounds in last_embedding.json; exits 1 if a target is missed."""

import os
import sys
from pathlib import Path

from benchmarks.embedding import clustering, over_http, scaling, throughput
from benchmarks.embedding.model import DIRECTORY
from benchmarks.machine import CLIENT_CORE, pin
from benchmarks.reporting import report
from service.embedding.weights import fetch

LAST = Path(__file__).parent.with_name("last_embedding.json")


def main() -> int:
    """The exit status."""
    fetch(DIRECTORY)
    pin(os.getpid(), CLIENT_CORE)
    comparisons = [*throughput.compare(), *scaling.compare(), *over_http.compare(), *clustering.compare()]
    return report(comparisons, LAST)


if __name__ == "__main__":
    sys.exit(main())
