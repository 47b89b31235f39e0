"""Passing and failing runs of two versions: of one case, and of many, each case beside itself."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp, fsum, lgamma, log
from sys import float_info
from typing import NamedTuple, TypeAlias

import numpy as np

from service.primitives.stats.significance import Floats, Test
from service.primitives.steps import Steps

_TIE = 1e-7

Row: TypeAlias = tuple[int, int]
"""Passes and failures of a version."""

Table: TypeAlias = tuple[Row, Row]
"""The rows of the one version and of the other."""

Sums: TypeAlias = tuple[int, int, int]
"""The runs of the one version, those of the other, and how many of all pass."""


class Stratified(NamedTuple):
    """How likely such tables are if nothing differs, and how many more of the other version's runs pass than then."""

    test: Test
    surplus: float


@lru_cache(maxsize=1024)
def fisher(one: Row, other: Row) -> Test:
    """Fisher's exact test (1934), two-sided: of the tables with these sums, those that are no likelier."""
    sums = _sums(one, other)
    least, shares = _passes(*sums)
    least_p = _least({sums: 1})
    return Test(max(least_p, _no_likelier(shares, other[0] - least)), least_p)


def mantel_haenszel(tables: Sequence[Table]) -> Steps[Stratified]:
    """The exact conditional test of tables that share an odds ratio (Mantel and Haenszel 1959), two-sided.

    With the sums of all rows and columns given, how likely the passes of the other version are to add up to what they
    do, or to anything no likelier. Of one table it is Fisher's test, of tables with one run a version McNemar's.
    """
    alike = Counter(_sums(*table) for table in tables)
    passes = sum(other[0] for _, other in tables)
    yield
    shares, place = np.ones(1), passes
    for sums, count in alike.items():
        least, own = _passes(*sums)
        place -= least * count
        shares = np.convolve(shares, (yield from _repeated(own, count)))
        yield
    least_p = _least(alike)
    expected = fsum(count * _expected(*sums) for sums, count in alike.items())
    return Stratified(Test(max(least_p, _no_likelier(shares, place)), least_p), passes - expected)


def _least(alike: Mapping[Sums, int]) -> float:
    """All runs of the one version pass and none of the other: and the reverse, where that is as likely."""
    sizes = [(ones, others, count) for (ones, others, _), count in alike.items() if ones and others]
    sides = log(2) if all(ones == others for ones, others, _ in sizes) else 0.0
    logs = [
        count * (lgamma(ones + 1) + lgamma(others + 1) - lgamma(ones + others + 1)) for ones, others, count in sizes
    ]
    return max(float_info.min, min(1.0, exp(fsum([sides, *logs]))))


def _no_likelier(shares: Floats, place: int) -> float:
    """The share of all that is no likelier than this one."""
    return min(1.0, float(shares[shares <= shares[place] * (1 + _TIE)].sum() / shares.sum()))


def _sums(one: Row, other: Row) -> Sums:
    """All that the chances of a table depend on."""
    return sum(one), sum(other), one[0] + other[0]


@lru_cache(maxsize=256)
def _passes(ones: int, others: int, passes: int) -> tuple[int, Floats]:
    """The least passes that the other version can have, and how likely it is to have those, one more, and so on."""
    from scipy.special import gammaln  # noqa: PLC0415 - few need it, and it takes 27 MB

    counts = np.arange(max(0, passes - ones), min(others, passes) + 1)
    cells = np.array([counts, others - counts, passes - counts, ones - passes + counts])
    logs = -gammaln(cells + 1).sum(axis=0)
    shares = np.exp(logs - logs.max())
    return int(counts[0]), shares / shares.sum()


def _repeated(own: Floats, count: int) -> Steps[Floats]:
    """The shares of the sum of so many like tables, by squaring."""
    if count == 1 or len(own) == 1:
        return own
    half = yield from _repeated(own, count // 2)
    yield
    whole = np.convolve(half, half)
    return np.convolve(whole, own) if count % 2 else whole


def _expected(ones: int, others: int, passes: int) -> float:
    return others * passes / (ones + others) if passes else 0.0
