"""Scorers that give a share between 0 and 1."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from service.core.asking import Judging, Need
from service.core.case import Case
from service.core.evaluator import Evaluator, Example, Expected, Spec, Verdict
from service.primitives import RuleFault
from service.primitives.diff import Comparison, TextScore, compare
from service.primitives.distance import closeness, levenshtein_similarity
from service.primitives.jsontext import NotJson, as_text, decode, is_json
from service.primitives.numbers import is_number, read_number
from service.primitives.text import normalize, shown
from service.scorers.comparison import Normalize
from service.scorers.pairing import (
    NUMBER_SCORERS,
    TEXT_SCORERS,
    Meanings,
    MeteredDistance,
    Pair,
    PairScorer,
    pairs_by_meaning,
    pairs_of,
)

NumberScorer = Literal["numeric_diff", "exact_match", "levenshtein"]
TextScorer = Literal["levenshtein", "exact_match", "numeric_diff", "embedding_similarity"]


class Levenshtein(Evaluator, frozen=True):
    """The text is close to `expected` by edit distance.

    score = 1 - distance / length of the longer text; two empty texts score 1. Insertions, deletions and substitutions
    cost 1, units are code points, nothing is normalised unless asked. Source: Levenshtein 1966, scaled as in autoevals.
    """

    spec = Spec(
        family="text",
        graded=True,
        heavy=True,
        examples=(
            Example(params={"expected": "kitten"}, case=Case(output="sitting"), status="passed", score=1 - 3 / 7),
            Example(params={"expected": "yes"}, case=Case(output="no"), status="failed", score=0.0),
        ),
    )

    expected: Expected | UnsetType = UNSET
    normalize: Normalize = ()

    def judge(self, value: Any, expected: Any) -> Verdict:
        text, wanted = (normalize(as_text(one), self.normalize) for one in (value, expected))
        score = levenshtein_similarity(text, wanted)
        fact = f"similarity {score:.4g} of {shown(text)} and {shown(wanted)}"
        return Verdict(score=score, fact=fact, details={"normalize": list(self.normalize)})


class NumericDiff(Evaluator, frozen=True):
    """The number is close to `expected`, relative to both.

    score = 1 - |e - o| / (|e| + |o|), and 1 if both are 0: twice the value scores 2/3, the opposite sign 0. A text that
    is a JSON number counts as that number; anything else is error/invalid_type. Source: autoevals NumericDiff.
    """

    spec = Spec(
        family="numbers",
        graded=True,
        examples=(
            Example(params={"expected": 100}, case=Case(output=105), status="passed", score=1 - 5 / 205),
            Example(params={"expected": 10}, case=Case(output="-10"), status="failed", score=0.0),
        ),
    )

    expected: Expected | UnsetType = UNSET

    def validate(self, expected: Any) -> None:
        if expected not in (UNSET, None):
            _number(expected, "expected")

    def judge(self, value: Any, expected: Any) -> Verdict:
        score = closeness(_number(value, "the value"), _number(expected, "expected"))
        return Verdict(
            score=score, fact=f"closeness {score:.4g} of {shown(as_text(value))} and {shown(as_text(expected))}"
        )


class JsonDiff(Evaluator, frozen=True):
    """The JSON is close to `expected`, leaf by leaf.

    Objects score the mean over the union of their keys, arrays the sum by position over the longer length, texts by
    `string_scorer`, numbers by `number_scorer`; unequal booleans score 0 and a boolean is never a number; mixed types
    meet as compact JSON text. A text that parses to an object or array counts as that, unless `preserve_strings`.
    `details.differences` lists the places as JSON Pointers. Source: autoevals JSONDiff, with its faults mended.
    """

    spec = Spec(
        family="json",
        echoes=True,
        graded=True,
        judges_null=True,
        null_expected=True,
        heavy=True,
        examples=(
            Example(
                params={"expected": {"city": "Turin", "pop": 850000}},
                case=Case(output='{"city": "Turin", "pop": 850000}'),
                status="passed",
                score=1.0,
            ),
            Example(case=Case(output={"a": 1}, expected={"a": 1, "b": 2, "c": 3}), status="failed", score=1 / 3),
        ),
    )

    expected: Expected | UnsetType = UNSET
    string_scorer: Annotated[TextScorer, Meta(description="How two texts are scored.")] = "levenshtein"
    number_scorer: Annotated[NumberScorer, Meta(description="How two numbers are scored.")] = "numeric_diff"
    preserve_strings: Annotated[bool, Meta(description="true: texts are never parsed.")] = False
    missing_is_null: Annotated[bool, Meta(description="false: a missing key is not the same as null.")] = True

    def judge(self, value: Any, expected: Any) -> Verdict:
        return self._compared(value, expected, TEXT_SCORERS.get(self.string_scorer) or MeteredDistance())

    def inquires(self) -> bool:
        return self.string_scorer == "embedding_similarity"

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        meanings = Meanings()
        verdict, model = self._compared(value, expected, meanings), None
        if meanings.wanted:
            told = yield Need(vectors=tuple(meanings.wanted))
            meanings.vectors, model = told.vectors, told.model
            verdict = self._compared(value, expected, meanings)
        return replace(verdict, details={**(verdict.details or {}), "model": model})

    def _compared(self, value: Any, expected: Any, text_score: TextScore) -> Verdict:
        comparison = compare(
            value,
            expected,
            text_score=text_score,
            number_score=NUMBER_SCORERS[self.number_scorer],
            preserve_strings=self.preserve_strings,
            missing_is_null=self.missing_is_null,
        )
        fact = _told(comparison)
        if isinstance(value, str) and isinstance(expected, dict | list):
            fact += "" if is_json(value) else "; the text under test is no JSON"
        return Verdict(score=comparison.score, fact=fact, details={"differences": comparison.differences})


class ListContains(Evaluator, frozen=True):
    """The list has the elements of `expected`, each paired with at most one, in any order.

    Elements are paired one to one so that the sum of their similarities is greatest; score = sum / the longer length,
    or / the expected length with `allow_extra_entities`. A text must be a JSON list. `details.pairs` shows the pairs.
    Source: autoevals ListContains.
    """

    spec = Spec(
        family="lists",
        echoes=True,
        graded=True,
        heavy=True,
        examples=(
            Example(
                params={"expected": ["apple", "pear"]}, case=Case(output=["pear", "apple"]), status="passed", score=1.0
            ),
            Example(
                params={"expected": ["a"], "pairwise_scorer": "exact_match"},
                case=Case(output=["a", "b", "c", "d"]),
                status="failed",
                score=0.25,
            ),
        ),
    )

    expected: Expected | UnsetType = UNSET
    pairwise_scorer: Annotated[PairScorer, Meta(description="How two elements are scored.")] = "levenshtein"
    allow_extra_entities: Annotated[bool, Meta(description="Elements that were not expected cost nothing.")] = False

    def validate(self, expected: Any) -> None:
        if expected not in (UNSET, None):
            _list(expected, "expected")

    def judge(self, value: Any, expected: Any) -> Verdict:
        found, wanted = _list(value, "the value"), _list(expected, "expected")
        return self._paired(found, wanted, pairs_of(found, wanted, self.pairwise_scorer))

    def inquires(self) -> bool:
        return self.pairwise_scorer == "embedding_similarity"

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        found, wanted = _list(value, "the value"), _list(expected, "expected")
        pairs, model = yield from pairs_by_meaning(found, wanted)
        verdict = self._paired(found, wanted, pairs)
        return replace(verdict, details={**(verdict.details or {}), "model": model})

    def _paired(self, found: list[Any], wanted: list[Any], pairs: list[Pair]) -> Verdict:
        size = len(wanted) if self.allow_extra_entities else max(len(found), len(wanted))
        total = sum(similarity for _, _, similarity in pairs)
        score = max(0.0, min(1.0, total / size)) if size else 1.0
        fact = f"similarity {score:.4g}: {len(pairs)} pairs of {len(found)} elements and {len(wanted)} expected"
        return Verdict(score=score, fact=fact, details={"pairs": pairs[:100]})


def _told(comparison: Comparison) -> str:
    if not comparison.differences:
        return "no differences"
    count = "1 difference" if comparison.total == 1 else f"{comparison.total} differences, the first"
    place = shown(comparison.differences[0]["pointer"]) or "the root"
    return f"similarity {comparison.score:.4g}, {count} at {place}"


def _number(value: Any, what: str) -> int | float:
    number = read_number(value) if isinstance(value, str) else value
    if not is_number(number):
        raise RuleFault("invalid_type", f"{what} is no number: {shown(as_text(value))}")
    return number


def _list(value: Any, what: str) -> list[Any]:
    if isinstance(value, str):
        try:
            parsed = decode(value)
        except NotJson:
            parsed = value
    else:
        parsed = value
    if not isinstance(parsed, list):
        raise RuleFault("invalid_type", f"{what} is no list: {shown(as_text(value))}")
    return parsed
