"""Runs every comparison, prints the ratios, keeps the rounds in last_judges.json; exits 1 if a target is missed."""

import os
import sys
from pathlib import Path

from benchmarks.judges import under_load
from benchmarks.machine import CLIENT_CORE, pin
from benchmarks.reporting import report

LAST = Path(__file__).parent.with_name("last_judges.json")


def main() -> int:
    """The exit status."""
    pin(os.getpid(), CLIENT_CORE)
    return report(under_load.compare(), LAST)


if __name__ == "__main__":
    sys.exit(main())
