"""One rule on one case: pick the values, judge each, combine the verdicts. Pure."""

from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import UNSET

from service.core.case import Case
from service.core.evaluator import Evaluator, Verdict
from service.core.outcome import Outcome, no_data
from service.primitives import RuleFault
from service.primitives.extraction import extract
from service.primitives.jsonpath import compile_path
from service.primitives.jsontext import NotJson

TOLERANCE = 1e-9

_MISSING = {
    "output": ("no_output", "No output to evaluate"),
    "input": ("missing_input", "The item has no input"),
    "expected": ("missing_expected", "The item has no expected value"),
    "context": ("missing_context", "The item has no context"),
    "metadata": ("missing_metadata", "The item has no metadata"),
}
_NO_EXPECTED = "Nothing to compare with: neither the rule nor the item has `expected`"
_NULL = Verdict(score=0.0, fact="the value is null", actual=None)


class _Judged(NamedTuple):
    passed: bool
    score: float
    verdict: Verdict
    place: int


def assess(rule: Evaluator, case: Case) -> Outcome:
    """The outcome of a rule on a case. RuleFault where the rule cannot run at all."""
    expected = expectation(rule, case)
    rule.validate(expected)
    picked = _pick(rule, case)
    if isinstance(picked, Outcome):
        return picked
    nulls_count = rule.spec.judges_null and rule.path is None
    if not nulls_count and all(value is None for value in picked):
        return no_data("null_value", "The value is null: there is nothing to judge", actual=_unwrapped(picked))
    if compares(type(rule)) and (expected is UNSET or (expected is None and not rule.spec.null_expected)):
        return no_data("missing_expected", _NO_EXPECTED, actual=_unwrapped(picked))
    judged = [
        _judge(rule, value, expected, index) if value is not None or nulls_count else _Judged(False, 0.0, _NULL, index)
        for index, value in enumerate(picked)
    ]
    return _combine(rule, judged, picked, expected)


def selects(rule: Evaluator, case: Case) -> bool:
    """Whether there is a value under test."""
    return not isinstance(_pick(rule, case), Outcome)


def expectation(rule: Evaluator, case: Case) -> Any:
    """What the rule compares with: its own `expected`, else the item's; UNSET where there is none."""
    if not compares(type(rule)):
        return UNSET
    own = rule.expected  # type: ignore[attr-defined]
    return case.expected if own is UNSET else own


@cache
def compares(kind: type[Evaluator]) -> bool:
    """Whether evaluators of this type hold the value under test against another one."""
    return "expected" in kind.__struct_fields__


def _pick(rule: Evaluator, case: Case) -> list[Any] | Outcome:
    literal = rule.literal()
    if literal is not UNSET:
        if rule.path is not None:
            raise RuleFault("invalid_params", "`path` and `actual` exclude each other: give one of them")
        return [literal]
    source = getattr(case, rule.from_)
    if source is UNSET or (source is None and rule.from_ in ("context", "metadata")):
        return no_data(*_MISSING[rule.from_])
    if rule.path is None:
        return [source]
    found = _select(rule, source)
    if isinstance(found, Outcome):
        return found
    return found[:1] if rule.values == "first" else found


def _select(rule: Evaluator, document: Any) -> list[Any] | Outcome:
    path = compile_path(rule.path or "$", rule.dialect)
    if isinstance(document, str):
        try:
            document = _document(document)
        except NotJson as exc:
            return _no_match(rule, f"No actual value found: the {rule.from_} is a text without JSON ({exc.detail})")
    elif document is None:
        return no_data("null_value", f"The {rule.from_} is null: there is nothing to pick from")
    return path.select(document) or _no_match(rule, f"No actual value found at {rule.path} in the {rule.from_}")


@lru_cache(maxsize=4)
def _document(text: str) -> Any:
    """The JSON in a text: the rules of one item read the same text one after the other."""
    return extract(text, "fences").value


def _no_match(rule: Evaluator, explanation: str) -> Outcome:
    if rule.on_no_match == "no_data":
        return no_data("no_match", explanation)
    passed = rule.on_no_match == "pass"
    return Outcome(
        status="passed" if passed else "failed",
        score=float(passed),
        explanation=f"{explanation} (on_no_match: {rule.on_no_match})",
        details={"code": "no_match"},
    )


def _judge(rule: Evaluator, value: Any, expected: Any, index: int) -> _Judged:
    verdict = rule.judge(value, expected)
    passed = verdict.score >= (rule.threshold if rule.spec.graded else 0.5) - TOLERANCE
    if rule.negate:
        return _Judged(not passed, 1.0 - verdict.score, verdict, index)
    return _Judged(passed, verdict.score, verdict, index)


def _combine(rule: Evaluator, judged: list[_Judged], picked: list[Any], expected: Any) -> Outcome:
    """All must satisfy: the worst value decides; any may: the best one does."""
    decisive = judged[0] if len(judged) == 1 else (max if rule.values == "any" else min)(judged, key=_rank)
    verdict = decisive.verdict
    details = dict(verdict.details) if verdict.details else {}
    if rule.negate and verdict is not _NULL:
        details["raw_score"] = verdict.score
    if len(judged) > 1:
        details["decided_by"] = decisive.place
    return Outcome(
        status="passed" if decisive.passed else "failed",
        score=decisive.score,
        explanation=_explain(rule, decisive, len(judged)),
        actual=_unwrapped([_actual(one.verdict, value) for one, value in zip(judged, picked, strict=True)]),
        expected=_shown(verdict.expected, expected),
        details=details,
    )


_rank = attrgetter("passed", "score")


def _explain(rule: Evaluator, decisive: _Judged, count: int) -> str:
    fact = decisive.verdict.fact
    if rule.negate and decisive.verdict is not _NULL:
        fact += ", as the negated rule asks" if decisive.passed else ", which the negated rule does not allow"
    if count == 1:
        return fact
    if decisive.passed == (rule.values == "any"):
        return f"value {decisive.place + 1} of {count}: {fact}"
    return f"{'none' if rule.values == 'any' else 'all'} of {count} values satisfy; value {decisive.place + 1}: {fact}"


def _actual(verdict: Verdict, value: Any) -> Any:
    return value if verdict.actual is UNSET else verdict.actual


def _shown(own: Any, expected: Any) -> Any:
    if own is not UNSET:
        return own
    return None if expected is UNSET else expected


def _unwrapped(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
