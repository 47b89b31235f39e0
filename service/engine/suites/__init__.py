"""POST /v1/suites: versions of a prompt x cases x repeats, graded in one batch and compared with a baseline."""
