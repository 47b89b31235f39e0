"""How two elements, texts or numbers are scored inside a larger comparison, by the name of an evaluator."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal

from service.core.asking import Judging, Need
from service.primitives import RuleFault
from service.primitives.assignment import (
    MAX_SCORED_PAIRS,
    Matrix,
    best_pairs,
    refuse_long_lists,
    similarity_matrix,
)
from service.primitives.diff import compare
from service.primitives.distance import MAX_CELLS, closeness, levenshtein_similarity
from service.primitives.equality import equal, equal_as_values
from service.primitives.jsontext import as_text
from service.primitives.numbers import is_number, read_number
from service.primitives.vectors import Unit, cosine_of_units, cosines, rescaled, unit
from service.scorers.similarity import FLOOR

PairScorer = Literal["levenshtein", "exact_match", "numeric_diff", "json_diff", "embedding_similarity"]

MAX_JSON_WORK = 100_000_000

Pair = tuple[Any, Any, float]


def pairs_of(found: list[Any], wanted: list[Any], scorer: PairScorer) -> list[Pair]:
    """The one-to-one pairs (found, wanted, similarity) whose similarities have the greatest sum."""
    if not found or not wanted:
        return []
    return _best(found, wanted, _matrix(found, wanted, scorer))


def pairs_by_meaning(found: list[Any], wanted: list[Any]) -> Judging[tuple[list[Pair], str | None]]:
    """The same by the vectors of the elements' texts, and who made those; null has no text, and no vector."""
    if not found or not wanted:
        return [], None
    refuse_long_lists(len(found), len(wanted), MAX_SCORED_PAIRS)
    sides = [[None if one is None else as_text(one) for one in side] for side in (found, wanted)]
    texts = [list(dict.fromkeys(text for text in side if text is not None)) for side in sides]
    near: list[list[float]] = []
    model = None
    if all(texts):
        told = yield Need(vectors=tuple(dict.fromkeys(chain(*texts))))
        # of each text once: it may stand in a list many times, and its vector may be long
        near, model = cosines(*([told.vectors[text] for text in side] for side in texts)), told.model
    return _best(found, wanted, _by_place(near, texts, sides)), model


def _by_place(near: list[list[float]], texts: list[list[str]], sides: list[list[str | None]]) -> list[list[float]]:
    """The similarities of all elements from the cosines of their texts; null is like null and like nothing else."""
    rows, columns = ({text: place for place, text in enumerate(side)} for side in texts)
    nulls = [float(other is None) for other in sides[1]]
    of_texts = {
        one: [0.0 if other is None else rescaled(near[row][columns[other]], FLOOR) for other in sides[1]]
        for one, row in rows.items()
    }
    return [nulls if one is None else of_texts[one] for one in sides[0]]


def _best(found: list[Any], wanted: list[Any], matrix: Matrix) -> list[Pair]:
    return [(found[i], wanted[j], float(matrix[i][j])) for i, j in best_pairs(matrix)]


def _matrix(found: list[Any], wanted: list[Any], scorer: PairScorer) -> Matrix:
    if scorer == "levenshtein":
        refuse_long_lists(len(found), len(wanted))
        return _text_matrix(found, wanted)
    refuse_long_lists(len(found), len(wanted), MAX_SCORED_PAIRS)
    if scorer == "numeric_diff":
        found, wanted = list(map(_as_number, found)), list(map(_as_number, wanted))
    else:
        _refuse_large(found, wanted)
    score = PAIR_SCORERS[scorer]
    return [[score(one, other) for other in wanted] for one in found]


def _text_matrix(found: list[Any], wanted: list[Any]) -> Matrix:
    texts = [["" if one is None else as_text(one) for one in side] for side in (found, wanted)]
    matrix = similarity_matrix(*texts)
    _set_nulls_apart(matrix, found, wanted)
    return matrix


def _set_nulls_apart(matrix: Any, found: list[Any], wanted: list[Any]) -> None:
    """Null is no text: it is like null and like nothing else."""
    for row, one in enumerate(found):
        for column, other in enumerate(wanted):
            if one is None or other is None:
                matrix[row][column] = float(one is other)


def _refuse_large(found: list[Any], wanted: list[Any]) -> None:
    """Each element is read once for every element of the other list."""
    sizes = [sum(len(as_text(one)) for one in side) for side in (found, wanted)]
    if sizes[0] * sizes[1] > MAX_JSON_WORK:
        detail = f"lists of {sizes[0]:,} and {sizes[1]:,} characters are too long to compare each with each"
        raise RuleFault("limit_exceeded", detail)


def _by_distance(one: Any, other: Any) -> float:
    return levenshtein_similarity(as_text(one), as_text(other))


def _by_equality(one: Any, other: Any) -> float:
    return float(equal_as_values(one, other, texts_equal=str.__eq__))


def _by_closeness(one: Any, other: Any) -> float:
    a, b = _as_number(one), _as_number(other)
    return closeness(a, b) if is_number(a) and is_number(b) else float(equal(one, other))


def _as_number(value: Any) -> Any:
    """The number in a text, else the value."""
    number = read_number(value) if isinstance(value, str) else None
    return value if number is None else number


def _by_structure(one: Any, other: Any) -> float:
    return compare(
        one,
        other,
        text_score=MeteredDistance(),
        number_score=closeness,
        preserve_strings=False,
        missing_is_null=True,
    ).score


PAIR_SCORERS: dict[PairScorer, Callable[[Any, Any], float]] = {
    "exact_match": _by_equality,
    "numeric_diff": _by_closeness,
    "json_diff": _by_structure,
}


class Meanings:
    """Scores texts by their vectors: at first it only notes which are wanted, then it has been told them."""

    def __init__(self) -> None:
        self.wanted: dict[str, None] = {}
        self.vectors: Mapping[str, Sequence[float]] = {}
        self._units: dict[str, Unit] = {}

    def __call__(self, one: str, other: str) -> float:
        """The similarity, or 0 as long as the vectors are not known. Equal texts need none."""
        if one == other:
            return 1.0
        if one in self.vectors and other in self.vectors:
            return rescaled(cosine_of_units(self._unit(one), self._unit(other)), FLOOR)
        self.wanted |= {one: None, other: None}
        return 0.0

    def _unit(self, text: str) -> Unit:
        made = self._units.get(text)
        if made is None:
            made = self._units[text] = unit(self.vectors[text])
        return made


class MeteredDistance:
    """Levenshtein similarity, until all comparisons together have taken too much."""

    def __init__(self) -> None:
        self._cells = MAX_CELLS

    def __call__(self, one: str, other: str) -> float:
        """RuleFault limit_exceeded when it is used up."""
        if one != other:
            self._cells -= len(one) * len(other)
        if self._cells < 0:
            raise RuleFault("limit_exceeded", "the texts of the two documents are too long together to be compared")
        return levenshtein_similarity(one, other)


TEXT_SCORERS: dict[str, Callable[[str, str], float]] = {
    "exact_match": lambda one, other: float(one == other),
    "numeric_diff": _by_closeness,
}

NUMBER_SCORERS: dict[str, Callable[[int | float, int | float], float]] = {
    "numeric_diff": closeness,
    "exact_match": lambda one, other: float(equal(one, other)),
    "levenshtein": _by_distance,
}
