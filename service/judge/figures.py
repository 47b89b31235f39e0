"""What is counted of each judge."""

from typing import Literal

from msgspec import Struct

from service.judge.breaker import State

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


class JudgeFigures(Struct, kw_only=True):
    """What a judge has been asked since the service began, and what is under way now."""

    calls: dict[Outcome, int] = {}
    """By what became of them; a call and its retries are one. Cancelled are those whose callers went away."""
    retries: int = 0
    throttled: int = 0
    """Answers that said it was too much."""
    shared: int = 0
    """Prompts answered by the call of an equal one."""
    cache_hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    attempts: int = 0
    seconds: float = 0.0
    """Time in attempts, summed."""
    in_flight: int = 0
    waiting: int = 0
    """Calls that wait for their turn."""
    concurrency: int = 0
    """Calls that may be under way at once, as things are."""
    breaker: State = "closed"

    def count(self, outcome: Outcome) -> None:
        """Count a call that ended."""
        self.calls[outcome] = self.calls.get(outcome, 0) + 1
