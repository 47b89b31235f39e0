"""How an evaluation ended. The seven statuses are known here and nowhere else."""

from collections.abc import Collection
from typing import Any, Literal, get_args

from msgspec import Struct

from service.primitives import RuleFault

Status = Literal["passed", "failed", "error", "pending", "not_graded", "no_data", "skipped"]

STATUSES: tuple[Status, ...] = get_args(Status)
GRADED: frozenset[Status] = frozenset({"passed", "failed"})
LEFT_OUT_ON_REQUEST: frozenset[Status] = frozenset({"not_graded", "no_data"})
WORST_FIRST: tuple[Status, ...] = ("failed", "error", "pending", "not_graded", "no_data", "passed")


class Outcome(Struct, gc=False):
    """The end of one evaluation. Only `passed` and `failed` carry a score, and only they carry no reason."""

    status: Status
    score: float | None = None
    reason: str | None = None
    explanation: str = ""
    actual: Any = None
    expected: Any = None
    details: dict[str, Any] = {}


SKIPPED = Outcome(status="skipped", explanation="The rule is not active")


def no_data(reason: str, explanation: str, *, actual: Any = None, expected: Any = None) -> Outcome:
    """Nothing to judge."""
    return Outcome(status="no_data", reason=reason, explanation=explanation, actual=actual, expected=expected)


def not_graded(reason: str, explanation: str) -> Outcome:
    """Whoever should have judged did not; this says nothing about the output."""
    return Outcome(status="not_graded", reason=reason, explanation=explanation)


def error(fault: RuleFault) -> Outcome:
    """The rule is at fault, or cannot run on such data."""
    return Outcome(status="error", reason=fault.code, explanation=fault.detail)


def roll_up(statuses: Collection[Status], *, ignore_not_graded: bool = False) -> Status:
    """The status of an item: failed if anything failed, else the worst that is present, skipped if nothing ran.

    With `ignore_not_graded`, evaluations that were not graded or had no data are left out, as long as one was graded.
    """
    if ignore_not_graded and not GRADED.isdisjoint(statuses):
        statuses = set(statuses) - LEFT_OUT_ON_REQUEST
    for status in WORST_FIRST:
        if status in statuses:
            return status
    return "skipped"
