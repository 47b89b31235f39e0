"""Equality."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from service.core.case import Case
from service.core.evaluator import Evaluator, Example, Expected, Spec, Verdict
from service.primitives.equality import equal_as_values, first_difference
from service.primitives.jsontext import as_text, kind_of
from service.primitives.text import even, hint_of_difference, shown
from service.scorers.comparison import Normalize


class ExactMatch(Evaluator, frozen=True):
    """The output equals `expected`.

    Two texts compare as texts; a number and a text by the number's JSON text; an object or list and a text by parsing
    the text; a boolean or null never equals a text; all else by JSON equality, where key order never matters, 1 equals
    1.0 and true is not 1.
    """

    spec = Spec(
        family="text",
        judges_null=True,
        null_expected=True,
        heavy=True,
        examples=(
            Example(params={"expected": "Billing"}, case=Case(output="Billing"), status="passed"),
            Example(case=Case(output='{"b": 2, "a": 1}', expected={"a": 1, "b": 2}), status="passed"),
            Example(params={"expected": "yes"}, case=Case(output="Yes."), status="failed"),
        ),
    )

    expected: Expected | UnsetType = UNSET
    case_sensitive: Annotated[bool, Meta(description="false: both texts are case-folded.")] = True
    trim: Annotated[bool, Meta(description="Drop white space around both texts.")] = False
    normalize: Normalize = ()

    def judge(self, value: Any, expected: Any) -> Verdict:
        if equal_as_values(value, expected, texts_equal=self._texts_equal):
            return Verdict(score=1.0, fact=f"{shown(as_text(value))} = {shown(as_text(expected))}")
        return Verdict(score=0.0, fact=_difference(value, expected))

    def _texts_equal(self, one: str, other: str) -> bool:
        return self._even(one) == self._even(other)

    def _even(self, text: str) -> str:
        return even(text, self.normalize, trim=self.trim, case_sensitive=self.case_sensitive)


def _difference(value: Any, expected: Any) -> str:
    if isinstance(value, dict | list) and isinstance(expected, dict | list):
        found = first_difference(value, expected)
        if found is not None:
            return f"at {shown(found.pointer or 'the root')}: {shown(found.one)} ≠ {shown(found.other)}"
    one, other = shown(as_text(value)), shown(as_text(expected))
    if one == other and type(value) is not type(expected):
        return f"{one} ({kind_of(value)}) ≠ {other} ({kind_of(expected)})"
    if isinstance(value, str) and isinstance(expected, str):
        return f"{one} ≠ {other}" + hint_of_difference(value, expected, str.__eq__)
    return f"{one} ≠ {other}"
