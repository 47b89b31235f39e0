"""Complete and average linkage: the two most similar clusters become one, until one is left."""

from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.primitives.clusters.cosines import DECIMALS, Rows
from service.primitives.clusters.tree import Tree
from service.primitives.steps import Steps


def agglomerate(cosines: Rows, linkage: Literal["complete", "average"]) -> Steps[Tree]:
    """The tree of merges; the matrix of cosines is overwritten.

    The similarity of two clusters is the smallest (complete) or the mean (average) cosine between their members, means
    rounded to DECIMALS. A cluster is named by its smallest member; among equally similar pairs (i, j), i < j, the one
    of the smallest i, then of the smallest j, is merged first.
    """
    search = _Search(cosines)
    clusters = [[node] for node in range(len(cosines))]
    heights = [-inf] * len(cosines)
    for _ in range(len(cosines) - 1):
        i, j = search.best_pair()
        heights[j] = cosines.item(i, j) + 0.0
        search.merge(i, j, _between(cosines[i], cosines[j], len(clusters[i]), len(clusters[j]), linkage))
        clusters[i] += clusters[j]
        yield
    return Tree(clusters[0], [heights[node] for node in clusters[0]])


def _between(one: Rows, other: Rows, size: int, other_size: int, linkage: str) -> Rows:
    """How similar two clusters, taken as one, are to each: Lance and Williams 1967."""
    if linkage == "complete":
        return np.minimum(one, other)
    return np.round((size * one + other_size * other) / (size + other_size), DECIMALS)


class _Search:
    """The best later partner of each cluster, looked up only when a bound on it is the greatest of all.

    No merge makes a cluster more similar to another than its two parts were, so what was once the best remains a bound.
    """

    def __init__(self, cosines: Rows) -> None:
        count = len(cosines)
        self._cosines = cosines
        self._bounds = np.full(count, np.inf)
        self._partners = np.zeros(count, np.intp)
        self._known: NDArray[np.bool_] = np.zeros(count, np.bool_)
        self._bounds[-1:] = -np.inf
        np.fill_diagonal(cosines, -np.inf)

    def best_pair(self) -> tuple[int, int]:
        while True:
            i = int(self._bounds.argmax())
            if self._known[i]:
                return i, int(self._partners[i])
            self._look_up(i)

    def merge(self, i: int, j: int, cosines: Rows) -> None:
        """Cluster i takes in j, and has these cosines with the others."""
        self._cosines[i] = cosines
        self._cosines[:, i] = cosines
        self._cosines[:, j] = -np.inf
        self._bounds[j] = -np.inf
        self._known &= (self._partners != i) & (self._partners != j)
        self._known[:i] &= cosines[:i] < self._bounds[:i]  # a tie, and i may be the smaller partner

    def _look_up(self, i: int) -> None:
        later = self._cosines[i, i + 1 :]
        at = int(later.argmax())
        self._partners[i] = i + 1 + at
        self._bounds[i] = later[at]
        self._known[i] = True
