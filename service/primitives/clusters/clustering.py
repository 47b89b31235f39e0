"""From vectors to clusters."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from service.primitives.clusters.agglomerative import agglomerate
from service.primitives.clusters.cosines import Rows, Vectors, cosine_matrix, unit_rows
from service.primitives.clusters.shape import Cluster, shapes, shapes_in
from service.primitives.clusters.single import components, spanning_tree
from service.primitives.clusters.tree import Labels, Point, Tree, curve, cut, grouped, labelled
from service.primitives.steps import Steps

Linkage: TypeAlias = Literal["single", "complete", "average"]

MAX_VECTORS: Final[Mapping[Linkage, int]] = MappingProxyType({"single": 10_000, "complete": 2_000, "average": 2_000})
"""Up to how many vectors each linkage keeps to short steps and little memory; the caller refuses more."""

MAX_CURVE = 2_000
"""Up to how many vectors there is a curve."""


class Clustering(NamedTuple):
    """`clusters` are in the order of their first members; `curve` is None for many vectors."""

    clusters: list[Cluster]
    curve: list[Point] | None

    @property
    def labels(self) -> Labels:
        """The place of each vector's cluster."""
        return labelled([one.members for one in self.clusters])


def cluster(vectors: Vectors, tau: float, linkage: Linkage) -> Steps[Clustering]:
    """Clusters of the rows, whose lengths do not matter; rows are similar from a cosine of tau - TOLERANCE on.

    A row of zeros has cosine 1 with its like and 0 with all else. At least one row, at most MAX_VECTORS.
    """
    return (yield from cluster_units((yield from unit_rows(vectors)), tau, linkage))


def cluster_units(unit: Rows, tau: float, linkage: Linkage) -> Steps[Clustering]:
    """The same for rows that `unit_rows` has made."""
    if linkage == "single" and len(unit) > MAX_CURVE:
        clusters = grouped((yield from components(unit, tau)))
        return Clustering((yield from shapes(unit, clusters, tau)), None)
    cosines = yield from cosine_matrix(unit)
    tree = yield from _tree(cosines, linkage)
    clusters = cut(tree, tau)
    found = shapes_in(cosines, clusters, tau) if linkage == "single" else shapes(unit, clusters, tau)
    return Clustering((yield from found), curve(tree))


def _tree(cosines: Rows, linkage: Linkage) -> Steps[Tree]:
    """The cosines outlast single linkage only."""
    if linkage == "single":
        return (yield from spanning_tree(cosines))
    return (yield from agglomerate(cosines, linkage))
