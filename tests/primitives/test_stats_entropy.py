"""Entropies of cluster sizes, and what is made of them."""

from itertools import combinations
from math import copysign, exp, log
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.stats import Entropy, entropy, pair_agreement, stability

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=30)
NO_ENTROPY = Entropy(0.0, 0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("counts", "want", "meanings", "agreement", "stable"),
    [
        pytest.param(
            [4, 3, 1, 1, 1],
            Entropy(1.41848366, 1.61848366, 0.7, 1.81452608, 1.40156233),
            4.13085192,
            0.2,
            0.38396037,
            id="stat-004",
        ),
        pytest.param(
            [1, 1, 1, 1, 1], Entropy(1.60943791, 2.00943791, 0.2, 3.48689038, 1.42896825), 5.0, 0.0, 0.0, id="stat-005"
        ),
        pytest.param([7], NO_ENTROPY, 1.0, 1.0, 1.0, id="all agree"),
        pytest.param([1], NO_ENTROPY, 1.0, None, 1.0, id="one answer"),
    ],
)
def test_entropy(counts: list[int], want: Entropy, meanings: float, agreement: float | None, stable: float) -> None:
    found = entropy(counts)
    assert found == pytest.approx(want, abs=1e-8)
    assert exp(found.plugin) == pytest.approx(meanings, abs=1e-8)
    assert pair_agreement(counts) == agreement
    assert stability(counts) == pytest.approx(stable, abs=1e-8)


@pytest.mark.parametrize(("total", "want"), [(4, 0.5), (10, 0.69897000), (20, 0.76862179)])
def test_stability_depends_on_how_many_answers_there_are_and_agreement_hardly(total: int, want: float) -> None:
    assert stability([total // 2] * 2) == pytest.approx(want, abs=1e-8)
    assert pair_agreement([total // 2] * 2) == pytest.approx(0.5 - 0.5 / (total - 1))


@pytest.mark.parametrize("total", range(1, 61))
def test_both_ends_of_stability_are_exact(total: int) -> None:
    assert stability([total]) == 1
    assert entropy([total]) == NO_ENTROPY
    if total > 1:
        assert stability([1] * total) == 0
        assert copysign(1, stability([1] * total)) == 1
        assert entropy([1] * total).plugin == log(total)


@given(SIZES)
def test_ranges(counts: list[int]) -> None:
    found, total = entropy(counts), sum(counts)
    assert 0 <= found.plugin <= log(total)
    assert found.plugin <= found.miller_madow
    assert 0 < found.coverage <= 1
    assert found.chao_shen >= 0
    assert 0 <= found.posterior_mean <= log(len(counts)) + 1e-12
    assert 0 <= stability(counts) <= 1


@given(SIZES)
def test_by_definition(counts: list[int]) -> None:
    total = sum(counts)
    shares = [count / total for count in counts]
    plugin = -sum(share * log(share) for share in shares)
    assert entropy(counts).plugin == pytest.approx(plugin, abs=1e-12)
    if total > 1:
        assert stability(counts) == pytest.approx(1 - plugin / log(total), abs=1e-12)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6))
def test_agreement_is_that_of_all_pairs(counts: list[int]) -> None:
    labels = [label for label, count in enumerate(counts) for _ in range(count)]
    pairs = [one == other for one, other in combinations(labels, 2)]
    assert pair_agreement(counts) == (sum(pairs) / len(pairs) if pairs else None)


@given(SIZES, st.randoms())
def test_the_order_of_clusters_does_not_matter(counts: list[int], random: Random) -> None:
    assert entropy(random.sample(counts, len(counts))) == pytest.approx(entropy(counts), abs=1e-12)


@pytest.mark.parametrize("counts", [[1], [1, 1], [9, 1], [4, 3, 1, 1, 1], [1] * 10])
def test_the_posterior_mean_is_that_of_draws(counts: list[int]) -> None:
    draws = np.random.default_rng(5).dirichlet(np.array(counts) + 1, 100_000)
    entropies = -(draws * np.log(draws)).sum(axis=1)
    assert entropy(counts).posterior_mean == pytest.approx(entropies.mean(), abs=3e-3)


@given(st.integers(1, 40), st.integers(2, 30))
def test_the_posterior_mean_corrects_equal_shares_downwards(size: int, clusters: int) -> None:
    found = entropy([size] * clusters)
    assert found.posterior_mean < found.plugin < found.miller_madow


def test_many_clusters() -> None:
    found = entropy([1] * 10_000)
    assert found.plugin == log(10_000)
    assert np.isfinite(found).all()
