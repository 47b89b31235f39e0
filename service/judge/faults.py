"""How asking a judge can fail.

JudgeFault
├── Passing       another try may mend it: no connection, no answer in time, a 5xx, an answer that is none
├── Throttled     too much was asked at once
├── Down          no try mends it, whatever is asked: the key, the model, the address
├── Refused       this prompt is blamed
├── LeftAlone     the judge failed so often that it is not asked for a while
└── OverBudget    the request may not spend more
"""

from typing import ClassVar, Literal

Cause = Literal[
    "disconnected",
    "internal",
    "left_alone",
    "misconfigured",
    "no_key",
    "no_quota",
    "refused",
    "server_error",
    "throttled",
    "timeout",
    "unauthorized",
    "unreachable",
    "unreadable",
]
"""Why a judge is judge_unavailable, for whoever runs the service."""


class JudgeFault(Exception):
    """Why a judge did not answer: what follows "The judge NAME", telling nothing of where it is or of its key."""

    reason: ClassVar[Literal["judge_unavailable", "budget_exceeded"]] = "judge_unavailable"
    usual: ClassVar[Cause] = "internal"

    def __init__(self, said: str, status: int = 0, *, cause: Cause | None = None) -> None:
        super().__init__(said)
        self.said = said
        self.status = status
        self.cause: Cause = cause or self.usual


class Passing(JudgeFault):
    """The judge failed, and another try may not."""

    usual = "unreadable"


class Throttled(JudgeFault):
    """The judge has too much to do; it may be asked again `after` so many seconds."""

    usual = "throttled"

    def __init__(self, said: str, status: int = 0, after: float = 0.0) -> None:
        super().__init__(said, status)
        self.after = after


class Down(JudgeFault):
    """The judge will not answer anything until somebody mends it or its settings."""

    usual = "misconfigured"


class Refused(JudgeFault):
    """The judge works, and does not take this prompt."""

    usual = "refused"


class LeftAlone(JudgeFault):
    """The judge is not asked for a while."""

    usual = "left_alone"


class OverBudget(JudgeFault):
    """The request has spent what it may."""

    reason = "budget_exceeded"
