"""Whether two versions differ on these very cases: runs compared within each case, and all cases together."""

from collections.abc import Sequence
from math import exp, fsum, lgamma, log
from sys import float_info
from typing import NamedTuple, TypeAlias

import numpy as np

from service.primitives.stats.significance import Counts, Floats, Test
from service.primitives.steps import Steps

_TIE = 1e-7

Table: TypeAlias = tuple[Counts, Counts]
"""Passes and failures of the one version, then of the other."""


class Stratified(NamedTuple):
    """How likely such tables are if nothing differs, and how many more of the other version's runs pass than then."""

    test: Test
    surplus: float


def mantel_haenszel(tables: Sequence[Table]) -> Steps[Stratified]:
    """The exact conditional test of tables that share an odds ratio (Mantel and Haenszel 1959), two-sided.

    With the sums of all rows and columns given, how likely the passes of the other version are to add up to what they
    do, or to anything no likelier. Of one table it is Fisher's test, of tables with one run a version McNemar's.
    """
    shares, place = np.ones(1), 0
    for one, other in tables:
        least, own = _passes(one, other)
        place += other[0] - least
        shares = np.convolve(shares, own)
        yield
    likely = float(shares[shares <= shares[place] * (1 + _TIE)].sum() / shares.sum())
    surplus = fsum(other[0] - _expected(one, other) for one, other in tables)
    least_p = _least(tables)
    return Stratified(Test(max(least_p, min(1.0, likely)), least_p), surplus)


def _least(tables: Sequence[Table]) -> float:
    """All runs of the one version pass and none of the other: and the reverse, where that is as likely."""
    sizes = [(sum(one), sum(other)) for one, other in tables]
    sides = log(2) if all(one == other for one, other in sizes) else 0.0
    logs = [lgamma(one + 1) + lgamma(other + 1) - lgamma(one + other + 1) for one, other in sizes]
    return max(float_info.min, min(1.0, exp(fsum([sides, *logs]))))


def _passes(one: Counts, other: Counts) -> tuple[int, Floats]:
    """The least passes that the other version can have, and how likely it is to have those, one more, and so on."""
    from scipy.special import gammaln  # noqa: PLC0415 - few need it, and it takes 27 MB

    passes, runs = one[0] + other[0], sum(other)
    counts = np.arange(max(0, passes - sum(one)), min(runs, passes) + 1)
    cells = np.array([counts, runs - counts, passes - counts, sum(one) - passes + counts])
    logs = -gammaln(cells + 1).sum(axis=0)
    shares = np.exp(logs - logs.max())
    return int(counts[0]), shares / shares.sum()


def _expected(one: Counts, other: Counts) -> float:
    runs = sum(one) + sum(other)
    return sum(other) * (one[0] + other[0]) / runs if runs else 0.0
