"""Groups of vectors that point the same way, by single, complete or average linkage of their cosines.

Whatever takes long is a generator: it yields between short steps, so that one thread can serve many callers in turn,
and returns its result.
"""

from service.primitives.clusters.agglomerative import agglomerate
from service.primitives.clusters.clustering import MAX_CURVE, MAX_VECTORS, Clustering, Linkage, cluster, cluster_units
from service.primitives.clusters.cosines import TOLERANCE, cosine_matrix, threshold, unit_rows
from service.primitives.clusters.shape import Cluster, shapes, shapes_in
from service.primitives.clusters.single import components, spanning_tree
from service.primitives.clusters.tree import Point, Tree, curve, cut, grouped, labelled
from service.primitives.steps import Steps

__all__ = [
    "MAX_CURVE",
    "MAX_VECTORS",
    "TOLERANCE",
    "Cluster",
    "Clustering",
    "Linkage",
    "Point",
    "Steps",
    "Tree",
    "agglomerate",
    "cluster",
    "cluster_units",
    "components",
    "cosine_matrix",
    "curve",
    "cut",
    "grouped",
    "labelled",
    "shapes",
    "shapes_in",
    "spanning_tree",
    "threshold",
    "unit_rows",
]
