"""What holds of the numbers, whatever the responses."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.primitives.vectors import cosines
from tests.stability.asking import Body, asked, interaction

NUMBER = st.integers(-4, 4).map(float)
VECTORS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(NUMBER, min_size=width, max_size=width), min_size=1, max_size=9)
)
TAU = st.sampled_from([-1.0, -0.3, 0.0, 0.5, 0.8, 0.9, 1.0])
LINKAGE = st.sampled_from(["single", "complete", "average"])
MODE = st.sampled_from([{"type": "frequentist"}, {"type": "bayesian"}, {"type": "bayesian", "ci_level": 0.5}])
ORDERLESS = (
    "csr",
    "csr_interval",
    "stability",
    "rss",
    "n_clusters",
    "pair_agreement",
    "effective_meanings",
    "mean_pairwise_cosine",
    "entropy",
)


def close(value: Any) -> Any:
    """The value up to the noise of sums in another order."""
    if isinstance(value, dict):
        return {name: close(one) for name, one in value.items()}
    if isinstance(value, list):
        return [close(one) for one in value]
    return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value


def numbers(one: Body) -> Body:
    return {name: one[name] for name in ORDERLESS}


def heights(one: Body) -> list[float]:
    return [point["tau"] for point in one["tau_curve"]]


@given(VECTORS, TAU, LINKAGE, MODE)
def test_bounds(vectors: list[list[float]], tau: float, linkage: str, mode: Body) -> None:
    one = interaction(asked(vectors), tau=tau, linkage=linkage, statistical_mode=mode)
    low, high = one["csr_interval"]
    assert 0 <= low <= one["csr"] <= high <= 1
    assert mode["type"] == "bayesian" or 1 / len(vectors) <= one["csr"]
    assert 0 <= one["stability"] <= 1
    assert str(one["stability"]) != "-0.0"
    assert 1 - 1e-12 <= one["effective_meanings"] <= one["n_clusters"] + 1e-9
    assert sorted(member for group in one["clusters"] for member in group["members"]) == list(range(len(vectors)))
    assert one["chained"] == any(group["chained"] for group in one["clusters"])


@given(VECTORS, TAU, st.randoms())
def test_the_order_of_responses_changes_nothing(vectors: list[list[float]], tau: float, random: Any) -> None:
    shuffled = random.sample(vectors, len(vectors))
    reference = vectors[0]
    one, other = (interaction(asked(some, reference_embedding=reference), tau=tau) for some in (vectors, shuffled))
    assert numbers(one) == close(numbers(other))
    assert heights(one) == close(heights(other))


@given(
    st.lists(st.tuples(*[st.integers(1, 99).map(float)] * 3).map(list), min_size=2, max_size=9),
    st.sampled_from([0.8, 0.9, 0.95]),
    st.sampled_from(["complete", "average"]),
    st.randoms(),
)
def test_nor_by_another_linkage_where_no_pairs_tie(
    vectors: list[list[float]], tau: float, linkage: str, random: Any
) -> None:
    pairs = [round(value, 9) for row, values in enumerate(cosines(vectors, vectors)) for value in values[:row]]
    assume(len(set(pairs)) == len(pairs))
    shuffled = random.sample(vectors, len(vectors))
    one, other = (interaction(asked(some), tau=tau, linkage=linkage) for some in (vectors, shuffled))
    assert numbers(one) == close(numbers(other))


@given(VECTORS, TAU, LINKAGE, st.lists(st.sampled_from([1e-3, 0.5, 3.0, 1e6]), min_size=9, max_size=9))
def test_the_length_of_vectors_changes_nothing(
    vectors: list[list[float]], tau: float, linkage: str, scales: list[float]
) -> None:
    scaled = [[number * scale for number in vector] for vector, scale in zip(vectors, scales, strict=False)]
    one, other = (
        interaction(asked(some, reference_embedding=vectors[-1]), tau=tau, linkage=linkage)
        for some in (vectors, scaled)
    )
    assert {name: value for name, value in one.items() if name != "warnings"} == close(
        {name: value for name, value in other.items() if name != "warnings"}
    )


@given(VECTORS, TAU)
def test_complete_linkage_refines_single(vectors: list[list[float]], tau: float) -> None:
    single, complete = (interaction(asked(vectors), tau=tau, linkage=linkage) for linkage in ("single", "complete"))
    coarse = [set(group["members"]) for group in single["clusters"]]
    assert all(any(set(group["members"]) <= one for one in coarse) for group in complete["clusters"])
    assert complete["csr"] <= single["csr"]


@given(VECTORS, LINKAGE)
def test_the_curve_is_what_clustering_gives_at_each_of_its_points(vectors: list[list[float]], linkage: str) -> None:
    curve = interaction(asked(vectors), linkage=linkage)["tau_curve"]
    assert [point["tau"] for point in curve] == sorted({point["tau"] for point in curve}, reverse=True)
    for point in curve:
        if -1 <= point["tau"] <= 1:
            at = interaction(asked(vectors), tau=point["tau"], linkage=linkage)
            assert (at["n_clusters"], at["csr"]) == (point["n_clusters"], point["csr"])


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=12))
def test_pair_agreement_is_the_share_of_equal_pairs(texts: list[str]) -> None:
    vectors = {"a": [1.0, 0, 0], "b": [0, 1.0, 0], "c": [0, 0, 1.0]}
    one = interaction({"responses": texts}, vectors=vectors)
    pairs = [(i, j) for i in range(len(texts)) for j in range(i)]
    assert one["pair_agreement"] == pytest.approx(sum(texts[i] == texts[j] for i, j in pairs) / len(pairs))
    assert one["mean_pairwise_cosine"] == pytest.approx(one["pair_agreement"], abs=1e-9)
    assert one["csr"] == max(map(texts.count, texts)) / len(texts)
