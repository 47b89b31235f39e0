"""How an evaluation ended: the seven statuses, what each carries, and how they roll up."""

from collections.abc import Collection
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

Score = Annotated[float, Meta(ge=0, le=1)]
Status = Literal["passed", "failed", "error", "pending", "not_graded", "no_data", "skipped"]

STATUSES: tuple[Status, ...] = get_args(Status)
GRADED: frozenset[Status] = frozenset({"passed", "failed"})
LEFT_OUT_ON_REQUEST: frozenset[Status] = frozenset({"not_graded", "no_data"})
_PASSED = {"passed"}
WORST_FIRST: tuple[Status, ...] = ("failed", "error", "pending", "not_graded", "no_data", "passed")


class Evaluation(Struct, gc=False):
    """The outcome of one rule on one item.

    Only `passed` and `failed` carry a score; every other status but `skipped` carries a reason why there is none.
    """

    evaluator: str
    type: str
    label: str | None
    status: Status
    score: Score | None = None
    reason: str | None = None
    explanation: str = ""
    actual: Any = None
    expected: Any = None
    details: dict[str, Any] = {}


def roll_up(statuses: Collection[Status], *, ignore_not_graded: bool = False) -> Status:
    """The status of an item: failed if anything failed, else the worst that is present, skipped if nothing ran.

    With `ignore_not_graded`, evaluations that were not graded or had no data are left out, as long as one was graded.
    """
    present = set(statuses)
    if ignore_not_graded and present & GRADED:
        present -= LEFT_OUT_ON_REQUEST
    if present == _PASSED:
        return "passed"
    return next((status for status in WORST_FIRST if status in present), "skipped")
