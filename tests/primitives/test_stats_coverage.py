"""How often intervals of 95 % contain the truth: exactly where the outcomes can be counted, else in simulated data."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from service.primitives.stats import clopper_pearson, repeat_interval, wilson

RATES = (0.1, 0.3, 0.5, 0.7, 0.9)
SUITES = [(cases, runs) for cases in (3, 10, 30) for runs in (2, 3, 5, 10)]

Interval = tuple[float, float]


def contains(interval: Interval | None, truth: float) -> bool:
    assert interval
    low, high = interval
    return low - 1e-12 <= truth <= high + 1e-12


def assert_enough(coverages: Sequence[float]) -> None:
    assert np.mean(coverages) >= 0.94
    assert min(coverages) >= 0.91


def exact_coverage(intervals: list[Interval], rate: float, truth: float) -> float:
    """Of a truth, by one interval for each number of successes."""
    chances = stats.binom.pmf(range(len(intervals)), len(intervals) - 1, rate)
    covered = [contains(interval, truth) for interval in intervals]
    return float(np.dot(chances, covered))


@cache
def runs_of(passes: int, count: int) -> list[float]:
    return [1.0] * passes + [0.0] * (count - passes)


def repeat_coverage(rates: NDArray[np.float64], runs: int) -> float:
    """Of the mean rate of a row's cases, over the rows."""
    passes = np.random.default_rng(7).binomial(runs, rates).tolist()
    suites = [[runs_of(count, runs) for count in row] for row in passes]
    truths = rates.mean(axis=1).tolist()
    covered = [contains(repeat_interval(suite), truth) for suite, truth in zip(suites, truths, strict=True)]
    return float(np.mean(covered))


@pytest.mark.parametrize("count", [5, 20, 50])  # at 10 the mean of these rates is 93.7 %: that is Wilson's own
def test_wilson(count: int) -> None:
    intervals = [wilson(successes, count) for successes in range(count + 1)]
    assert_enough([exact_coverage(intervals, rate, rate) for rate in RATES])


@pytest.mark.parametrize(("cases", "runs"), SUITES)
def test_repeats_of_equal_cases(cases: int, runs: int) -> None:
    assert_enough([repeat_coverage(np.full((2000, cases), rate), runs) for rate in RATES])


@pytest.mark.parametrize(("cases", "runs"), SUITES)
def test_repeats_of_unequal_cases(cases: int, runs: int) -> None:
    random = np.random.default_rng(8)
    assert_enough([repeat_coverage(random.beta(a, b, (2000, cases)), runs) for a, b in ((1, 1), (0.3, 0.3), (3, 0.5))])


@pytest.mark.parametrize("count", [5, 10, 20, 40])
def test_the_larger_of_two_meanings(count: int) -> None:
    largest = [max(successes, count - successes) for successes in range(count + 1)]
    intervals = [clopper_pearson(most, count, maxima=1 if most == count else 2) for most in largest]
    assert_enough([exact_coverage(intervals, rate, max(rate, 1 - rate)) for rate in RATES])


@pytest.mark.parametrize("meanings", [10, 20])
@pytest.mark.parametrize("count", [5, 10, 20, 40])
def test_the_largest_of_equally_likely_meanings(count: int, meanings: int) -> None:
    draws = np.random.default_rng(9).multinomial(count, [1 / meanings] * meanings, 20_000)
    seen = np.stack((draws.max(axis=1), (draws > 0).sum(axis=1)), axis=1)
    outcomes, times = np.unique(seen, axis=0, return_counts=True)
    covered = [contains(clopper_pearson(most, count, maxima=k), 1 / meanings) for most, k in outcomes.tolist()]
    assert times @ covered / times.sum() >= 0.94
