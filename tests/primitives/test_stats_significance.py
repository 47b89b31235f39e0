"""Tests of two versions against each other."""

from itertools import product
from random import Random
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.primitives.stats import fisher, holm, least_adjusted, mcnemar, sign_flip
from service.primitives.stats.significance import FLIPS, MAX_EXACT, Floats
from service.primitives.stats.tables import Row
from service.primitives.steps import Steps

T = TypeVar("T")

ROWS = st.tuples(st.integers(0, 40), st.integers(0, 40))
PS = st.lists(st.floats(1e-12, 1), max_size=12)
SIZES = (0.0, 0.1, 0.25)
TENTHS = st.integers(-10, 10)
FEW_DELTAS = st.lists(st.floats(-1, 1), max_size=16)
MANY_DELTAS = st.lists(st.floats(0.01, 1) | st.floats(-1, -0.01), min_size=17, max_size=25)


def finished(steps: Steps[T]) -> T:
    return counted(steps)[0]


def counted(steps: Steps[T]) -> tuple[T, int]:
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, count
        count += 1


def all_flips(deltas: Floats) -> Floats:
    signs = 1 - 2 * (np.arange(2 ** len(deltas))[:, np.newaxis] >> np.arange(len(deltas)) & 1)
    return np.abs(signs @ deltas)


@pytest.mark.parametrize(
    ("b", "c", "cases", "p", "min_p"),
    [
        pytest.param(0, 0, 0, 1.0, 1.0, id="stat-007"),
        pytest.param(0, 0, 20, 1.0, 2**-19, id="all alike"),
        pytest.param(1, 0, 1, 1.0, 1.0, id="one case decides nothing"),
        pytest.param(0, 6, 6, 2**-5, 2**-5, id="all one way"),
        pytest.param(8, 2, 30, 0.109375, 2**-29, id="some"),
        pytest.param(5_000, 5_000, 10_000, 1.0, 2.2250738585072014e-308, id="many, and as many"),
        pytest.param(
            10_000, 0, 10_000, 2.2250738585072014e-308, 2.2250738585072014e-308, id="less than a double holds"
        ),
    ],
)
def test_mcnemar(b: int, c: int, cases: int, p: float, min_p: float) -> None:
    assert mcnemar(b, c, cases) == pytest.approx((p, min_p), rel=1e-9, abs=0)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_test_of_a_fair_coin(b: int, c: int, ties: int) -> None:
    found = mcnemar(b, c, b + c + ties)
    assert found == mcnemar(c, b, b + c + ties)
    assert 0 < found.min_p <= found.p <= 1
    assert found.p == pytest.approx(stats.binomtest(b, b + c).pvalue if b + c else 1.0, rel=1e-9, abs=0)


@pytest.mark.parametrize("cases", range(9))
def test_the_least_p_of_mcnemar(cases: int) -> None:
    every = [mcnemar(b, c, cases) for b in range(cases + 1) for c in range(cases + 1 - b)]
    assert min(test.p for test in every) == every[0].min_p


@pytest.mark.parametrize(
    ("one", "other", "p", "min_p"),
    [
        pytest.param((9, 1), (4, 6), 0.05727554, 2 / 184_756, id="stat-012"),
        pytest.param((2, 1), (1, 2), 1.0, 0.1, id="two of three against one of three"),
        pytest.param((3, 0), (0, 3), 0.1, 0.1, id="three of three against none"),
        pytest.param((3, 5), (7, 1), 0.11888112, 2 / 12_870, id="two tables equally likely on paper"),
        pytest.param((5, 0), (0, 4), 1 / 126, 1 / 126, id="unequal numbers"),
        pytest.param((1, 0), (0, 1), 1.0, 1.0, id="one run each"),
        pytest.param((0, 0), (3, 1), 1.0, 1.0, id="no run"),
        pytest.param((4, 0), (7, 0), 1.0, 1 / 330, id="no failure"),
    ],
)
def test_fisher(one: Row, other: Row, p: float, min_p: float) -> None:
    assert fisher(one, other) == pytest.approx((p, min_p), abs=1e-8)


@given(ROWS, ROWS)
def test_fisher_is_scipys(one: Row, other: Row) -> None:
    found = fisher(one, other)
    assert 0 < found.min_p <= found.p <= 1
    assert found.p == pytest.approx(stats.fisher_exact(np.array([one, other])).pvalue, rel=1e-9, abs=0)
    assert found == pytest.approx(fisher(other, one), rel=1e-9)
    assert found == pytest.approx(fisher(one[::-1], other[::-1]), rel=1e-9)


@pytest.mark.parametrize(("one", "other"), [((5_000, 5_000), (5_100, 4_900)), ((3, 9_997), (12, 9_988))])
def test_fisher_of_many_repeats(one: Row, other: Row) -> None:
    assert fisher(one, other).p == pytest.approx(stats.fisher_exact(np.array([one, other])).pvalue, rel=1e-7)
    assert 0 < fisher((10_000, 0), (0, 10_000)).p < 1e-300


@pytest.mark.parametrize(("one", "other"), list(product(range(6), range(6))))
def test_the_least_p_of_fisher(one: int, other: int) -> None:
    every = [fisher((a, one - a), (b, other - b)) for a in range(one + 1) for b in range(other + 1)]
    assert min(test.p for test in every) == pytest.approx(every[0].min_p)


