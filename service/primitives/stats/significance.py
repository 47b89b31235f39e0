"""Whether two versions differ by more than chance: exact or random tests, all two-sided."""

from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from math import fsum
from sys import float_info
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.primitives.steps import Steps

MAX_EXACT = 16
"""Up to so many deltas all flips of signs are tried, beyond it FLIPS of them."""

FLIPS = 10_000

_LEAST_P = float_info.min
_TIE = 1e-9
_CELLS = 250_000
"""Signs drawn in a step: about 1 ms."""

Floats: TypeAlias = NDArray[np.float64]


class Test(NamedTuple):
    """How likely it is, if nothing differs, that data differ this much or more: `p`, over 0.

    `min_p` is the least p that the test, as it was made of so many cases, could have given, whatever came out. Where it
    is over the level of the test, nothing could have been significant.
    """

    p: float
    min_p: float


def mcnemar(b: int, c: int, cases: int) -> Test:
    """The exact test of McNemar (1947) on `cases` paired verdicts, of which b went one way and c the other."""
    from scipy.special import bdtr  # noqa: PLC0415 - few need it, and it takes 27 MB

    least = _of_coins(cases)
    return Test(max(least, min(1.0, 2 * float(bdtr(min(b, c), b + c, 0.5)))), least)


def sign_flip(deltas: Sequence[float]) -> Steps[Test]:
    """Fisher's test (1935) of paired deltas: how many flips of their signs give a sum as large as theirs, or larger.

    Up to MAX_EXACT deltas other than 0 it is exact, and where all of these are of one size: then only signs count.
    Beyond that it takes FLIPS flips, by a generator seeded with the sizes of the deltas: neither their order nor which
    version comes first changes p. So many flips cannot tell less than one in FLIPS + 1, which is then min_p.
    """
    sizes = np.sort(np.abs([delta for delta in deltas if delta]))
    least = _of_coins(len(deltas))
    bar = abs(fsum(deltas)) - _TIE * float(sizes.sum())
    if len(sizes) <= MAX_EXACT:
        p = float(np.mean(np.abs(_all_sums(sizes)) >= bar))
    elif sizes[-1] - sizes[0] <= _TIE * sizes[-1]:
        falls = sum(delta < 0 for delta in deltas)
        p = mcnemar(falls, len(sizes) - falls, len(sizes)).p
    else:
        p = yield from _random_share(sizes, bar)
        least = max(least, 1 / (FLIPS + 1))
    return Test(p, least)


def holm(ps: Sequence[float]) -> list[float]:
    """Each p adjusted for there being as many tests, in the order given (Holm 1979)."""
    ordered = sorted(ps)
    adjusted = _adjusted(ordered)
    return [adjusted[bisect_left(ordered, p)] for p in ps]


def least_adjusted(ps: Sequence[float], min_ps: Sequence[float]) -> list[float]:
    """What `holm` would give each test if its p were its min_p, which is no larger, and the others as they are."""
    ordered = sorted(ps)
    adjusted = [0.0, *_adjusted(ordered)]
    ranks = [bisect_left(ordered, least) for least in min_ps]
    return [min(1.0, max(adjusted[rank], (len(ps) - rank) * least)) for rank, least in zip(ranks, min_ps, strict=True)]


def _of_coins(count: int) -> float:
    """How likely so many coins are to fall all alike."""
    return max(_LEAST_P, min(1.0, 2.0 ** (1 - count)))


def _all_sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums + size, sums - size))
    return sums


def _random_share(sizes: Floats, bar: float) -> Steps[float]:
    """The data count as one flip more, or p would be too small (Phipson and Smyth 2010)."""
    random = np.random.default_rng(int.from_bytes(sha256(sizes.tobytes()).digest()))
    total, hits = sizes.sum(), 1
    side = max(1, _CELLS // len(sizes))
    for start in range(0, FLIPS, side):
        flipped = random.integers(0, 2, (min(side, FLIPS - start), len(sizes)), dtype=bool)
        hits += int(np.count_nonzero(np.abs(total - 2 * (flipped @ sizes)) >= bar))
        yield
    return hits / (FLIPS + 1)


def _adjusted(ordered: list[float]) -> list[float]:
    """Those of p in rising order; of equal ones the first has the adjustment of all."""
    steps = accumulate(((len(ordered) - rank) * p for rank, p in enumerate(ordered)), max)
    return [min(1.0, step) for step in steps]
