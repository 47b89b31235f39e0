"""Cosines of vectors as they come: lists of numbers, of any length but 0."""

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.primitives import RuleFault
from service.primitives.clusters.cosines import DECIMALS, slices
from service.primitives.steps import Steps

NUMBERS_AT_ONCE = 100_000
"""Numbers of lists that are read between two pauses: some 2 ms."""

Vectors: TypeAlias = Sequence[Sequence[float]] | NDArray[np.floating]
Unit: TypeAlias = NDArray[np.float64]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, in [-1, 1]; 0 where one of them is zero.

    It is rounded to DECIMALS, so that equal vectors have 1. RuleFault invalid_embedding where they differ in length or
    have none.
    """
    return cosines([one], [other])[0][0]


def cosines(rows: Vectors, columns: Vectors) -> list[list[float]]:
    """The cosines of each row with each column, as `cosine` has them."""
    require_one_length((*rows, *columns))
    return _rounded(_units(rows) @ _units(columns).T).tolist()  # type: ignore[no-any-return]


def paired_cosines(rows: Vectors, others: Vectors) -> list[float]:
    """The cosine of each row with the other in its place, as `cosine` has them."""
    return _rounded(np.einsum("ij,ij->i", _units(rows), _units(others))).tolist()  # type: ignore[no-any-return]


def unit(vector: Sequence[float]) -> Unit:
    """The vector at length 1, for `cosine_of_units`; one of zeros stays as it is. RuleFault where it has no numbers."""
    require_one_length([vector])
    return _units([vector])[0]  # type: ignore[no-any-return]


def cosine_of_units(one: Unit, other: Unit) -> float:
    """The cosine of two vectors that `unit` made, as `cosine` has it."""
    require_one_length([one, other])
    return float(_rounded(one @ other))


def stacked(vectors: Sequence[Sequence[float]]) -> Steps[Unit]:
    """An array of lists of one length, read in short steps."""
    row = Struct(f"{len(vectors[0])}d")  # takes half the time that numpy takes to read lists
    packed = bytearray(len(vectors) * row.size)
    for block in slices(len(vectors), max(1, NUMBERS_AT_ONCE // len(vectors[0]))):
        for place in range(block.start, block.stop):
            row.pack_into(packed, place * row.size, *vectors[place])
        yield
    return np.frombuffer(packed).reshape(len(vectors), -1)


def rescaled(cosine: float, floor: float) -> float:
    """How far a cosine is on the way from `floor` (0, and 0 below) to 1; `floor` is under 1. Source: autoevals."""
    return min(1.0, max(0.0, (cosine - floor) / (1.0 - floor)))


def require_one_length(vectors: Iterable[Sequence[float] | Unit]) -> None:
    """RuleFault invalid_embedding unless all have the same number of numbers, and at least one."""
    lengths = set(map(len, vectors))
    if len(lengths) > 1:
        raise RuleFault("invalid_embedding", f"vectors of {min(lengths)} and {max(lengths)} numbers cannot be compared")
    if lengths == {0}:
        raise RuleFault("invalid_embedding", "a vector without numbers cannot be compared")


def _rounded(products: Unit) -> Unit:
    return np.clip(np.round(products, DECIMALS) + 0.0, -1.0, 1.0)


def _units(vectors: Vectors) -> Unit:
    """Rows of length 1; a row of zeros stays one."""
    rows = np.array(vectors, dtype=np.float64)
    # the largest first, since squares of what a double holds may not fit in one
    rows /= _or_one(np.abs(rows).max(axis=1, keepdims=True))
    rows /= _or_one(np.linalg.norm(rows, axis=1, keepdims=True))
    return rows


def _or_one(sizes: Unit) -> Unit:
    return np.where(sizes == 0.0, 1.0, sizes)
