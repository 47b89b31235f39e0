"""Every partition of a linkage at once: the tree of its merges, cut at any tau."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.primitives.clusters.cosines import threshold, thresholds

Labels: TypeAlias = NDArray[np.intp]


class Tree(NamedTuple):
    """Node k joins the cluster of `parents[k]` at the cosine `heights[k]`; node 0, the root, at minus infinity."""

    parents: Labels
    heights: NDArray[np.float64]


class Point(NamedTuple):
    """What clustering at this tau gives: how many clusters, and how many members the largest has."""

    tau: float
    n_clusters: int
    largest: int


def cut(tree: Tree, tau: float) -> Labels:
    """The cluster of each node at this tau: numbers from 0, by first appearance."""
    joined = tree.heights >= threshold(tau)
    above = np.where(joined, tree.parents, np.arange(len(joined))).tolist()
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(_root(above, node), len(numbers)) for node in range(len(above))])


def curve(tree: Tree) -> list[Point]:
    """A point for each merge height, falling, but none for a height that gives the clusters of the one before it."""
    order = np.argsort(-tree.heights, kind="stable")[:-1]
    heights = tree.heights[order]
    merges = np.searchsorted(-heights, -thresholds(heights), "right")
    largest = _largest_after_each(tree, order.tolist())
    rising = dict(zip(merges[::-1].tolist(), heights[::-1].tolist(), strict=True))
    total = len(tree.parents)
    return [Point(height, total - count, largest[count - 1]) for count, height in reversed(rising.items())]


def compressed(roots: Labels) -> Labels:
    """Each node's last ancestor."""
    while not np.array_equal(above := roots[roots], roots):
        roots = above
    return roots


def by_appearance(labels: Labels) -> Labels:
    """The same partition, its clusters numbered from 0 in the order of their first members."""
    _, first, positions = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty_like(first)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[positions]


def _largest_after_each(tree: Tree, order: list[int]) -> list[int]:
    parents = tree.parents.tolist()
    above = list(range(len(parents)))
    sizes = [1] * len(parents)
    most, largest = 1, []
    for node in order:
        root = above[node] = _root(above, parents[node])
        sizes[root] += sizes[node]
        most = max(most, sizes[root])
        largest.append(most)
    return largest


def _root(above: list[int], node: int) -> int:
    while above[node] != node:
        above[node] = node = above[above[node]]
    return node
