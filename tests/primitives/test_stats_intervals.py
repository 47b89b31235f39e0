"""Intervals of a proportion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.primitives.stats import Z95, beta_interval, beta_mean, clopper_pearson, wilson, wilson_variance

COUNTS = st.integers(1, 1000).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count)))
LEVELS = st.floats(0.5, 0.999)


@pytest.mark.parametrize(
    ("successes", "count", "want"),
    [
        pytest.param(20, 20, (0.83887484, 1.0), id="stat-002"),
        pytest.param(0, 3, (0.0, 0.56149703), id="none"),
        pytest.param(10, 10, (0.72246720, 1.0), id="all"),
        pytest.param(2.5, 5, (0.17042358, 0.82957642), id="a share between two counts"),
    ],
)
def test_wilson(successes: float, count: int, want: tuple[float, float]) -> None:
    assert wilson(successes, count) == pytest.approx(want, abs=1e-8)


@pytest.mark.parametrize(("successes", "count"), [(0, 3), (0, 48), (3, 3), (10, 10), (25, 25)])
def test_intervals_end_where_proportions_do(successes: int, count: int) -> None:
    for low, high in (wilson(successes, count), clopper_pearson(successes, count)):
        assert (low, high)[bool(successes)] == (0.0, 1.0)[bool(successes)]


@pytest.mark.parametrize(
    ("mean", "count", "want"),
    [
        pytest.param(1.0, 1, (1.959963984540054 / (1 + 3.841458820694124)) ** 2, id="one run"),
        pytest.param(0.0, 3, (1.959963984540054 / (3 + 3.841458820694124)) ** 2, id="three of none"),
        pytest.param(0.5, 10, 0.01806168, id="ten of a half"),
    ],
)
def test_wilson_variance(mean: float, count: int, want: float) -> None:
    assert wilson_variance(mean, count) == pytest.approx(want, abs=1e-8)


@pytest.mark.parametrize(
    ("successes", "count", "maxima", "want"),
    [
        pytest.param(7, 10, 1, (0.34754715, 0.93326049), id="one count"),
        pytest.param(7, 10, 3, (0.28819883, 0.93326049), id="the largest of three"),
        pytest.param(5, 5, 1, (0.47817625, 1.0), id="all"),
        pytest.param(0, 5, 4, (0.0, 0.52182375), id="none"),
    ],
)
def test_clopper_pearson(successes: int, count: int, maxima: int, want: tuple[float, float]) -> None:
    assert clopper_pearson(successes, count, maxima=maxima) == pytest.approx(want, abs=1e-8)


@pytest.mark.parametrize(
    ("largest", "count", "level", "mean", "interval"),
    [
        pytest.param(5, 5, 0.95, 0.8571428571, (0.5407418736, 0.9957892555), id="bayesian-002"),
        pytest.param(1, 3, 0.95, 0.4, (0.0675859865, 0.8058795503), id="bayesian-004"),
        pytest.param(20, 20, 0.95, 0.9545454545, (0.8389023848, 0.9987951166), id="bayesian-005"),
        pytest.param(30, 40, 0.9, 0.7380952381, (0.6214939452, 0.8416646288), id="bayesian-007"),
    ],
)
def test_beta(largest: int, count: int, level: float, mean: float, interval: tuple[float, float]) -> None:
    assert beta_mean(largest, count - largest) == pytest.approx(mean, abs=1e-10)
    assert beta_interval(largest, count - largest, level) == pytest.approx(interval, abs=1e-10)


@given(COUNTS, LEVELS, st.integers(1, 50))
def test_an_interval_contains_its_estimate(counts: tuple[int, int], level: float, maxima: int) -> None:
    successes, count = counts
    share, mean = successes / count, beta_mean(successes, count - successes)
    for estimate, (low, high) in (
        (share, wilson(successes, count)),
        (share, clopper_pearson(successes, count, level, maxima)),
        (mean, beta_interval(successes, count - successes, level)),
    ):
        assert 0 <= low <= estimate <= high <= 1


@given(COUNTS, LEVELS)
def test_failures_mirror_successes(counts: tuple[int, int], level: float) -> None:
    successes, count = counts
    failures = count - successes
    for one, other in (
        (wilson(successes, count), wilson(failures, count)),
        (clopper_pearson(successes, count, level), clopper_pearson(failures, count, level)),
        (beta_interval(successes, failures, level), beta_interval(failures, successes, level)),
    ):
        assert one == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-9)
    assert beta_mean(successes, failures) + beta_mean(failures, successes) == pytest.approx(1)


@given(COUNTS, LEVELS)
def test_clopper_pearson_is_scipys(counts: tuple[int, int], level: float) -> None:
    exact = stats.binomtest(*counts).proportion_ci(level, "exact")
    assert clopper_pearson(*counts, level) == pytest.approx((exact.low, exact.high), abs=1e-9)


@given(COUNTS, st.integers(1, 50))
def test_a_maximum_moves_the_lower_end_alone(counts: tuple[int, int], maxima: int) -> None:
    low, high = clopper_pearson(*counts)
    lower, same = clopper_pearson(*counts, maxima=maxima)
    assert lower <= low
    assert same == high


@given(st.floats(0, 1), st.integers(1, 1000))
def test_the_variance_reaches_as_far_as_wilson(mean: float, count: int) -> None:
    low, high = wilson(mean * count, count)
    reach = Z95 * wilson_variance(mean, count) ** 0.5
    assert max(mean - low, high - mean) == pytest.approx(reach)
