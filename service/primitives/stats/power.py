"""How much must be run before anything can be significant at all."""

from itertools import count
from math import comb


def min_cases(alpha: float) -> int:
    """Cases from which on a sign-flip test or McNemar's can reach the level: all of so many coins fall alike."""
    return next(cases for cases in count(1) if 2.0 ** (1 - cases) <= alpha)


def min_repeats(alpha: float, cases: int) -> int:
    """Runs a case, in either version, from which on Fisher's test can reach the level for one of `cases`, after Holm.

    All runs of one version pass and none of the other: one table of C(2n, n), and its mirror image.
    """
    return next(runs for runs in count(1) if 2 * max(1, cases) <= alpha * comb(2 * runs, runs))
