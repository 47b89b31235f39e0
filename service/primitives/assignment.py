"""One-to-one pairs whose similarities have the greatest sum."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from service.primitives import RuleFault
from service.primitives.distance import MAX_CELLS

MAX_PAIRS = 1_000_000
MAX_SCORED_PAIRS = 100_000

Matrix: TypeAlias = Sequence[Sequence[float]] | NDArray[np.float64]


def best_pairs(matrix: Matrix) -> list[tuple[int, int]]:
    """The pairs (row, column), by row, of an optimal assignment: Kuhn 1955, in O(n^3)."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - few need it, and it loads slowly

    rows, columns = linear_sum_assignment(np.asarray(matrix, dtype=np.float64), maximize=True)
    return sorted(zip(rows.tolist(), columns.tolist(), strict=True))


def similarity_matrix(rows: Sequence[str], columns: Sequence[str]) -> NDArray[np.float64]:
    """The Levenshtein similarity of each row with each column, computed outside the interpreter lock.

    RuleFault limit_exceeded where all texts together are too long.
    """
    cells = sum(map(len, rows)) * sum(map(len, columns))
    if cells > MAX_CELLS:
        raise RuleFault("limit_exceeded", "the elements of the two lists are too long to compare each with each")
    return process.cdist(rows, columns, scorer=Levenshtein.normalized_similarity, dtype=np.float64)


def refuse_long_lists(rows: int, columns: int, most: int = MAX_PAIRS) -> None:
    """RuleFault limit_exceeded where two lists make more pairs than are compared."""
    if rows * columns > most:
        detail = f"lists of {rows:,} and {columns:,} elements make more than {most:,} pairs"
        raise RuleFault("limit_exceeded", detail)
