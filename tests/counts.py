"""What the public suites gave, printed at the end of a run."""

COUNTS: list[str] = []
