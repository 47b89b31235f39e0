"""Repeats of the same cases."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.primitives.stats import (
    deviation,
    flaky,
    pass_at,
    pass_hat,
    repeat_interval,
    repeats_to_decide,
    wilson,
)

SCORES = st.floats(0, 1)
SHARES = st.integers(0, 20).map(lambda part: part / 20)


@pytest.mark.parametrize(
    ("scores", "want"),
    [
        pytest.param([], None, id="none"),
        pytest.param([0.5], None, id="one"),
        pytest.param([0.1, 0.1, 0.1], 0.0, id="equal"),
        pytest.param([1.0, 0.0], sqrt(0.5), id="two"),
        pytest.param([0.3, -0.3, 0.1, -0.1, 0.2], 0.1077033 * sqrt(5), id="stat-009"),
    ],
)
def test_deviation(scores: list[float], want: float | None) -> None:
    assert deviation(scores) == (want if not want else pytest.approx(want, abs=1e-7))


@given(st.lists(SCORES, min_size=2))
def test_deviation_is_that_of_samples(scores: list[float]) -> None:
    assert deviation(scores) == pytest.approx(stdev(scores), abs=1e-12)


@pytest.mark.parametrize(
    ("cases", "want"),
    [
        pytest.param([], None, id="no case"),
        pytest.param([[], []], None, id="no run"),
        pytest.param([[1.0], [0.0]], None, id="no repeat"),
        pytest.param([[0.4, 0.6], [0.5, 0.7]], (0.41140962, 0.68859038), id="two cases"),
        pytest.param([[0.4, 0.6], [], [0.5, 0.7]], (0.41140962, 0.68859038), id="a case without runs is left out"),
        pytest.param([[1.0, 0.0]], (0.0, 1.0), id="clipped"),
        pytest.param([[1.0, 1.0]], (0.34238023, 1.0), id="no variance: Wilson's"),
        pytest.param([[0.5, 0.5 + 1e-12]], (0.09453121, 0.90546879), id="nor where it is noise"),
        pytest.param([[0.4, 0.6], [1.0]], (0.34135022, 1.0), id="a single run: Wilson's"),
    ],
)
def test_repeat_interval(cases: list[list[float]], want: tuple[float, float] | None) -> None:
    assert repeat_interval(cases) == (want if want is None else pytest.approx(want, abs=1e-7))


@given(st.lists(st.lists(SCORES, min_size=1, max_size=5), min_size=1, max_size=8))
def test_a_repeat_interval_contains_the_mean_over_the_cases(cases: list[list[float]]) -> None:
    found = repeat_interval(cases)
    assert (found is None) == all(len(scores) < 2 for scores in cases)
    if found:
        low, high = found
        assert 0 <= low <= mean(map(mean, cases)) + 1e-12
        assert mean(map(mean, cases)) - 1e-12 <= high <= 1


@given(st.lists(st.lists(SHARES, min_size=2, max_size=5), min_size=1, max_size=8))
def test_a_repeat_interval_mirrors(cases: list[list[float]]) -> None:
    low, high = repeat_interval(cases) or (0, 0)
    mirrored = repeat_interval([[1 - score for score in scores] for scores in cases])
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize(
    ("rate", "threshold", "want"),
    [
        pytest.param(1.0, 0.5, 4, id="all pass"),
        pytest.param(0.0, 0.5, 4, id="none passes"),
        pytest.param(2 / 3, 0.5, 35, id="two of three"),
        pytest.param(0.5, 0.5, None, id="at the threshold"),
        pytest.param(1e-10, 0.0, None, id="as good as at it"),
        pytest.param(0.5 + 5e-5, 0.5, 384_145_883, id="close to it"),
        pytest.param(0.5 + 1e-5, 0.5, None, id="too close"),
        pytest.param(0.2, 0.0, 1, id="nothing is under 0"),
        pytest.param(0.2, 1.0, 1, id="nothing is over 1"),
        pytest.param(1.0, 1.0, None, id="never sure of 1"),
    ],
)
def test_repeats_to_decide(rate: float, threshold: float, want: int | None) -> None:
    assert repeats_to_decide(rate, threshold) == (want and pytest.approx(want, rel=1e-8))


@given(SHARES, SHARES)
def test_repeats_to_decide_are_the_least_that_do(rate: float, threshold: float) -> None:
    needed = repeats_to_decide(rate, threshold)
    if needed is None:
        assert rate == threshold
        return
    low, high = wilson(rate * needed, needed)
    assert threshold < low + 1e-9 or threshold > high - 1e-9
    if needed > 1:
        low, high = wilson(rate * (needed - 1), needed - 1)
        assert low - 1e-9 < threshold < high + 1e-9


@pytest.mark.parametrize(
    ("n", "c", "k", "at", "hat"),
    [
        pytest.param(10, 8, 3, 1.0, 0.46666667, id="stat-010"),
        pytest.param(1, 0, 1, 0.0, 0.0, id="one failure"),
        pytest.param(3, 2, 1, 2 / 3, 2 / 3, id="one run: the rate"),
        pytest.param(10_000, 9_999, 5_000, 1.0, 0.5, id="many runs"),
    ],
)
def test_passes_of_k(n: int, c: int, k: int, at: float, hat: float) -> None:
    assert (pass_at(n, c, k), pass_hat(n, c, k)) == pytest.approx((at, hat), abs=1e-8)


@pytest.mark.parametrize("n", range(1, 8))
def test_passes_of_k_by_drawing_all(n: int) -> None:
    def share(hits: Sequence[bool]) -> float:
        return sum(hits) / len(hits)

    for c in range(n + 1):
        for k in range(1, n + 1):
            draws = list(combinations([True] * c + [False] * (n - c), k))
            assert pass_at(n, c, k) == pytest.approx(share([any(draw) for draw in draws]))
            assert pass_hat(n, c, k) == pytest.approx(share([all(draw) for draw in draws]))


@pytest.mark.parametrize(
    ("passes", "count", "want"),
    [
        pytest.param(0, 0, 0.9, id="nothing known"),
        pytest.param(3, 3, 0.95**4 - 0.05**4, id="three of three prove little"),
        pytest.param(100, 100, 0.95**101, id="a hundred of a hundred do"),
        pytest.param(0, 10_000, 0.0, id="never"),
        pytest.param(5_000, 10_000, 1.0, id="half the time"),
    ],
)
def test_flaky(passes: int, count: int, want: float) -> None:
    assert flaky(passes, count) == pytest.approx(want, abs=1e-12)


@given(st.integers(0, 200).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))))
def test_flaky_is_a_probability_that_mirrors(counts: tuple[int, int]) -> None:
    passes, count = counts
    posterior = stats.beta(1 + passes, 1 + count - passes)
    assert 0 <= flaky(passes, count) <= 1
    assert flaky(passes, count) == pytest.approx(posterior.cdf(0.95) - posterior.cdf(0.05), abs=1e-12)
    assert flaky(passes, count) == pytest.approx(flaky(count - passes, count), abs=1e-12)
