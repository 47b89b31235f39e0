"""What a cluster looks like from inside."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.primitives.clusters.cosines import (
    DECIMALS,
    Block,
    Rows,
    blocks,
    float32_error,
    rows_at_once,
    side_for,
    slices,
    threshold,
)
from service.primitives.clusters.tree import Members, labelled
from service.primitives.steps import Steps

_SAME_MEAN = 10.0**-DECIMALS
"""Means of cosines that differ by no more are equal: cosines that are rounded are off by half of it."""


Places: TypeAlias = NDArray[np.intp]
"""The members of a cluster."""


class Cluster(NamedTuple):
    """A cluster by its members, rising.

    `medoid` is the member with the largest sum of cosines to the others, the first of equals. `smallest` is the
    smallest cosine between members, 1 for a single one; `chained` is true if that is not similar at tau.
    """

    members: Members
    medoid: int
    smallest: float
    chained: bool


def shapes(unit: Rows, clusters: Sequence[Members], tau: float, side: int | None = None) -> Steps[list[Cluster]]:
    """The shape of each cluster of rows of length 1. Holds one block of cosines at a time."""
    least, side = threshold(tau), side or side_for(unit)
    found = []
    for members in clusters:
        places = np.array(members)
        medoid = yield from _medoid(unit, places, side)
        smallest = yield from _smallest(unit, places, side)
        found.append(Cluster(members, medoid, smallest, smallest < least))
    return found


def shapes_in(cosines: Rows, clusters: Sequence[Members], tau: float) -> Steps[list[Cluster]]:
    """The same from a matrix of all cosines, rounded to DECIMALS."""
    labels = labelled(clusters)
    sums: list[float] = []
    lows: list[float] = []
    for rows in slices(len(labels), rows_at_once(len(labels))):
        shared = labels[rows, None] == labels
        sums += (cosines[rows] * shared).sum(axis=1).tolist()
        lows += np.where(shared, cosines[rows], 1.0).min(axis=1).tolist()
        yield
    least = threshold(tau)
    return [_described(members, sums, lows, least) for members in clusters]


def _described(members: Members, sums: list[float], lows: list[float], least: float) -> Cluster:
    if len(members) == 1:
        return Cluster(members, members[0], 1.0, chained=False)
    smallest = min([lows[member] for member in members]) + 0.0
    if len(members) == 2:
        return Cluster(members, members[0], smallest, smallest < least)
    bar = max([sums[member] for member in members]) - _SAME_MEAN * len(members)
    medoid = next(member for member in members if sums[member] >= bar)
    return Cluster(members, medoid, smallest, smallest < least)


def _medoid(unit: Rows, members: Places, side: int) -> Steps[int]:
    if len(members) <= 2:
        return int(members[0])
    parts = [members[part] for part in slices(len(members), side)]
    centre = np.zeros(unit.shape[1])
    for part in parts:
        centre += unit[part].sum(axis=0)
        yield
    sums = []
    for part in parts:
        sums.append(np.vecdot(unit[part], centre))
        yield
    all_sums = np.concatenate(sums)
    return int(members[(all_sums >= all_sums.max() - _SAME_MEAN * len(members)).argmax()])


def _smallest(unit: Rows, members: Places, side: int) -> Steps[float]:
    if len(members) == 1:
        return 1.0
    if len(members) > side:
        members = yield from _distinct(unit, members)
    parts = list(blocks(len(members), side))
    if len(parts) > 1:
        parts = yield from _lowest(unit, members, parts)
    smallest = 1.0
    for rows, columns in parts:
        cosines = unit[members[rows]] @ unit[members[columns]].T
        smallest = min(smallest, float(cosines.min()))
        yield
    return round(smallest, DECIMALS) + 0.0


def _distinct(unit: Rows, members: Places) -> Steps[Places]:
    """One of each row that several members share: else all their cosines would tie for the smallest."""
    found: dict[bytes, int] = {}
    for part in slices(len(members), rows_at_once(unit.shape[1])):
        found |= {unit[member].tobytes(): member for member in members[part].tolist()}
        yield
    return np.array(list(found.values()))


def _lowest(unit: Rows, members: Places, parts: list[Block]) -> Steps[list[Block]]:
    """The blocks that may hold the smallest cosine, as far as float32 can tell."""
    short = unit[members].astype(np.float32)
    minima = []
    for rows, columns in parts:
        minima.append(float((short[rows] @ short[columns].T).min()))
        yield
    most = min(minima) + float32_error(unit)
    return [part for part, low in zip(parts, minima, strict=True) if low <= most]
