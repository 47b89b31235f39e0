"""Prompt metrics as ratios: beside Fair Forge's package on the same numbers, and in memory for many vectors."""
