"""How an evaluation ended: the seven statuses, what each carries, and how they roll up."""

from collections.abc import Set
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

Score = Annotated[float, Meta(ge=0, le=1)]
Status = Literal["passed", "failed", "error", "pending", "not_graded", "no_data", "skipped"]

STATUSES: tuple[Status, ...] = get_args(Status)
GRADED: frozenset[Status] = frozenset({"passed", "failed"})
LEFT_OUT_ON_REQUEST: frozenset[Status] = frozenset({"not_graded", "no_data"})
WORST_FIRST: tuple[Status, ...] = ("failed", "error", "pending", "not_graded", "no_data", "passed")


class Evaluation(Struct, gc=False):
    """The outcome of one rule on one item.

    Only `passed` and `failed` carry a score; every other status but `skipped` carries a reason why there is none.
    """

    evaluator: Annotated[str, Meta(description="The rule's id.")]
    type: Annotated[str, Meta(description="The rule's type.")]
    label: str | None
    status: Status
    score: Annotated[Score | None, Meta(description="Of passed and failed only.")] = None
    reason: Annotated[str | None, Meta(description="Why there is no score.")] = None
    explanation: Annotated[str, Meta(description="One line that names the values compared.")] = ""
    actual: Annotated[Any, Meta(description="What was judged, or found in it.")] = None
    expected: Annotated[Any, Meta(description="What it was compared with.")] = None
    details: Annotated[dict[str, Any], Meta(description="More, by type; `code` is the cause of a failure.")] = {}


def roll_up(present: Set[Status], *, ignore_not_graded: bool = False) -> Status:
    """The status of an item: failed if anything failed, else the worst that is present, skipped if nothing ran.

    With `ignore_not_graded`, evaluations that were not graded or had no data are left out, as long as one was graded.
    """
    if ignore_not_graded and present & GRADED:
        present = present - LEFT_OUT_ON_REQUEST
    for status in WORST_FIRST:
        if status in present:
            return status
    return "skipped"
