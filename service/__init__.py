"""Scorewright: LLM outputs and rules in, evaluations out."""

import os

__version__ = "0.1.0"

# Matrices here are small: BLAS threads of their own would only wait for each other. Read when numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