@pytest.mark.parametrize(
    ("deltas", "p", "min_p"),
    [
        pytest.param([0.3, -0.3, 0.1, -0.1, 0.2], 0.875, 2**-4, id="stat-009"),
        pytest.param([], 1.0, 1.0, id="no case"),
        pytest.param([0.4], 1.0, 1.0, id="one case"),
        pytest.param([0.0] * 20, 1.0, 2**-19, id="no difference"),
        pytest.param([0.5] * 5, 2**-4, 2**-4, id="all one way"),
        pytest.param([-1e-9] * 16, 2**-15, 2**-15, id="all the other way, by little"),
        pytest.param([0.1, 0.2, -0.3], 1.0, 2**-2, id="a sum that is 0 on paper"),
        pytest.param([0.1] * 16 + [0.0] * 100, 2**-15, 2**-115, id="zeros change nothing"),
        pytest.param([0.5] * 40, 2**-39, 2**-39, id="many of one size"),
        pytest.param([1.0] * 15 + [-1.0] * 5, 0.04138946533203125, 2**-19, id="many of one size, as McNemar has them"),
        pytest.param([0.1] * 39 + [0.2], 1 / (FLIPS + 1), 1 / (FLIPS + 1), id="random: no flip as large"),
        pytest.param([0.1] * 15 + [0.2] + [0.0] * 9, 2**-15, 2**-24, id="as many as are tried exactly"),
        pytest.param([0.1] * 20 + [-0.2] * 10, 1.0, 1 / (FLIPS + 1), id="random: a sum that is 0 on paper"),
    ],
)
def test_sign_flip(deltas: list[float], p: float, min_p: float) -> None:
    assert finished(sign_flip(deltas)) == (p, min_p)


@given(st.lists(st.sampled_from(SIZES), max_size=40), st.data())
def test_the_least_p_of_sign_flip(sizes: list[float], data: st.DataObject) -> None:
    signs = data.draw(st.lists(st.sampled_from((-1, 1)), min_size=len(sizes), max_size=len(sizes)))
    best, some = (finished(sign_flip(deltas)) for deltas in (sizes, [a * b for a, b in zip(sizes, signs, strict=True)]))
    assert some.min_p == best.min_p <= best.p <= some.p
    if 0.0 not in sizes and (len(sizes) <= MAX_EXACT or len(set(sizes)) == 1):
        assert best.p == best.min_p


@given(st.lists(TENTHS, max_size=9))
def test_sign_flip_by_all_flips(tenths: list[int]) -> None:
    sums = all_flips(np.array(tenths))
    found = finished(sign_flip([tenth / 10 for tenth in tenths]))
    assert found.p == np.mean(sums >= abs(sum(tenths)))
    assert 0 < found.min_p <= found.p <= 1


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.1, 0.2, 0.3])
def test_random_flips_come_near_all(shift: float) -> None:
    deltas = np.random.default_rng(3).normal(shift, 0.3, 17)
    exact = np.mean(all_flips(deltas) >= abs(deltas.sum()) - 1e-12)
    error = np.sqrt(exact * (1 - exact) / FLIPS)
    assert finished(sign_flip(deltas.tolist())).p == pytest.approx(exact, abs=4 * error + 1 / FLIPS)


@given(FEW_DELTAS | MANY_DELTAS, st.randoms())
def test_neither_order_nor_direction_changes_p(deltas: list[float], random: Random) -> None:
    found = finished(sign_flip(deltas))
    assert finished(sign_flip(random.sample(deltas, len(deltas)))) == found
    assert finished(sign_flip([-delta for delta in deltas])) == found
    assert 0 < found.min_p <= found.p <= 1


def test_many_deltas_take_many_short_steps() -> None:
    deltas = np.random.default_rng(4).normal(0.002, 0.3, 10_000)
    found, steps = counted(sign_flip(deltas.tolist()))
    assert steps == 400
    assert found.p == pytest.approx(stats.ttest_1samp(deltas, 0).pvalue, abs=0.02)


@pytest.mark.parametrize(
    ("ps", "want"),
    [
        pytest.param([], [], id="no test"),
        pytest.param([0.03], [0.03], id="one"),
        pytest.param([0.01, 0.04, 0.03], [0.03, 0.06, 0.06], id="never below the one before"),
        pytest.param([0.5, 0.01, 0.9], [1.0, 0.03, 1.0], id="never over 1"),
        pytest.param([0.01, 0.01], [0.02, 0.02], id="equals alike"),
    ],
)
def test_holm(ps: list[float], want: list[float]) -> None:
    assert holm(ps) == pytest.approx(want)


@given(PS)
def test_holm_keeps_the_order_and_never_makes_a_p_smaller(ps: list[float]) -> None:
    adjusted = holm(ps)
    pairs = sorted(zip(ps, adjusted, strict=True))
    assert [after for _, after in pairs] == sorted(adjusted)
    assert all(before <= after <= 1 for before, after in pairs)


@pytest.mark.parametrize(
    ("ps", "min_ps", "want"),
    [
        pytest.param([1.0, 1.0, 1.0], [0.1, 0.1, 0.1], [0.3, 0.3, 0.3], id="each could have been the first"),
        pytest.param([0.01, 1.0], [0.01, 0.4], [0.02, 0.4], id="but not before a smaller one"),
        pytest.param([0.2, 1.0], [0.2, 0.3], [0.4, 0.4], id="nor end below it"),
    ],
)
def test_least_adjusted(ps: list[float], min_ps: list[float], want: list[float]) -> None:
    assert least_adjusted(ps, min_ps) == pytest.approx(want)


@given(st.lists(st.tuples(st.floats(1e-12, 1), st.floats(1e-12, 1)), max_size=12))
def test_the_least_is_what_holm_gives_each_at_its_least(pairs: list[tuple[float, float]]) -> None:
    ps, min_ps = [max(pair) for pair in pairs], [min(pair) for pair in pairs]
    want = [holm([*ps[:at], least, *ps[at + 1 :]])[at] for at, least in enumerate(min_ps)]
    assert least_adjusted(ps, min_ps) == want
    assert all(least <= adjusted for least, adjusted in zip(want, holm(ps), strict=True))
