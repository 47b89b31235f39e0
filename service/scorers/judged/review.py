"""A person as judge."""

from typing import Annotated, Any

from msgspec import Meta

from service.core.asking import Judging, Need, Ungraded
from service.core.case import Case
from service.core.evaluator import Evaluator, Example, NonEmpty, Spec, Verdict
from service.core.judging import Grade
from service.primitives.text import shown
from service.scorers.judged.choosing import sentence


class Review(Evaluator, frozen=True, kw_only=True):
    """A reviewer, a person or an agent, is content with the output.

    Nobody is called: the evaluation is pending/review, with `criteria` in its details, until the item's `grades` has a
    verdict under the evaluator's id. The score is the grade. Source: pixie create_agent_evaluator.
    """

    spec = Spec(
        family="judges",
        graded=True,
        echoes=True,
        heavy=True,
        examples=(
            Example(
                params={"criteria": "Chose the right queue."},
                case=Case(output="Billing"),
                grade=Grade(0.75, "Right, but slowly."),
                status="passed",
                score=0.75,
            ),
            Example(
                params={"criteria": "Chose the right queue."},
                case=Case(output="Sales"),
                grade=Grade(0.0, "It is about a bill."),
                status="failed",
                score=0.0,
            ),
            Example(params={"criteria": "Chose the right queue."}, case=Case(output="Billing"), status="pending"),
        ),
    )

    criteria: Annotated[NonEmpty, Meta(description="What the reviewer is to look at.", extra={"limit": "text_chars"})]

    def inquires(self) -> bool:
        return True

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        told = yield Need(grade=True)
        details: dict[str, Any] = {"criteria": self.criteria}
        if told.grade is None:
            raise Ungraded("pending", "review", f"Waits for a reviewer: {shown(self.criteria)}", details)
        score, reasons = told.grade.score, told.grade.reasoning
        return Verdict(
            score=score, fact=sentence("the reviewer's grade", score, reasons), details=details | {"rationale": reasons}
        )
