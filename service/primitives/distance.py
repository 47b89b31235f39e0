"""How near two texts or two numbers are, as a share of 1."""

from fractions import Fraction

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from service.primitives import RuleFault

MAX_CELLS = 2_000_000_000
"""Product of two lengths up to which an edit distance is computed: 50 to 350 ms, with the size of the alphabet."""

MAX_CELLS_UNDER_LOCK = 10_000_000
"""Beyond some 2 ms the interpreter lock is released, at the price of a few microseconds."""


def levenshtein_similarity(one: str, other: str) -> float:
    """1 - distance / length of the longer text; two empty texts are 1. RuleFault limit_exceeded on two long texts.

    Insertions, deletions and substitutions cost 1; units are code points.
    """
    cells = len(one) * len(other)
    if cells > MAX_CELLS and one != other:
        raise RuleFault(
            "limit_exceeded", f"texts of {len(one):,} and {len(other):,} characters are too long to compare"
        )
    longest = max(len(one), len(other))
    if cells <= MAX_CELLS_UNDER_LOCK:
        return 1 - Levenshtein.distance(one, other) / longest if longest else 1.0
    edits = process.cdist([one], [other], scorer=Levenshtein.distance, dtype=np.int64)
    return 1 - int(edits[0, 0]) / longest


def closeness(one: int | float, other: int | float) -> float:
    """1 - |a - b| / (|a| + |b|), and 1 if both are 0: symmetric, 0 for opposite signs, for integers of any size."""
    if one == other:
        return 1.0
    try:
        total = abs(one) + abs(other)
        if total != float("inf"):
            return 1 - abs(one - other) / total
    except OverflowError:
        pass
    a, b = Fraction(one), Fraction(other)
    return float(1 - abs(a - b) / (abs(a) + abs(b)))
