"""How two elements, texts or numbers are scored inside a larger comparison, by the name of an evaluator."""

from collections.abc import Callable
from typing import Any, Literal

from service.primitives import RuleFault
from service.primitives.assignment import Matrix, best_pairs, refuse_long_lists, similarity_matrix
from service.primitives.diff import compare
from service.primitives.distance import closeness, levenshtein_similarity
from service.primitives.equality import equal, equal_as_values
from service.primitives.jsontext import as_text
from service.primitives.numbers import is_number, read_number

PairScorer = Literal["levenshtein", "exact_match", "numeric_diff", "json_diff"]

MAX_JSON_WORK = 100_000_000

Pair = tuple[Any, Any, float]


def pairs_of(found: list[Any], wanted: list[Any], scorer: PairScorer) -> list[Pair]:
    """The one-to-one pairs (found, wanted, similarity) whose similarities have the greatest sum."""
    if not found or not wanted:
        return []
    matrix = _matrix(found, wanted, scorer)
    return [(found[i], wanted[j], float(matrix[i][j])) for i, j in best_pairs(matrix)]


def _matrix(found: list[Any], wanted: list[Any], scorer: PairScorer) -> Matrix:
    refuse_long_lists(len(found), len(wanted))
    if scorer == "levenshtein" and None not in found and None not in wanted:
        return similarity_matrix([as_text(one) for one in found], [as_text(one) for one in wanted])
    if scorer == "json_diff":
        _refuse_large(found, wanted)
    score = PAIR_SCORERS[scorer]
    return [[score(one, other) for other in wanted] for one in found]


def _refuse_large(found: list[Any], wanted: list[Any]) -> None:
    """Each is walked once for every element of the other list, and their texts are compared."""
    sizes = [sum(len(as_text(one)) for one in side) for side in (found, wanted)]
    if sizes[0] * sizes[1] > MAX_JSON_WORK:
        detail = f"lists of {sizes[0]:,} and {sizes[1]:,} characters are too long to compare by json_diff"
        raise RuleFault("limit_exceeded", detail)


def _by_distance(one: Any, other: Any) -> float:
    """Null is no text: it is like null and like nothing else."""
    if one is None or other is None:
        return float(one is other)
    return levenshtein_similarity(as_text(one), as_text(other))


def _by_equality(one: Any, other: Any) -> float:
    return float(equal_as_values(one, other, texts_equal=str.__eq__))


def _by_closeness(one: Any, other: Any) -> float:
    a, b = (read_number(side) if isinstance(side, str) else side for side in (one, other))
    return closeness(a, b) if is_number(a) and is_number(b) else 0.0


def _by_structure(one: Any, other: Any) -> float:
    return compare(
        one,
        other,
        text_score=levenshtein_similarity,
        number_score=closeness,
        preserve_strings=False,
        missing_is_null=True,
    ).score


PAIR_SCORERS: dict[PairScorer, Callable[[Any, Any], float]] = {
    "levenshtein": _by_distance,
    "exact_match": _by_equality,
    "numeric_diff": _by_closeness,
    "json_diff": _by_structure,
}

TEXT_SCORERS: dict[str, Callable[[str, str], float]] = {
    "levenshtein": levenshtein_similarity,
    "exact_match": lambda one, other: float(one == other),
    "numeric_diff": _by_closeness,
}

NUMBER_SCORERS: dict[str, Callable[[int | float, int | float], float]] = {
    "numeric_diff": closeness,
    "exact_match": lambda one, other: float(equal(one, other)),
    "levenshtein": _by_distance,
}
