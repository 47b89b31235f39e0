"""What a cluster looks like from inside."""

from typing import NamedTuple

import numpy as np

from service.primitives.clusters.cosines import (
    DECIMALS,
    Block,
    Rows,
    blocks,
    float32_error,
    side_for,
    slices,
    threshold,
)
from service.primitives.clusters.tree import Labels
from service.primitives.steps import Steps


class Cluster(NamedTuple):
    """Rows of one label.

    `medoid` is the member with the largest sum of cosines to the others, the first of equals. `smallest` is the
    smallest cosine between members, 1 for a single one; `chained` is true if that is not similar at tau.
    """

    members: list[int]
    medoid: int
    smallest: float
    chained: bool


def shapes(unit: Rows, labels: Labels, tau: float, side: int | None = None) -> Steps[list[Cluster]]:
    """The clusters in the order of their labels, which count from 0; the rows have length 1."""
    least, side = threshold(tau), side or side_for(unit)
    clusters = []
    for members in _members(labels):
        medoid = yield from _medoid(unit, members, side)
        smallest = yield from _smallest(unit, members, side)
        clusters.append(Cluster(members.tolist(), medoid, smallest, smallest < least))
    return clusters


def _members(labels: Labels) -> list[Labels]:
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def _medoid(unit: Rows, members: Labels, side: int) -> Steps[int]:
    if len(members) <= 2:
        return int(members[0])
    parts = [members[part] for part in slices(len(members), side)]
    centre = np.zeros(unit.shape[1])
    for part in parts:
        centre += unit[part].sum(axis=0)
        yield
    means = []
    for part in parts:
        means.append(np.vecdot(unit[part], centre) / len(members))
        yield
    return int(members[np.round(np.concatenate(means), DECIMALS).argmax()])


def _smallest(unit: Rows, members: Labels, side: int) -> Steps[float]:
    if len(members) == 1:
        return 1.0
    parts = list(blocks(len(members), side))
    if len(parts) > 1:
        parts = yield from _lowest(unit, members, parts)
    smallest = 1.0
    for rows, columns in parts:
        cosines = unit[members[rows]] @ unit[members[columns]].T
        smallest = min(smallest, float(cosines.min()))
        yield
    return round(smallest, DECIMALS) + 0.0


def _lowest(unit: Rows, members: Labels, parts: list[Block]) -> Steps[list[Block]]:
    """The blocks that may hold the smallest cosine, as far as float32 can tell."""
    short = unit[members].astype(np.float32)
    minima = []
    for rows, columns in parts:
        minima.append(float((short[rows] @ short[columns].T).min()))
        yield
    most = min(minima) + float32_error(unit)
    return [part for part, low in zip(parts, minima, strict=True) if low <= most]
