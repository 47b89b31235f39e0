"""Batches of rules and items: what is computed, once, in which order, for how long."""
