"""The wire of POST /v1/evaluations: a batch in, its results out."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from service.catalogue import Rule
from service.core.case import Case
from service.core.evaluator import Name
from service.core.judging import Grade
from service.core.outcome import Evaluation, Score, Status

Interval = Annotated[tuple[float, float], Meta(description="Wilson, 95 %.")]


class JudgeCost(Struct):
    """What one judge was asked for a batch."""

    calls: Annotated[int, Meta(description="Questions it was sent, equal ones once.")] = 0
    input_tokens: int = 0
    output_tokens: int = 0


class Item(Case, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One case with the rules that are its own."""

    id: Annotated[Name | None, Meta(description="Unique in the request; default: the 1-based position.")] = None
    evaluators: Annotated[list[Rule], Meta(description="Rules for this item, after the request's.")] = []
    grades: Annotated[dict[str, Grade], Meta(description="Evaluator id -> a reviewer's verdict.")] = {}
    replies: Annotated[
        dict[str, dict[str, Any] | list[Any]], Meta(description="Evaluator id -> judge replies the caller fetched.")
    ] = {}

    @property
    def slot(self) -> str:
        """Which of several samples of one case this is: judges are asked anew in each slot."""
        return ""


class Sample(Item, kw_only=True):
    """An item that is one of several samples of a case."""

    slot: str = ""


class Batch(Struct, kw_only=True, forbid_unknown_fields=True):
    """Items x evaluators."""

    items: Annotated[list[Item], Meta(min_length=1, description="What is judged.")]
    evaluators: Annotated[list[Rule], Meta(description="Rules for every item.")] = []
    vectors: Annotated[dict[str, list[float]], Meta(description="Embeddings of your own, by text.")] = {}
    deadline_ms: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="What is not done by then is not_graded/deadline_exceeded.")
    ] = None
    ignore_not_graded: Annotated[bool, Meta(description="Leave not_graded and no_data out of an item's status.")] = (
        False
    )
    echo: Annotated[Literal["cut", "full"], Meta(description="cut: texts in results end at 2,000 characters.")] = "cut"


class ItemResult(Struct, gc=False):
    """All evaluations of an item, in the order of its rules."""

    id: Annotated[str, Meta(description="The item's id, or its 1-based position.")]
    status: Annotated[Status, Meta(description="Failed if anything failed, else the worst that is present.")]
    score: Annotated[Score | None, Meta(description="Weighted mean of the graded evaluations.")]
    evaluations: list[Evaluation]


class Tally(Struct, kw_only=True):
    """Counts by status; score and pass rate share their denominator, passed + failed, and are null where it is 0."""

    passed: int = 0
    failed: int = 0
    error: int = 0
    pending: int = 0
    not_graded: int = 0
    no_data: int = 0
    skipped: int = 0
    score: Annotated[Score | None, Meta(description="Mean over passed and failed.")] = None
    pass_rate: Annotated[Score | None, Meta(description="passed / (passed + failed).")] = None
    pass_rate_interval: Interval | None = None


class Summary(Tally, kw_only=True):
    """The batch in numbers: items by status, and the same for each evaluator."""

    items: Annotated[int, Meta(description="How many there were; the counts beside it are of them.")]
    evaluators: Annotated[dict[str, Tally], Meta(description="The same for each evaluator, by id.")]
    evaluations: Annotated[int, Meta(description="Items x rules.")]
    computed: Annotated[int, Meta(description="Evaluations that were judged.")]
    deduplicated: Annotated[int, Meta(description="Evaluations that an equal one answered.")]
    judge: Annotated[
        dict[str, JudgeCost] | UnsetType, Meta(description="What judges were asked, by their names, if any was.")
    ] = UNSET
    replaced_surrogates: Annotated[
        int | UnsetType, Meta(description="Lone surrogate escapes of the body that were read as U+FFFD.")
    ] = UNSET


class Notice(Struct):
    """Something that a reader of the numbers should know."""

    code: str
    detail: str


class Work(Struct, kw_only=True):
    """What an answer took."""

    evaluations: Annotated[int, Meta(description="Runs or responses x the rules for them.")] = 0
    computed: Annotated[int, Meta(description="Evaluations that were judged.")] = 0
    deduplicated: Annotated[int, Meta(description="Evaluations that an equal one answered.")] = 0
    judge: Annotated[
        dict[str, JudgeCost] | UnsetType, Meta(description="What judges were asked, to judge and to generate.")
    ] = UNSET
    replaced_surrogates: Annotated[
        int | UnsetType, Meta(description="Lone surrogate escapes of the body that were read as U+FFFD.")
    ] = UNSET


class Results(Struct):
    """The answer to a batch."""

    results: Annotated[list[ItemResult], Meta(description="In the order of the items.")]
    summary: Summary
