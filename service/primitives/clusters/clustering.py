"""From vectors to clusters."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from service.primitives.clusters.agglomerative import agglomerate
from service.primitives.clusters.cosines import Rows, Vectors, cosine_matrix, unit_rows
from service.primitives.clusters.shape import Cluster, shapes
from service.primitives.clusters.single import components, spanning_tree
from service.primitives.clusters.tree import Labels, Point, Tree, curve, cut
from service.primitives.steps import Steps

Linkage: TypeAlias = Literal["single", "complete", "average"]

MAX_VECTORS: Final[Mapping[Linkage, int]] = MappingProxyType({"single": 10_000, "complete": 2_000, "average": 2_000})
"""Up to how many vectors each linkage keeps to short steps and little memory; the caller refuses more."""

MAX_CURVE = 2_000
"""Up to how many vectors there is a curve."""


class Clustering(NamedTuple):
    """`labels` count from 0 by first appearance, `clusters` are in their order; `curve` is None for many vectors."""

    labels: Labels
    clusters: list[Cluster]
    curve: list[Point] | None


def cluster(vectors: Vectors, tau: float, linkage: Linkage) -> Steps[Clustering]:
    """Clusters of the rows, whose lengths do not matter; rows are similar from a cosine of tau - TOLERANCE on.

    A row of zeros has cosine 1 with its like and 0 with all else. At least one row, at most MAX_VECTORS.
    """
    unit = yield from unit_rows(vectors)
    if linkage == "single" and len(unit) > MAX_CURVE:
        labels = yield from components(unit, tau)
        return Clustering(labels, (yield from shapes(unit, labels, tau)), None)
    tree = yield from _tree(unit, linkage)
    labels = cut(tree, tau)
    return Clustering(labels, (yield from shapes(unit, labels, tau)), curve(tree))


def _tree(unit: Rows, linkage: Linkage) -> Steps[Tree]:
    cosines = yield from cosine_matrix(unit)
    if linkage == "single":
        return (yield from spanning_tree(cosines))
    return (yield from agglomerate(cosines, linkage))
