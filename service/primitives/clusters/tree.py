"""Every partition of a linkage at once: the tree of its merges, cut at any tau."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.primitives.clusters.cosines import threshold, thresholds

Labels: TypeAlias = NDArray[np.intp]
Members: TypeAlias = list[int]


class Tree(NamedTuple):
    """The nodes in an order in which the members of every cluster, at any tau, stand side by side.

    `heights` has for each node the highest tau at which it shares a cluster with the node before it; minus infinity
    for the first.
    """

    order: list[int]
    heights: list[float]


class Point(NamedTuple):
    """What clustering at this tau gives: how many clusters, and how many members the largest has."""

    tau: float
    n_clusters: int
    largest: int


def cut(tree: Tree, tau: float) -> list[Members]:
    """The members of each cluster at this tau, rising; clusters in the order of their first members."""
    least = threshold(tau)
    clusters: list[Members] = []
    for node, height in zip(*tree, strict=True):
        if height >= least:
            clusters[-1].append(node)
        else:
            clusters.append([node])
    return sorted([sorted(members) for members in clusters])


def curve(tree: Tree) -> list[Point]:
    """A point for each merge height, falling, but none for a height that gives the clusters of the one before it."""
    total = len(tree.order)
    places = sorted(range(1, total), key=tree.heights.__getitem__, reverse=True)
    heights = np.array([tree.heights[place] for place in places])
    merges = np.searchsorted(-heights, -thresholds(heights), "right").tolist()
    largest = _largest_after_each(places, total)
    points, last = [], 0
    for height, count in zip(heights.tolist(), merges, strict=True):
        if count > last:
            points.append(Point(height, total - count, largest[count - 1]))
            last = count
    return points


def grouped(labels: Labels) -> list[Members]:
    """The members of each cluster, rising, from their labels, which count from 0."""
    order = np.argsort(labels, kind="stable")
    return [members.tolist() for members in np.split(order, np.cumsum(np.bincount(labels))[:-1])]


def labelled(clusters: Sequence[Members]) -> Labels:
    """The label of each node: the place of its cluster."""
    numbers = [0] * sum(map(len, clusters))
    for number, members in enumerate(clusters):
        for member in members:
            numbers[member] = number
    return np.array(numbers)


def compressed(roots: Labels) -> Labels:
    """Each node's last ancestor."""
    while ((above := roots[roots]) != roots).any():
        roots = above
    return roots


def numbered(roots: Labels) -> Labels:
    """The label of each node, from the least member of its cluster."""
    return (np.cumsum(roots == np.arange(len(roots))) - 1)[roots]


def _largest_after_each(places: Sequence[int], total: int) -> list[int]:
    """The longest stretch once each of these places, one after the other, is joined to the place before it."""
    first, last = list(range(total)), list(range(total))
    most, largest = 1, []
    for place in places:
        start, end = first[place - 1], last[place]
        last[start], first[end] = end, start
        most = max(most, end - start + 1)
        largest.append(most)
    return largest
