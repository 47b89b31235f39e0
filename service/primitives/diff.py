"""How near two JSON documents are, leaf by leaf, and where they differ."""

from collections.abc import Callable
from math import fsum
from typing import Any, NamedTuple

from service.primitives import RuleFault
from service.primitives.equality import equal
from service.primitives.jsontext import NotJson, compact, decode, pointer

MAX_DIFFERENCES = 100

Steps = tuple[str | int, ...]
TextScore = Callable[[str, str], float | None]
NumberScore = Callable[[int | float, int | float], float | None]

_ABSENT: Any = object()


class Comparison(NamedTuple):
    """The score in 0..1, the first hundred places that differ, and how many there are.

    A difference is `{"pointer", "score", "output", "expected"}`; a side that lacks the place has no key.
    """

    score: float
    differences: list[dict[str, Any]]
    total: int


def compare(
    output: Any,
    expected: Any,
    *,
    text_score: TextScore,
    number_score: NumberScore,
    preserve_strings: bool,
    missing_is_null: bool,
) -> Comparison:
    """Compare an output with what was expected.

    Objects score the mean over the union of their keys, lists the sum by position over the longer length; a sub-score
    of None is left out of both. Texts that hold an object or list count as that unless `preserve_strings`. Unequal
    booleans score 0, as does a boolean against a number; other mixed types meet as compact JSON text.
    """
    walk = _Walk(text_score, number_score, preserve_strings, missing_is_null)
    try:
        score = walk.score(output, expected, ())
    except RecursionError:
        raise RuleFault("limit_exceeded", "JSON in texts inside JSON nests too deep to be compared") from None
    return Comparison(1.0 if score is None else score, walk.differences, walk.count)


class _Walk:
    def __init__(
        self, text_score: TextScore, number_score: NumberScore, preserve_strings: bool, missing_is_null: bool
    ) -> None:
        self.differences: list[dict[str, Any]] = []
        self.count = 0
        self._text_score = text_score
        self._number_score = number_score
        self._preserve_strings = preserve_strings
        self._missing_is_null = missing_is_null

    def score(self, one: Any, other: Any, steps: Steps) -> float | None:
        """The score at a place; None where its scorer abstained."""
        if not self._preserve_strings:
            one, other = _parsed(one), _parsed(other)
        if isinstance(one, dict) and isinstance(other, dict):
            return self._objects(one, other, steps)
        if isinstance(one, list) and isinstance(other, list):
            return self._lists(one, other, steps)
        score = self._leaf(one, other)
        if score != 1 or one is _ABSENT or other is _ABSENT:
            self._note(one, other, score, steps)
        return score

    def _objects(self, one: dict[str, Any], other: dict[str, Any], steps: Steps) -> float | None:
        keys = [*one, *(key for key in other if key not in one)]
        scores = [self.score(one.get(key, _ABSENT), other.get(key, _ABSENT), (*steps, key)) for key in keys]
        return _mean(scores)

    def _lists(self, one: list[Any], other: list[Any], steps: Steps) -> float | None:
        scores = [self.score(a, b, (*steps, index)) for index, (a, b) in enumerate(zip(one, other, strict=False))]
        shared = len(scores)
        for index, value in enumerate(one[shared:], shared):
            self._note(value, _ABSENT, 0.0, (*steps, index))
        for index, value in enumerate(other[shared:], shared):
            self._note(_ABSENT, value, 0.0, (*steps, index))
        return _mean([*scores, *[0.0] * (max(len(one), len(other)) - shared)])

    def _leaf(self, one: Any, other: Any) -> float | None:
        if one is _ABSENT or other is _ABSENT:
            return float(self._missing_is_null and (one is None or other is None))
        if isinstance(one, str) and isinstance(other, str):
            return self._text_score(one, other)
        if one is None or other is None:
            return float(one is other)
        if isinstance(one, bool) or isinstance(other, bool):
            return self._boolean(one, other)
        if isinstance(one, int | float) and isinstance(other, int | float):
            return self._number_score(one, other)
        return self._text_score(compact(one), compact(other))

    def _boolean(self, one: Any, other: Any) -> float | None:
        kinds = bool | int | float
        if isinstance(one, kinds) and isinstance(other, kinds):
            return float(equal(one, other))
        return self._text_score(compact(one), compact(other))

    def _note(self, one: Any, other: Any, score: float | None, steps: Steps) -> None:
        self.count += 1
        if self.count > MAX_DIFFERENCES:
            return
        difference: dict[str, Any] = {"pointer": pointer(steps), "score": score}
        if one is not _ABSENT:
            difference["output"] = one
        if other is not _ABSENT:
            difference["expected"] = other
        self.differences.append(difference)


def _parsed(value: Any) -> Any:
    """The object or list in a text, else the value; only a text that begins like one is tried."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return decode(value)
    except NotJson:
        return value


def _mean(scores: list[float | None]) -> float | None:
    """Over the scores there are; 1 for an empty container, None where every one abstained."""
    if not scores:
        return 1.0
    given = [score for score in scores if score is not None]
    return fsum(given) / len(given) if given else None
