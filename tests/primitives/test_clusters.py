"""Clusters by single, complete and average linkage."""

import json
import os
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components

from service.primitives.clusters import (
    Cluster,
    Clustering,
    Linkage,
    Steps,
    Tree,
    agglomerate,
    cluster,
    components,
    cosine_matrix,
    curve,
    cut,
    grouped,
    labelled,
    shapes,
    shapes_in,
    spanning_tree,
    threshold,
    unit_rows,
)
from tests.counts import COUNTS

CASES = Path(__file__).parents[3] / "shared" / "reference" / "prompt_metrics.jsonl"
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
TWO_PAIRS = [[1, 0], [0.96, 0.28], [0.28, 0.96], [0, 1]]

T = TypeVar("T")
Floats = NDArray[np.float64]


def finished(steps: Steps[T]) -> T:
    try:
        while True:
            next(steps)
    except StopIteration as end:
        result: T = end.value
        return result


def clustered(vectors: Any, tau: float, linkage: Linkage = "single") -> Clustering:
    return finished(cluster(np.array(vectors, dtype=np.float64), tau, linkage))


def labels_of(vectors: Any, tau: float, linkage: Linkage = "single") -> list[int]:
    return list(map(int, clustered(vectors, tau, linkage).labels))


def components_of(vectors: Any, tau: float, side: int | None = None) -> list[int]:
    return list(map(int, finished(components(finished(unit_rows(np.asarray(vectors))), tau, side))))


def tree_of(vectors: Any, linkage: Linkage) -> Tree:
    cosines = finished(cosine_matrix(finished(unit_rows(np.asarray(vectors)))))
    return finished(spanning_tree(cosines) if linkage == "single" else agglomerate(cosines, linkage))


def partition(labels: Any) -> set[frozenset[int]]:
    return {
        frozenset(np.flatnonzero(np.asarray(labels) == label).tolist()) for label in set(np.asarray(labels).tolist())
    }


