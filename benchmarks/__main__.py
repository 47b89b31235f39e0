"""Runs every comparison, prints the ratios, keeps the rounds in last.json; exits 1 if a target is missed."""

import os
import sys
from pathlib import Path

from benchmarks import against_autoevals_service, against_bare, in_process, latency
from benchmarks.machine import CLIENT_CORE, pin
from benchmarks.reporting import report

LAST = Path(__file__).with_name("last.json")


def main() -> int:
    """The exit status."""
    pin(os.getpid(), CLIENT_CORE)
    comparisons = [
        *in_process.compare(),
        against_bare.compare(),
        *against_autoevals_service.compare(),
        latency.compare(),
    ]
    return report(comparisons, LAST)


if __name__ == "__main__":
    sys.exit(main())
