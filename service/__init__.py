"""Scorewright: LLM outputs and rules in, evaluations out."""

__version__ = "0.1.0"