@st.composite
def clouds(draw: st.DrawFn, least: int = 1, most: int = 40) -> Floats:
    """Vectors of which no two pairs have the same cosine, in groups of a random width."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count, groups = draw(st.integers(least, most)), draw(st.integers(1, 6))
    centres = random.standard_normal((groups, 5))
    spread = draw(st.sampled_from([0.1, 0.4, 1.0]))
    return centres[random.integers(0, groups, count)] + spread * random.standard_normal((count, 5))


lattices = st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=1, max_size=14).map(
    lambda rows: np.array(rows, float)
)
"""Vectors with many equal cosines, and some of zeros."""
linkages = st.sampled_from(LINKAGES)
taus = st.floats(-1, 1)
vectors_ = clouds() | lattices


@pytest.mark.parametrize(
    ("vectors", "tau", "linkage", "labels"),
    [
        pytest.param([[3, 4]], 0.8, "single", [0], id="one"),
        pytest.param([[3, 4], [4, 3]], 0.96, "single", [0, 0], id="exactly tau"),
        pytest.param([[1, 2, 3]] * 3, 1.0, "complete", [0, 0, 0], id="equal vectors at tau 1"),
        pytest.param([[1, 0], [-1, 0], [0, 1]], -1.0, "complete", [0, 0, 0], id="all cosines at tau -1"),
        pytest.param([[0, 0], [1, 0], [0, 0]], 0.5, "single", [0, 1, 0], id="zeros are like zeros"),
        pytest.param([[0, 0], [1, 0], [-1, 0]], 0.0, "single", [0, 0, 0], id="zeros are at right angles to all else"),
        pytest.param([[1e300, 0], [1e-300, 0], [5e-324, 0]], 1.0, "single", [0, 0, 0], id="very long and very short"),
        pytest.param(TWO_PAIRS, 0.5, "single", [0, 0, 0, 0], id="single chains"),
        pytest.param(TWO_PAIRS, 0.5, "complete", [0, 0, 1, 1], id="complete does not chain"),
        pytest.param(TWO_PAIRS, 0.27, "average", [0, 0, 0, 0], id="average: a mean of 0.2744"),
        pytest.param(TWO_PAIRS, 0.28, "average", [0, 0, 1, 1], id="average: a mean under tau"),
        pytest.param([[1, 0], [0, 1], [1, 1]], 0.7, "complete", [0, 1, 0], id="of equal pairs the first"),
        pytest.param([[1, 0], [0, 1], [1, 1], [1, 9]], 0.7, "complete", [0, 1, 0, 1], id="the best before the first"),
    ],
)
def test_labels(vectors: list[list[float]], tau: float, linkage: Linkage, labels: list[int]) -> None:
    assert labels_of(vectors, tau, linkage) == labels
    if linkage == "single":
        assert components_of(vectors, tau) == labels


def test_reference_cases() -> None:
    if not CASES.is_file():
        assert not os.environ.get("CI"), f"{CASES} is absent"
        pytest.skip("the cases are absent")
    cases = [case for case in map(json.loads, CASES.read_text().splitlines()) if case["kind"] == "stability"]
    complete = 0
    for case in cases:
        vectors, tau = case["embeddings"], case["params"]["tau"]
        assert labels_of(vectors, tau) == components_of(vectors, tau) == case.get("right", case["peer"])["labels"]
        if other := case["alt"]["complete_linkage"]:
            assert labels_of(vectors, tau, "complete") == other["labels"], case["id"]
            complete += 1
    COUNTS.append(f"cluster cases: {len(cases)} of single linkage pass, {complete} of complete linkage")
    assert (len(cases), complete) == (20, 19)


def test_a_mean_that_rounds_to_a_tie_is_one() -> None:
    cosines = np.eye(5)
    cosines[0, 1:] = cosines[1:, 0] = 0.5 - 1e-12, 0.5, 0.5, 0.5
    cosines[1, 3:] = cosines[3:, 1] = 0.9
    cosines[3, 4] = cosines[4, 3] = 0.99
    tree = finished(agglomerate(cosines, "average"))
    assert (tree.order, tree.heights[1:]) == ([0, 1, 3, 4, 2], [0.5, 0.9, 0.99, 0.125])


def test_shape() -> None:
    arc = [[np.cos(angle), np.sin(angle)] for angle in (0.0, 0.3, 0.6, 0.9, 1.2)]
    clusters = clustered([*arc, [-1, 0], [0, -1], [0, -2]], 0.9).clusters
    assert clusters[1:] == [Cluster([5], 5, 1.0, False), Cluster([6, 7], 6, 1.0, False)]
    assert clusters[0] == Cluster([0, 1, 2, 3, 4], 2, round(float(np.cos(1.2)), 12), True)


def test_equal_medoids_give_the_first() -> None:
    random = np.random.default_rng(5)
    for vector in random.standard_normal((20, 7)):
        vectors = np.outer(random.uniform(0.1, 10, 9), vector)
        assert clustered(vectors, 0.9).clusters == [Cluster(list(range(9)), 0, 1.0, False)]


def test_curve() -> None:
    points = clustered([[1, 0], [1, 0], [0.8, 0.6], [0, 1], [0, 0]], 0.5).curve
    assert points == [(1.0, 4, 2), (0.8, 3, 3), (0.6, 2, 4), (0.0, 1, 5)]
    assert clustered([[1, 0]], 0.5).curve == []


def test_heights_within_the_tolerance_are_one_point() -> None:
    near = [1.0, 1.0 - 4e-7, 1.0 - 8e-7, 1.0 - 1.2e-6, 0.5]
    tree = Tree([0, 1, 2, 3, 4, 5], [-np.inf, *near])
    assert curve(tree) == [(near[0], 3, 4), (near[1], 2, 5), (0.5, 1, 6)]
    assert [len(cut(tree, tau)) for tau in near] == [3, 2, 2, 2, 1]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_work_comes_in_many_steps(linkage: Linkage) -> None:
    assert sum(1 for _ in cluster(np.random.default_rng(0).standard_normal((600, 8)), 0.9, linkage)) > 600


def test_above_the_curve() -> None:
    vectors = np.random.default_rng(0).standard_normal((3, 16)).repeat(1000, axis=0).astype("f4")
    result = finished(cluster(vectors, 0.9, "single"))
    assert result.curve is None
    assert result.labels.tolist() == [0] * 1000 + [1] * 1000 + [2] * 1000
    assert [found.medoid for found in result.clusters] == [0, 1000, 2000]


@given(vectors_, taus, st.integers(1, 50))
def test_components_equal_those_of_the_graph(vectors: Floats, tau: float, side: int) -> None:
    cosines = finished(cosine_matrix(finished(unit_rows(vectors)), side))
    expected = connected_components(cosines >= threshold(tau), directed=False)[1]
    assert components_of(vectors, tau, side) == expected.tolist() == labels_of(vectors, tau)
    assert cosines == pytest.approx(finished(cosine_matrix(finished(unit_rows(vectors)))), abs=1e-11)


@given(clouds(least=2), taus, linkages)
def test_partition_equals_that_of_scipy(vectors: Floats, tau: float, linkage: Linkage) -> None:
    cosines = finished(cosine_matrix(finished(unit_rows(vectors))))
    merges = hierarchy.linkage(1 - cosines[np.triu_indices(len(vectors), 1)], linkage)
    heights = 1 - merges[:, 2]
    assume(np.abs(heights - tau).min() > 1e-5)
    assert sorted(tree_of(vectors, linkage).heights[1:]) == pytest.approx(sorted(heights))
    assert partition(labels_of(vectors, tau, linkage)) == partition(hierarchy.fcluster(merges, 1 - tau, "distance"))


@given(lattices, st.sampled_from(["complete", "average"]))
def test_ties_go_to_the_lowest(vectors: Floats, linkage: Linkage) -> None:
    cosines = finished(cosine_matrix(finished(unit_rows(vectors))))
    tree = tree_of(vectors, linkage)
    clusters = {index: [index] for index in range(len(vectors))}
    heights = np.full(len(vectors), -np.inf)
    summary: Callable[[Floats], Any] = np.min if linkage == "complete" else np.mean
    while len(clusters) > 1:
        likeness = {
            (i, j): round(float(summary(cosines[np.ix_(clusters[i], clusters[j])])), 9)
            for i, j in combinations(sorted(clusters), 2)
        }
        i, j = min(likeness, key=lambda pair: (-likeness[pair], pair))
        heights[j] = likeness[i, j]
        clusters[i] += clusters.pop(j)
    assert tree.order == clusters[0]
    assert tree.heights == pytest.approx(heights[tree.order], abs=1e-8)


@given(clouds(least=2), taus, linkages, st.randoms())
def test_the_order_of_the_vectors_does_not_matter(vectors: Floats, tau: float, linkage: Linkage, random: Any) -> None:
    order = np.array(random.sample(range(len(vectors)), len(vectors)))
    moved = partition(labels_of(vectors[order], tau, linkage))
    assert {frozenset(order[list(members)].tolist()) for members in moved} == partition(
        labels_of(vectors, tau, linkage)
    )


@given(vectors_, taus, st.integers(0, 2**32 - 1))
def test_lengths_do_not_matter(vectors: Floats, tau: float, seed: int) -> None:
    scales = np.exp(np.random.default_rng(seed).uniform(-200, 200, len(vectors)))
    for linkage in LINKAGES:
        assert labels_of(vectors * scales[:, None], tau, linkage) == labels_of(vectors, tau, linkage)


@given(vectors_, taus, linkages)
def test_clusters_are_the_labels(vectors: Floats, tau: float, linkage: Linkage) -> None:
    clusters = cut(tree_of(vectors, linkage), tau)
    labels = labelled(clusters)
    assert clusters == [np.flatnonzero(labels == label).tolist() for label in range(len(clusters))] == grouped(labels)


@given(vectors_, taus, linkages)
def test_labels_count_from_0_by_first_appearance(vectors: Floats, tau: float, linkage: Linkage) -> None:
    labels = labels_of(vectors, tau, linkage)
    assert list(dict.fromkeys(labels)) == list(range(max(labels) + 1))


@given(vectors_, taus, st.sampled_from(["complete", "average"]))
def test_each_linkage_refines_single(vectors: Floats, tau: float, linkage: Linkage) -> None:
    whole = labels_of(vectors, tau)
    assert all(len({whole[member] for member in part}) == 1 for part in partition(labels_of(vectors, tau, linkage)))


@given(vectors_, linkages, taus, taus)
def test_a_higher_tau_splits(vectors: Floats, linkage: Linkage, one: float, other: float) -> None:
    low, high = (labels_of(vectors, tau, linkage) for tau in sorted((one, other)))
    assert all(len({low[member] for member in part}) == 1 for part in partition(high))


@given(vectors_, linkages)
def test_the_curve_says_what_clustering_gives(vectors: Floats, linkage: Linkage) -> None:
    points = clustered(vectors, 0.5, linkage).curve
    assert points is not None
    for tau, n_clusters, largest in points:
        sizes = np.bincount(labels_of(vectors, tau, linkage))
        assert (len(sizes), sizes.max()) == (n_clusters, largest)
        if linkage == "single":
            assert max(components_of(vectors, tau)) + 1 == n_clusters
    values = [point.tau for point in points]
    assert values == sorted(set(values), reverse=True)
    assert [point.n_clusters for point in points] == sorted({point.n_clusters for point in points}, reverse=True)


@given(vectors_, taus, linkages, st.integers(1, 20))
def test_shapes_by_definition(vectors: Floats, tau: float, linkage: Linkage, side: int) -> None:
    unit = finished(unit_rows(vectors))
    clusters = cut(tree_of(vectors, linkage), tau)
    of_matrix = finished(shapes_in(finished(cosine_matrix(unit)), clusters, tau))
    for place, found in [*enumerate(finished(shapes(unit, clusters, tau, side))), *enumerate(of_matrix)]:
        members = np.array(clusters[place])
        cosines = unit[members] @ unit[members].T
        sums = np.round(cosines.sum(axis=1), 9)
        assert found.members == members.tolist()
        assert found.medoid == members[sums.argmax()]
        assert found.smallest == pytest.approx(cosines.min(), abs=1e-9)
        assert found.chained == (found.smallest < threshold(tau))
        assert not (linkage == "complete" and found.chained)


@given(st.integers(0, 2**32 - 1), st.sampled_from([384, 24]))
def test_doubtful_cosines_are_decided_in_double_precision(seed: int, dimensions: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((12, dimensions))
    cosines = finished(cosine_matrix(finished(unit_rows(vectors))))
    for i, j in combinations(range(12), 2):
        for nudge, similar in ((-1e-11, True), (1e-11, False)):
            labels = components_of(vectors[[i, j]], float(cosines[i, j]) + 1e-6 + nudge)
            assert (labels == [0, 0]) == similar
