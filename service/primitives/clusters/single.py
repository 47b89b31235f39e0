"""Single linkage: two vectors share a cluster if a chain of similar ones leads from one to the other."""

import numpy as np
from numpy import inf, maximum, minimum
from numpy.typing import NDArray

from service.primitives.clusters.cosines import Rows, blocks, float32_error, side_for, threshold
from service.primitives.clusters.tree import Labels, Tree, compressed, numbered
from service.primitives.steps import Steps

_FEW = 100
"""Up to so many nodes a tree takes one short step: some 0.2 ms."""


def components(unit: Rows, tau: float, side: int | None = None) -> Steps[Labels]:
    """The cluster of each row at this tau, numbers from 0 by first appearance; the rows have length 1.

    In memory for the rows in float32 and one block of cosines, with sides of `side`. Blocks whose rows share a
    cluster already are not computed.
    """
    least = threshold(tau)
    short = unit.astype(np.float32)
    roots = np.arange(len(unit))
    for rows, columns in blocks(len(unit), side or side_for(unit)):
        if not _are_one(roots[rows], roots[columns]):
            similar = _similar(unit, short, rows, columns, least)
            yield
            if rows == columns:  # most of its pairs at once
                roots[rows] = minimum(roots[rows], rows.start + similar.argmax(axis=1))
                roots = compressed(roots)
            one, other = np.nonzero(similar & (roots[rows, None] != roots[None, columns]))
            roots = _joined(roots, one + rows.start, other + columns.start)
            yield
    return numbered(roots)


def spanning_tree(cosines: Rows) -> Steps[Tree]:
    """The nodes in the order in which Prim's algorithm (1957) takes them, in O(n^2) time.

    It takes all of a cluster, at any tau, before any node outside it.
    """
    count = len(cosines)
    best = np.full(count, -inf)
    most = np.full(count, inf)
    node = 0
    order, heights = [node], [-inf]
    for _ in range(count - 1):
        most[node] = -inf
        maximum(best, cosines[node], out=best)
        minimum(best, most, out=best)
        node = int(best.argmax())
        order.append(node)
        heights.append(best.item(node) + 0.0)
        if count > _FEW:
            yield
    return Tree(order, heights)


def _similar(unit: Rows, short: NDArray[np.float32], rows: slice, columns: slice, least: float) -> NDArray[np.bool_]:
    """Which cosines reach `least`, decided in float64 for the rows where float32 leaves a doubt."""
    cosines = short[rows] @ short[columns].T
    error = float32_error(unit)
    similar, doubtful = cosines >= least + error, cosines >= least - error
    if np.count_nonzero(similar) < np.count_nonzero(doubtful):
        doubt = (similar != doubtful).any(axis=1)
        similar[doubt] = unit[rows][doubt] @ unit[columns].T >= least
    return similar


def _are_one(one: Labels, other: Labels) -> bool:
    first = one[0]
    return first == one[-1] == other[-1] and bool((one == first).all() and (other == first).all())


def _joined(roots: Labels, one: Labels, other: Labels) -> Labels:
    """The roots once these pairs share a cluster: each hangs the greater root under the least it meets."""
    while len(one):
        low, high = np.minimum(roots[one], roots[other]), np.maximum(roots[one], roots[other])
        np.minimum.at(roots, high, low)
        roots = compressed(roots)
        apart = roots[one] != roots[other]
        one, other = one[apart], other[apart]
    return roots
