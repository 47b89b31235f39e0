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


class JudgeFault(Exception):
    """Why a judge did not answer: what follows "The judge NAME", telling nothing of where it is or of its key."""

    reason: ClassVar[Literal["judge_unavailable", "budget_exceeded"]] = "judge_unavailable"

    def __init__(self, said: str, status: int = 0) -> None:
        super().__init__(said)
        self.said = said
        self.status = status


class Passing(JudgeFault):
    """The judge failed, and another try may not."""


class Throttled(JudgeFault):
    """The judge has too much to do; it may be asked again `after` so many seconds."""

    def __init__(self, said: str, status: int = 0, after: float = 0.0) -> None:
        super().__init__(said, status)
        self.after = after


class Down(JudgeFault):
    """The judge will not answer anything until somebody mends it or its settings."""


class Refused(JudgeFault):
    """The judge works, and does not take this prompt."""


class LeftAlone(JudgeFault):
    """The judge is not asked for a while."""


class OverBudget(JudgeFault):
    """The request has spent what it may."""

    reason = "budget_exceeded"
