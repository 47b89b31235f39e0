"""One rule on one case: pick the values, judge each, combine the verdicts. Pure."""

from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import UNSET

from service.core.asking import Judging, together
from service.core.case import Case
from service.core.evaluator import Evaluator, Tester, Verdict
from service.core.outcome import Evaluation, Status
from service.primitives import RuleFault
from service.primitives.extraction import extract
from service.primitives.jsonpath import compile_path
from service.primitives.jsontext import NotJson, render
from service.primitives.sizes import exceeds

TOLERANCE = 1e-9
MAX_PICKED_VALUES = 10_000
MAX_PICKED_CHARS = 1_000_000

_MISSING = {
    "output": ("no_output", "No output to evaluate"),
    "input": ("missing_input", "The item has no input"),
    "expected": ("missing_expected", "The item has no expected value"),
    "context": ("missing_context", "The item has no context"),
    "metadata": ("missing_metadata", "The item has no metadata"),
}
_NO_EXPECTED = "Nothing to compare with: neither the rule nor the item has `expected`"
_NO_VALUE = "The value is null: there is nothing to judge"
_NEGATED = {True: ", as the negated rule asks", False: ", which the negated rule does not allow"}
_NULL = Verdict(score=0.0, fact="the value is null", actual=None)


class _Judged(NamedTuple):
    passed: bool
    score: float
    verdict: Verdict


