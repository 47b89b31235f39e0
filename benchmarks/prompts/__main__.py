"""Runs every comparison, prints the ratios, keeps the rounds in last_prompts.json; exits 1 if a target is missed."""

import sys
from pathlib import Path

from benchmarks.prompts import against_fair_forge, many_vectors
from benchmarks.reporting import report

LAST = Path(__file__).parent.with_name("last_prompts.json")


def main() -> int:
    """The exit status."""
    return report([*against_fair_forge.compare(), *many_vectors.compare()], LAST)


if __name__ == "__main__":
    sys.exit(main())
