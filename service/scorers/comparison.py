"""Comparisons of one value with another, by an operator."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from service.core.case import Case
from service.core.evaluator import Evaluator, Example, Expected, Spec, Verdict
from service.primitives import RuleFault
from service.primitives.jsontext import as_text, kind_of
from service.primitives.numbers import is_number, read_number, within
from service.primitives.text import even, hint_of_difference, quote, shown

Actual = Annotated[
    Any,
    Meta(
        description="A literal value to test; then no output is needed. Not together with `path`.",
        extra={"limit": "text_chars"},
    ),
]
Normalize = Annotated[
    tuple[Literal["nfc", "nfkc", "whitespace", "punctuation"], ...],
    Meta(description="What is evened out on both sides before comparing."),
]


class StringComparison(Evaluator, frozen=True):
    """The text equals, contains, starts with or ends with `expected`.

    Numbers and booleans are compared by their JSON text. An object or list fails: point the path at its elements.
    Case, white space and Unicode form count unless a parameter says otherwise.
    """

    spec = Spec(
        family="text",
        examples=(
            Example(
                params={"operator": "startswith", "path": "$.accountId", "expected": "001"},
                case=Case(output={"accountId": "001ABC"}),
                status="passed",
            ),
            Example(params={"operator": "equals", "actual": "Jon", "expected": "jon"}, case=Case(), status="failed"),
            Example(
                params={"operator": "contains", "path": "$.body", "expected": "{{customer}}"},
                case=Case(output={"body": "Dear Ann, ..."}, variables={"customer": "Ann"}),
                status="passed",
            ),
        ),
    )

    operator: Annotated[
        Literal["equals", "contains", "startswith", "endswith"], Meta(description="How the two texts must stand.")
    ]
    expected: Expected | UnsetType = UNSET
    actual: Actual | UnsetType = UNSET
    case_sensitive: Annotated[bool, Meta(description="false: both sides are case-folded.")] = True
    trim: Annotated[bool, Meta(description="Drop white space around both sides.")] = False
    normalize: Normalize = ()

    def literal(self) -> Any:
        return self.actual

    def validate(self, expected: Any) -> None:
        if isinstance(expected, dict | list):
            raise RuleFault("invalid_params", f"`expected` must be a text, not {kind_of(expected)}")
        if self.operator != "equals" and expected not in (UNSET, None) and not self._even(as_text(expected)):
            raise RuleFault("invalid_params", f"`expected` is empty: every text {_VERB[self.operator][0]} that")

    def judge(self, value: Any, expected: Any) -> Verdict:
        if isinstance(value, dict | list):
            fact = f"the value is {kind_of(value)}, not a text: add [*] to the path to test its elements"
            return Verdict(score=0.0, fact=fact, details={"code": "not_a_text"})
        text, wanted = as_text(value), as_text(expected)
        holds = _OPERATION[self.operator](self._even(text), self._even(wanted))
        hint = "" if holds else hint_of_difference(text, wanted, _OPERATION[self.operator])
        return Verdict(score=float(holds), fact=self._fact(text, wanted, holds) + hint)

    def _even(self, text: str) -> str:
        return even(text, self.normalize, trim=self.trim, case_sensitive=self.case_sensitive)

    def _fact(self, text: str, wanted: str, holds: bool) -> str:
        if self.operator == "equals":
            return f"{shown(text)} {'=' if holds else '≠'} {shown(wanted)}"
        does, does_not = _VERB[self.operator]
        return f"text {does if holds else does_not} {quote(wanted)}"


class NumericComparison(Evaluator, frozen=True):
    """The number stands to `expected` as the operator says.

    The value must be a JSON number: the text "2500" fails and the explanation says why, unless `parse_text` reads it.
    `expected` may be a number or the text of one. Integers are exact at any size; `tolerance` widens `equals`.
    """

    spec = Spec(
        family="numbers",
        examples=(
            Example(
                params={"operator": "less_than", "path": "$.latencyMs", "expected": 10000},
                case=Case(output={"latencyMs": 2500}),
                status="passed",
            ),
            Example(
                params={"operator": "equals", "expected": 0.3, "tolerance": 1e-9},
                case=Case(output=0.30000000000000004),
                status="passed",
            ),
            Example(params={"operator": "greater_than", "expected": 1}, case=Case(output="2500"), status="failed"),
        ),
    )

    operator: Annotated[
        Literal["equals", "greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"],
        Meta(description="How the two numbers must stand."),
    ]
    expected: Expected | UnsetType = UNSET
    actual: Actual | UnsetType = UNSET
    tolerance: Annotated[float, Meta(ge=0, description="How far apart `equals` may be, inclusive.")] = 0.0
    parse_text: Annotated[bool, Meta(description="Read a text that is a JSON number as that number.")] = False

    def literal(self) -> Any:
        return self.actual

    def validate(self, expected: Any) -> None:
        if self.tolerance and self.operator != "equals":
            raise RuleFault("invalid_params", "`tolerance` is for the operator equals: move `expected` instead")
        if expected not in (UNSET, None) and _number(expected) is None:
            raise RuleFault(
                "invalid_params", f"`expected` must be a number, not {kind_of(expected)} {shown(as_text(expected))}"
            )

    def judge(self, value: Any, expected: Any) -> Verdict:
        number = _number(value) if self.parse_text or not isinstance(value, str) else None
        if number is None:
            return Verdict(score=0.0, fact=_not_a_number(value), details={"code": "not_a_number"})
        wanted = _number(expected)
        assert wanted is not None
        holds = self._holds(number, wanted)
        sign = _SIGNS[self.operator][not holds]
        allowance = f" (tolerance {self.tolerance})" if self.tolerance else ""
        return Verdict(score=float(holds), fact=f"{as_text(value)} {sign} {as_text(expected)}{allowance}")

    def _holds(self, number: int | float, wanted: int | float) -> bool:
        if self.operator == "equals":
            return within(number, wanted, self.tolerance) if self.tolerance else number == wanted
        above = self.operator in ("greater_than", "greater_than_or_equal")
        if number == wanted:
            return self.operator.endswith("or_equal")
        return number > wanted if above else number < wanted


_OPERATION = {
    "equals": str.__eq__,
    "contains": str.__contains__,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
_VERB = {
    "contains": ("contains", "does not contain"),
    "startswith": ("starts with", "does not start with"),
    "endswith": ("ends with", "does not end with"),
}
_SIGNS = {
    "equals": ("=", "≠"),
    "greater_than": (">", "≤"),
    "greater_than_or_equal": ("≥", "<"),
    "less_than": ("<", "≥"),
    "less_than_or_equal": ("≤", ">"),
}


def _number(value: Any) -> int | float | None:
    if isinstance(value, str):
        return read_number(value)
    return value if is_number(value) else None


def _not_a_number(value: Any) -> str:
    hint = ""
    if isinstance(value, str) and read_number(value) is not None:
        hint = " (parse_text reads it as one)"
    elif isinstance(value, dict | list):
        hint = ": add [*] to the path to test its elements"
        return f"the value is {kind_of(value)}, not a number{hint}"
    return f"{shown(as_text(value))} is {kind_of(value)}, not a number{hint}"
