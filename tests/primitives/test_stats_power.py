"""How much has to be run, and the interval of a mean."""

import pytest
from scipy import stats

from service.primitives.stats import fisher, mcnemar, mean_interval, min_cases, min_repeats


@pytest.mark.parametrize(("alpha", "cases"), [(0.5, 2), (0.1, 5), (0.05, 6), (0.01, 8), (0.001, 11)])
def test_so_many_cases_can_be_significant_and_one_less_cannot(alpha: float, cases: int) -> None:
    assert min_cases(alpha) == cases
    assert mcnemar(0, cases, cases).p <= alpha < mcnemar(0, cases - 1, cases - 1).p


@pytest.mark.parametrize(
    ("alpha", "cases", "runs"), [(0.1, 1, 3), (0.05, 1, 4), (0.05, 6, 5), (0.05, 23, 6), (0.05, 85, 7), (0.05, 0, 4)]
)
def test_so_many_repeats_can_be_significant_and_one_less_cannot(alpha: float, cases: int, runs: int) -> None:
    assert min_repeats(alpha, cases) == runs
    tests = max(1, cases)
    assert tests * fisher((runs, 0), (0, runs)).p <= alpha + 1e-9 < tests * fisher((runs - 1, 0), (0, runs - 1)).p


@pytest.mark.parametrize("values", [[0.1, 0.4], [0.3, -0.3, 0.1, -0.1, 0.2], [1.0, 1.0, 0.5] * 7])
def test_the_interval_of_a_mean_is_students(values: list[float]) -> None:
    mean = sum(values) / len(values)
    right = stats.t.interval(0.95, len(values) - 1, mean, stats.sem(values))
    assert mean_interval(values) == pytest.approx(right)


@pytest.mark.parametrize("values", [[], [0.5], [0.0, 0.0], [0.25] * 12, [0.1 + 0.2, 0.3, 0.3]])
def test_values_that_do_not_vary_have_no_interval(values: list[float]) -> None:
    assert mean_interval(values) is None
