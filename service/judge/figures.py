"""What is counted of each judge."""

from bisect import bisect_left
from typing import ClassVar, Literal

from msgspec import Struct

from service.judge.breaker import State
from service.judge.faults import Cause

Outcome = Literal[
    "complete",
    "truncated",
    "refused",
    "filtered",
    "judge_unavailable",
    "deadline_exceeded",
    "budget_exceeded",
    "cancelled",
]


BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, float("inf"))
"""Seconds up to which tries are counted together: from a small model nearby to one that thinks for minutes."""


class JudgeFigures(Struct, kw_only=True):
    """What a judge has been asked since the service began, and what is under way now."""

    calls: dict[Outcome, int] = {}
    """By what became of them; a call and its retries are one. Cancelled are those whose callers went away."""
    causes: dict[Cause, int] = {}
    """Of the calls that are judge_unavailable, why."""
    durations: dict[float, int] = {}
    """Tries by the least of `bounds` that is no less than the seconds they took."""
    bounds: ClassVar[tuple[float, ...]] = BOUNDS
    retries: int = 0
    throttled: int = 0
    """Answers that said it was too much."""
    shared: int = 0
    """Prompts answered by the call of an equal one."""
    cache_hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    attempts: int = 0
    """What was sent: a call that is tried again, or in another form, is several."""
    seconds: float = 0.0
    """Time in attempts, summed."""
    in_flight: int = 0
    waiting: int = 0
    """Calls that wait for their turn."""
    concurrency: int = 0
    """Calls that may be under way at once, as things are."""
    breaker: State = "closed"

    def count(self, outcome: Outcome) -> None:
        """Count a call that ended otherwise than by a fault of the judge."""
        self.calls[outcome] = self.calls.get(outcome, 0) + 1

    def count_fault(self, cause: Cause, calls: int = 1) -> None:
        """Count calls that ended judge_unavailable."""
        self.calls["judge_unavailable"] = self.calls.get("judge_unavailable", 0) + calls
        self.causes[cause] = self.causes.get(cause, 0) + calls

    def count_try(self, seconds: float) -> None:
        """Count a try that took so long."""
        self.seconds += seconds
        bound = BOUNDS[bisect_left(BOUNDS, seconds)]
        self.durations[bound] = self.durations.get(bound, 0) + 1
