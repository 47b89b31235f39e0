"""What every evaluator is: a Struct whose fields are the wire contract and whose one method is the judgement."""

import re
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct

from service.core.asking import Judging
from service.core.case import Case
from service.core.judging import Grade
from service.core.outcome import Evaluation, Status

Family = Literal["text", "json", "numbers", "lists", "embeddings", "judges"]
Source = Literal["output", "input", "expected", "context", "metadata"]
Dialect = Literal["jayway", "rfc9535", "jsonpath-ng"]

HEAVY = 10**9

Tester = Callable[[str], bool]

NonEmpty = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(min_length=1, max_length=256)]

Expected = Annotated[
    Any,
    Meta(description="What to compare with; default: the item's `expected`.", extra={"limit": "text_chars"}),
]


class Example(Struct, frozen=True, kw_only=True):
    """A worked example of an evaluator: documentation for people, a test for us."""

    params: dict[str, Any] = {}
    case: Case
    vectors: dict[str, list[float]] = {}
    replies: dict[str, Any] = {}
    """What the judge answers, by the keys of the prompts: the evaluator is run with judge `caller`."""
    grade: Grade | None = None
    """A reviewer's verdict."""
    status: Status
    score: float | None = None


class Spec(Struct, frozen=True, kw_only=True):
    """What the class knows about itself beyond its fields."""

    family: Family
    examples: tuple[Example, ...]
    graded: bool = False
    """The score lies anywhere in 0..1 and `threshold` decides; otherwise it is 1 or 0."""
    judges_null: bool = False
    """`output: null` is a value like any other; elsewhere it is no_data."""
    null_expected: bool = False
    """`expected: null` is a value like any other; elsewhere it counts as missing."""
    echoes: bool = False
    """Details, or what is compared, may hold objects, lists or texts of the caller: they must be cut."""
    heavy: bool = False
    """The cost of a judgement is not bounded by a few passes over the text: never run it on the event loop."""
    reads: tuple[Source, ...] = ()
    """Parts of the case that a judgement reads beside the value under test and `expected`."""
    follow_ups: int = 0
    """Questions to a judge that come of each first one, at most."""
    revision: int = 1


class Verdict(Struct, kw_only=True, gc=False):
    """The judgement of one value.

    `fact` states what was seen, and is true whichever way the verdict goes: "2500 < 10000", "text contains 'x'".
    """

    score: float
    fact: str
    actual: Any = UNSET
    expected: Any = UNSET
    details: dict[str, Any] | None = None


def snake_case(name: str) -> str:
    """The wire name of a class: `ValidJson` is `valid_json`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Evaluator(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="type",
    tag=snake_case,
    rename={"from_": "from"},
):
    """A rule: how one value is judged, and the parameters that every rule has."""

    spec: ClassVar[Spec]

    id: Annotated[Name | None, Meta(description="Names it in results; default: the type, then type-2, ...")] = None
    label: Annotated[Annotated[str, Meta(max_length=1000)] | None, Meta(description="For display.")] = None
    active: Annotated[bool, Meta(description="false: skipped.")] = True
    negate: Annotated[bool, Meta(description="Reverse the verdict on each value; score becomes 1 - score.")] = False
    weight: Annotated[float, Meta(gt=0, le=1e6, description="Weight in the item's score.")] = 1.0
    threshold: Annotated[
        float, Meta(ge=0, le=1, description="Graded scorers pass at this score; rules are 1 or 0 and need none.")
    ] = 0.5
    path: Annotated[
        NonEmpty | None,
        Meta(description="JSONPath that picks the value under test.", extra={"limit": "path_chars"}),
    ] = None
    from_: Annotated[Source, Meta(description="The part of the item that is tested, or that the path reads.")] = (
        "output"
    )
    dialect: Annotated[Dialect, Meta(description="jayway: RFC 9535, but a filter on an object tests that object.")] = (
        "jayway"
    )
    values: Annotated[
        Literal["all", "any", "first"], Meta(description="Which of several picked values must satisfy.")
    ] = "all"
    on_no_match: Annotated[
        Literal["no_data", "fail", "pass"], Meta(description="What it means when the path picks nothing.")
    ] = "no_data"
    template: Annotated[bool, Meta(description="false: `{{name}}` is left as it stands.")] = True

    def validate(self, expected: Any) -> None:
        """Raise RuleFault for what shows only when the rule is compiled or its fields are compared.

        `expected` is what it compares with: UNSET where there is nothing or it is not known yet, None for a rule that
        compares with nothing.
        """

    def passes(self, *, plain: bool) -> int:  # noqa: ARG002
        """How often a judgement goes over the text, roughly; HEAVY where that says too little about its cost.

        `plain`: the texts are ASCII.
        """
        return HEAVY if self.spec.heavy else 1

    def literal(self) -> Any:
        """The value under test where the rule itself holds it, else UNSET."""
        return UNSET

    def ungraded(
        self,
        status: Status,
        reason: str | None,
        explanation: str,
        actual: Any = None,
        details: dict[str, Any] | None = None,
    ) -> Evaluation:
        """An evaluation by this rule that has no score."""
        kind = str(self.__struct_config__.tag)
        told = (status, None, reason, explanation, actual, None, details or {})
        return Evaluation(self.id or kind, kind, self.label, *told)

    def judge(self, value: Any, expected: Any) -> Verdict:
        """Judge one value; `expected` is None where the rule compares with nothing."""
        raise NotImplementedError

    def tester(self, expected: Any) -> Tester | None:  # noqa: ARG002
        """A quicker way to say whether `judge` gives a text 1 or 0, without words; None where there is no such way."""
        return None

    def inquires(self) -> bool:
        """Whether the judgement needs what others have to make first: `inquire` then stands in for `judge`."""
        return False

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        """Judge one value in steps: each yields what is needed and is sent what was told.

        Of the case it may read what `spec.reads` names. Ungraded where it comes to no score.
        """
        raise NotImplementedError
