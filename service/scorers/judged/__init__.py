"""Evaluators that ask others: an LLM as judge, a moderation service, an own scorer, a person."""