class Assessor:
    """A rule made ready for many cases: what does not depend on the case is looked up once.

    RuleFault, here or when called, where the rule cannot run.
    """

    def __init__(self, rule: Evaluator) -> None:
        self._rule = rule
        self._type = str(rule.__struct_config__.tag)
        self._name = rule.id or self._type
        self._label = rule.label
        self._literal = rule.literal()
        if self._literal is not UNSET and rule.path is not None:
            raise RuleFault("invalid_params", "`path` and `actual` exclude each other: give one of them")
        self._compares = compares(type(rule))
        self._own_expected = getattr(rule, "expected", None)
        self._judges_null = rule.spec.judges_null and rule.path is None
        self._least = (rule.threshold if rule.spec.graded else 0.5) - TOLERANCE
        self._source = attrgetter(rule.from_)
        self._is_simple = (
            self._literal is UNSET
            and rule.path is None
            and not (self._compares and (self._own_expected is UNSET or self._own_expected is None))
        )
        self._path = None if rule.path is None else compile_path(rule.path, rule.dialect)
        rule.validate(self._own_expected)

    def __call__(self, case: Case) -> Evaluation:
        """The outcome of the rule on a case."""
        if self._is_simple:
            value = self._source(case)
            if value is not None and value is not UNSET:
                return self._single(self._rule.judge(value, self._own_expected), value, self._own_expected)
        subject = self._subject(case)
        if isinstance(subject, Evaluation):
            return subject
        picked, expected = subject
        if len(picked) == 1:
            return self._single(self._rule.judge(picked[0], expected), picked[0], expected)
        distinct = _distinct(picked)
        verdicts = [self._rule.judge(value, expected) for value in distinct.values()]
        return self._several(picked, expected, dict(zip(distinct, verdicts, strict=True)))

    def tester(self) -> Tester | None:
        """A quicker way to say whether a case passes whose output is a text; None where there is no such way."""
        if not self._is_simple or self._rule.from_ != "output":
            return None
        test = self._rule.tester(self._own_expected)
        if test is None or not self._rule.negate:
            return test
        return lambda text: not test(text)

    def inquire(self, case: Case) -> Judging[Evaluation]:
        """The outcome of a rule that needs what others have to make first."""
        subject = self._subject(case)
        if isinstance(subject, Evaluation):
            return subject
        picked, expected = subject
        if len(picked) == 1:
            return self._single((yield from self._rule.inquire(picked[0], expected, case)), picked[0], expected)
        distinct = _distinct(picked)
        verdicts = yield from together([self._rule.inquire(value, expected, case) for value in distinct.values()])
        return self._several(picked, expected, dict(zip(distinct, verdicts, strict=True)))

    def _subject(self, case: Case) -> tuple[list[Any], Any] | Evaluation:
        """The values under test, and what they are compared with; or the outcome where there is nothing to judge."""
        expected = self.expectation(case)
        picked = self.pick(case)
        if isinstance(picked, Evaluation):
            return picked
        if picked[0] is None and not self._judges_null and picked.count(None) == len(picked):
            return self._no_data("null_value", _NO_VALUE, _unwrapped(picked))
        if self._compares and (expected is UNSET or (expected is None and not self._rule.spec.null_expected)):
            return self._no_data("missing_expected", _NO_EXPECTED, _unwrapped(picked))
        return picked, expected

    def _single(self, verdict: Verdict, value: Any, expected: Any) -> Evaluation:
        passed, score, told, details = verdict.score >= self._least, verdict.score, verdict.fact, verdict.details
        if self._rule.negate:
            passed, score, details = not passed, 1.0 - score, (details or {}) | {"raw_score": score}
            told += _NEGATED[passed]
        actual = value if verdict.actual is UNSET else verdict.actual
        shown = expected if verdict.expected is UNSET else verdict.expected
        status: Status = "passed" if passed else "failed"
        return Evaluation(self._name, self._type, self._label, status, score, None, told, actual, shown, details or {})

    def expectation(self, case: Case) -> Any:
        """What the rule compares with: its own `expected`, else the case's; None if it compares with nothing."""
        if self._own_expected is not UNSET:
            return self._own_expected
        self._rule.validate(case.expected)
        return case.expected

    def pick(self, case: Case) -> list[Any] | Evaluation:
        """The values under test, at least one; or the outcome where there is none."""
        if self._literal is not UNSET:
            return [self._literal]
        rule = self._rule
        source = self._source(case)
        if source is UNSET or (source is None and rule.from_ in ("context", "metadata")):
            return self._no_data(*_MISSING[rule.from_])
        if self._path is None:
            return [source]
        found = self._select(source)
        return found[:1] if isinstance(found, list) and rule.values == "first" else found

    def selects(self, case: Case) -> bool:
        """Whether there is a value under test."""
        return not isinstance(self.pick(case), Evaluation)

    def _select(self, document: Any) -> list[Any] | Evaluation:
        assert self._path is not None
        source = self._rule.from_
        if isinstance(document, str):
            try:
                document = _document(document)
            except NotJson as exc:
                return self._no_match(f"No actual value found: the {source} is a text without JSON ({exc.detail})")
        elif document is None:
            return self._no_data("null_value", f"The {source} is null: there is nothing to pick from")
        found = self._path.select(document)
        if len(found) > MAX_PICKED_VALUES or (len(found) > 1 and exceeds(found, MAX_PICKED_CHARS)):
            allowed = f"{MAX_PICKED_VALUES:,} values and {MAX_PICKED_CHARS:,} characters"
            raise RuleFault("limit_exceeded", f"The path picks {len(found):,} values; a rule may pick {allowed}")
        return found or self._no_match(f"No actual value found at {self._rule.path} in the {source}")

    def _no_match(self, explanation: str) -> Evaluation:
        verdict = self._rule.on_no_match
        if verdict == "no_data":
            return self._no_data("no_match", explanation)
        passed = verdict == "pass"
        told = f"{explanation} (on_no_match: {verdict})"
        return self._graded(passed, float(passed), told, None, None, {"code": "no_match"})

    def _no_data(self, reason: str, explanation: str, actual: Any = None) -> Evaluation:
        return self._rule.ungraded("no_data", reason, explanation, actual)

    def _graded(
        self, passed: bool, score: float, told: str, actual: Any, expected: Any, details: dict[str, Any]
    ) -> Evaluation:
        status: Status = "passed" if passed else "failed"
        return Evaluation(self._name, self._type, self._label, status, score, None, told, actual, expected, details)

    def _judged(self, verdict: Verdict | None) -> _Judged:
        if verdict is None:
            return _Judged(False, 0.0, _NULL)
        passed, score = verdict.score >= self._least, verdict.score
        return _Judged(not passed, 1.0 - score, verdict) if self._rule.negate else _Judged(passed, score, verdict)

    def _several(self, picked: list[Any], expected: Any, verdicts: dict[Any, Verdict]) -> Evaluation:
        """All must satisfy: the worst value decides; any may: the best one does. A null satisfies nothing."""
        judged = [self._judged(verdicts.get(_key(value))) for value in picked]
        place = (max if self._rule.values == "any" else min)(range(len(judged)), key=lambda index: judged[index][:2])
        passed, score, verdict = judged[place]
        details = (verdict.details or {}) | {"decided_by": place + 1}
        if self._rule.negate and verdict is not _NULL:
            details["raw_score"] = verdict.score
        actual = [
            value if one.verdict.actual is UNSET else one.verdict.actual
            for one, value in zip(judged, picked, strict=True)
        ]
        told = self._told(judged[place], place, len(judged))
        shown = expected if verdict.expected is UNSET else verdict.expected
        return self._graded(passed, score, told, actual, shown, details)

    def _told(self, decisive: _Judged, place: int, count: int) -> str:
        fact = decisive.verdict.fact
        if self._rule.negate and decisive.verdict is not _NULL:
            fact += _NEGATED[decisive.passed]
        satisfied = self._rule.values == "any"
        if decisive.passed == satisfied:
            return f"value {place + 1} of {count}: {fact}"
        return f"{'none' if satisfied else 'all'} of {count} values satisfy; value {place + 1}: {fact}"


def compares(kind: type[Evaluator]) -> bool:
    """Whether evaluators of this type hold the value under test against another one."""
    return "expected" in kind.__struct_fields__


def lacks_expected(rule: Evaluator) -> bool:
    """Whether a rule compares with the case's `expected`, having none of its own."""
    return compares(type(rule)) and getattr(rule, "expected", None) is UNSET


def _distinct(picked: list[Any]) -> dict[Any, Any]:
    """The values to be judged: a path may pick equal ones in many places, and nothing is said of null."""
    return {_key(value): value for value in picked if value is not None}


def _key(value: Any) -> Any:
    """Equal only for values that no judgement tells apart: 1, 1.0, true and the text "1" are four."""
    return value if isinstance(value, str) else (render(value),)


@lru_cache(maxsize=4)
def _document(text: str) -> Any:
    """The JSON in a text: the rules of one item read the same text one after the other."""
    return extract(text, "fences").value


def forget_documents() -> None:
    """Keep nothing of the texts that paths have read."""
    _document.cache_clear()


def _unwrapped(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
