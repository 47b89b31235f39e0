"""Cosines of vectors as they come: lists of numbers, of any length but 0."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.primitives import RuleFault

Vectors = Sequence[Sequence[float]]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, in [-1, 1]; 0 where one of them is zero.

    RuleFault invalid_embedding where they differ in length or have none.
    """
    return cosines([one], [other])[0][0]


def cosines(rows: Vectors, columns: Vectors) -> list[list[float]]:
    """The cosines of each row with each column, as `cosine` has them."""
    lengths = sorted({len(vector) for vector in (*rows, *columns)})
    if len(lengths) > 1:
        raise RuleFault("invalid_embedding", f"vectors of {lengths[0]} and {lengths[1]} numbers cannot be compared")
    if lengths == [0]:
        raise RuleFault("invalid_embedding", "a vector without numbers cannot be compared")
    products = _unit(rows) @ _unit(columns).T
    return np.clip(products, -1.0, 1.0).tolist()  # type: ignore[no-any-return]


def rescaled(cosine: float, floor: float) -> float:
    """How far a cosine is on the way from `floor` (0, and 0 below) to 1; `floor` is under 1. Source: autoevals."""
    return min(1.0, max(0.0, (cosine - floor) / (1.0 - floor)))


def _unit(vectors: Vectors) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays one."""
    rows = np.array(vectors, dtype=np.float64)
    # the largest first, since squares of what a double holds may not fit in one
    rows /= _or_one(np.abs(rows).max(axis=1, keepdims=True))
    rows /= _or_one(np.linalg.norm(rows, axis=1, keepdims=True))
    return rows


def _or_one(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(sizes == 0.0, 1.0, sizes)
