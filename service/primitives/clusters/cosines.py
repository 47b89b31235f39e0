"""Cosines between the rows of a matrix, and from where on they count as similar."""

from collections.abc import Iterator
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.primitives.steps import Steps

Vectors: TypeAlias = NDArray[np.floating[Any]]
Rows: TypeAlias = NDArray[np.float64]
Block: TypeAlias = tuple[slice, slice]

TOLERANCE = 1e-6
"""Two vectors are similar if their cosine is at least tau less this: equal ones must be at tau = 1."""

DECIMALS = 12
"""Cosines are rounded to these, coarser than the noise of their summation: what ties on paper ties here."""

_SCALE = 10.0**DECIMALS

_FLOAT32_STEP = 2.0**-23

_MAX_SIDE = 512
_PRODUCTS = 100_000_000
"""Multiplications in a step: some 5 ms of one core."""

_CELLS = 200_000
"""Numbers in a step that reads them: 1 ms."""

_LEAST_SQUARE = 1e-200
"""Where the square of a length is under it or over its inverse, squares of the numbers may vanish or overflow."""


def threshold(tau: float) -> float:
    """What a cosine must reach, rounded or not, to be tau - TOLERANCE or more once it is rounded to DECIMALS."""
    return round((tau - TOLERANCE) * _SCALE) / _SCALE - 0.5 / _SCALE


def thresholds(taus: NDArray[np.float64]) -> NDArray[np.float64]:
    """The threshold at each tau."""
    return np.rint((taus - TOLERANCE) * _SCALE) / _SCALE - 0.5 / _SCALE


def unit_rows(vectors: Vectors) -> Steps[Rows]:
    """The rows at length 1; those of zeros share a dimension of their own: cosine 1 among them, 0 with any other."""
    unit = np.empty(vectors.shape)
    some_blank = False
    for block in slices(len(vectors), rows_at_once(vectors.shape[1])):
        rows = unit[block]
        rows[:] = vectors[block]
        some_blank |= _rescale(rows)
        yield
    return np.column_stack([unit, ~unit.any(axis=1)]) if some_blank else unit


def _rescale(rows: Rows) -> bool:
    """Bring rows to length 1 where they are, except for those of zeros, and tell whether there are some."""
    with np.errstate(over="ignore"):
        squares = np.vecdot(rows, rows)
    if squares.min() > _LEAST_SQUARE and squares.max() < 1 / _LEAST_SQUARE:
        rows *= (1 / np.sqrt(squares))[:, None]
        return False
    sizes = np.abs(rows).max(axis=1, keepdims=True)
    np.divide(rows, sizes, out=rows, where=sizes > 0)
    np.divide(rows, np.linalg.norm(rows, axis=1, keepdims=True), out=rows, where=sizes > 0)
    return not sizes.all()


def cosine_matrix(unit: Rows, side: int | None = None) -> Steps[Rows]:
    """All cosines between rows of length 1, rounded to DECIMALS; symmetric. `side` is that of a step's block."""
    side = side or side_for(unit)
    if len(unit) <= side:
        return (unit @ unit.T).round(DECIMALS)
    cosines = np.empty((len(unit), len(unit)))
    for rows, columns in blocks(len(unit), side):
        block = (unit[rows] @ unit[columns].T).round(DECIMALS)
        cosines[rows, columns] = block
        cosines[columns, rows] = block.T
        yield
    return cosines


def rows_at_once(width: int) -> int:
    """How many rows of so many numbers take one short step to read."""
    return max(1, _CELLS // width)


def side_for(unit: Rows) -> int:
    """The side of a block of cosines that takes one short step."""
    return max(1, min(_MAX_SIDE, isqrt(_PRODUCTS // unit.shape[1])))


def float32_error(unit: Rows) -> float:
    """How much two cosines in float32 may be off against each other, or one against a bound.

    However its products are added up, a float32 cosine of d terms errs by no more than d + 3 half steps (Higham 2002,
    section 3.1): twice that.
    """
    return float((unit.shape[1] + 3) * _FLOAT32_STEP)


def blocks(count: int, side: int) -> Iterator[Block]:
    """Rows and columns of the blocks that cover the upper triangle of a square, row by row."""
    for rows in slices(count, side):
        for columns in slices(count, side, rows.start):
            yield rows, columns


def slices(count: int, side: int, start: int = 0) -> Iterator[slice]:
    """The parts of start to count, `side` long each but the last."""
    for at in range(start, count, side):
        yield slice(at, min(at + side, count))
