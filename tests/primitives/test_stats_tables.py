"""Runs compared within each case, all cases together."""

from itertools import product
from math import comb, prod
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.lanes import drain as finished
from service.primitives.stats import fisher, mantel_haenszel, mcnemar
from service.primitives.stats.tables import Table

FEW = st.tuples(st.integers(0, 4), st.integers(0, 4))
ROWS = st.tuples(st.integers(0, 30), st.integers(0, 30))
TABLES = st.lists(st.tuples(FEW, FEW), max_size=5)


def by_enumeration(tables: list[Table]) -> float:
    """Every way in which the passes can fall to the versions, case by case."""
    ways = [
        [
            (passes, comb(sum(other), passes) * comb(sum(one), one[0] + other[0] - passes))
            for passes in range(sum(other) + 1)
            if 0 <= one[0] + other[0] - passes <= sum(one)
        ]
        for one, other in tables
    ]
    weights: dict[int, int] = {}
    for way in product(*ways):
        total = sum(passes for passes, _ in way)
        weights[total] = weights.get(total, 0) + prod(weight for _, weight in way)
    seen = weights[sum(other[0] for _, other in tables)]
    return sum(weight for weight in weights.values() if weight <= seen) / sum(weights.values())


@pytest.mark.parametrize(
    ("tables", "p", "min_p", "surplus"),
    [
        pytest.param([], 1.0, 1.0, 0.0, id="nothing"),
        pytest.param([((5, 0), (5, 0))] * 12, 1.0, 2 / comb(10, 5) ** 12, 0.0, id="all alike"),
        pytest.param([((5, 0), (5, 0))] * 11 + [((5, 0), (0, 5))], 2 / 252, 2 / 252**12, -2.5, id="one case collapsed"),
        pytest.param([((5, 0), (0, 5))] * 5, 2 / 252**5, 2 / 252**5, -12.5, id="five did"),
        pytest.param([((3, 2), (2, 3)), ((2, 3), (3, 2))], 1.0, 2 / 252**2, 0.0, id="two flips, one each way"),
        pytest.param([((1, 0), (0, 1))] * 6 + [((1, 0), (1, 0))], 2**-5, 2**-6, -3.0, id="without repeats"),
        pytest.param([((3, 0), (0, 0))], 1.0, 1.0, 0.0, id="runs of one version only"),
        pytest.param([((3, 0), (0, 3)), ((0, 0), (2, 1))], 0.1, 0.1, -1.5, id="a case of one version beside another"),
        pytest.param([((3, 0), (0, 2))], 0.1, 0.1, -1.2, id="more runs of one version"),
        pytest.param([((0, 5_000), (5_000, 0))], 2.2250738585072014e-308, 2.2250738585072014e-308, 2_500.0, id="many"),
    ],
)
def test_tables(tables: list[Table], p: float, min_p: float, surplus: float) -> None:
    found = finished(mantel_haenszel(tables))
    assert (found.test.p, found.test.min_p) == (pytest.approx(p), pytest.approx(min_p))
    assert found.surplus == pytest.approx(surplus, abs=1e-9)


def test_figures_of_the_literature() -> None:
    """Penicillin in rabbits (Mantel 1963): R's mantelhaen.test(exact = TRUE) has p = 0.03994."""
    tables: list[Table] = [((0, 6), (0, 5)), ((3, 3), (0, 6)), ((6, 0), (2, 4)), ((5, 1), (6, 0)), ((2, 0), (5, 0))]
    assert finished(mantel_haenszel(tables)).test.p == pytest.approx(0.03994, abs=5e-6)


@given(TABLES)
def test_p_is_the_share_of_the_ways_that_are_no_likelier(tables: list[Table]) -> None:
    assert finished(mantel_haenszel(tables)).test.p == pytest.approx(by_enumeration(tables), abs=1e-9)


@given(ROWS, ROWS)
def test_of_one_table_it_is_the_test_of_fisher(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert finished(mantel_haenszel([(one, other)])).test == pytest.approx(fisher(one, other), rel=1e-6)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_of_single_runs_it_is_the_test_of_mcnemar(falls: int, rises: int, alike: int) -> None:
    tables: list[Table] = [((1, 0), (0, 1))] * falls + [((0, 1), (1, 0))] * rises + [((1, 0), (1, 0))] * alike
    assert finished(mantel_haenszel(tables)).test.p == pytest.approx(mcnemar(falls, rises, falls + rises).p)


@given(TABLES, st.randoms(use_true_random=False))
def test_neither_order_nor_direction_matters(tables: list[Table], random: Random) -> None:
    found = finished(mantel_haenszel(tables))
    moved = finished(mantel_haenszel(random.sample(tables, len(tables))))
    assert moved.test == pytest.approx(found.test)
    assert moved.surplus == pytest.approx(found.surplus)
    turned = finished(mantel_haenszel([(other, one) for one, other in tables]))
    assert turned.test.p == pytest.approx(found.test.p)
    assert found.test.min_p <= found.test.p <= 1


@given(TABLES)
def test_a_version_beside_itself_does_not_differ(tables: list[Table]) -> None:
    found = finished(mantel_haenszel([(one, one) for one, _ in tables]))
    assert (found.test.p, found.surplus) == (1.0, 0.0)


def test_the_level_is_kept() -> None:
    """Of 12 cases with 5 runs a version, of any pass rates, no more than alpha differ by it if nothing does."""
    random = np.random.default_rng(1)
    for rates in ([0.95] * 12, [0.5] * 12, [0.5, 0.9] * 6, [0.2, 0.99, 1.0] * 4):
        drawn = random.binomial(5, rates, (2_000, 2, len(rates)))
        tables = [[((int(a), 5 - int(a)), (int(b), 5 - int(b))) for a, b in zip(*one, strict=True)] for one in drawn]
        found = [finished(mantel_haenszel(one)).test.p <= 0.05 for one in tables]
        assert np.mean(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))
