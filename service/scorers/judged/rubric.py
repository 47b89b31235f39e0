"""A judge that rates by a rubric in plain words."""

from typing import Annotated, Any

from msgspec import Meta

from service.core.asking import Judging, Ungraded
from service.core.case import Case
from service.core.evaluator import Example, NonEmpty
from service.primitives.jsontext import as_text
from service.scorers.judged.asking import Chatting, Reasoned, judged
from service.scorers.judged.material import criteria
from service.scorers.judged.rating import rated
from service.scorers.judged.shapes import said, shape
from service.scorers.judged.votes import Opinion, Vote
from service.scorers.judged.wording import Texts, load

_WORDING = load("llm_rubric")


class LlmRubric(Chatting, frozen=True, kw_only=True):
    """A judge rates how well the output fulfils criteria in your own words.

    The judge answers {reasons, score} with a score from 0 (not at all) to 1 (in every respect); a text with a line such
    as `Score: 0.8`, `7/10` or `70%` is read as well, and what lies outside is not_graded/judge_out_of_range. The
    criteria are `criteria`, else the item's `metadata.criteria`; no_data/missing_criteria where there are none. The
    judge sees the input, the context and `expected` where the item has them. It is asked under the key `vote1`, further
    votes under `vote2` and so on. Source: Fair Forge JQ.
    """

    spec = judged(
        Example(
            params={"criteria": "Polite, and names the next step."},
            case=Case(input="My card is blocked.", output="I am sorry! Please call the number on its back."),
            replies={"vote1": {"reasons": "Both are there.", "score": 0.9}},
            status="passed",
            score=0.9,
        ),
        Example(
            case=Case(output="Call us.", metadata={"criteria": "Polite, and names the next step."}),
            replies={"vote1": "It names the step, curtly.\nScore: 4/10"},
            status="failed",
            score=0.4,
        ),
        reads=("input", "context", "expected", "metadata"),
    )

    criteria: Annotated[
        NonEmpty | None,
        Meta(description="What counts, and how much; default: the item's `metadata.criteria`.",
             extra={"limit": "text_chars"}),
    ] = None  # fmt: skip
    use_cot: Reasoned = True

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        texts = super().texts(value, expected, case)
        wanted = self.criteria or criteria(case)
        if not wanted:
            told = "Nothing to judge by: no `criteria`, and no `metadata.criteria` in the item"
            raise Ungraded("no_data", "missing_criteria", told)
        return {**texts, "criteria": as_text(wanted)}

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        (reply,) = yield from vote.put({f"vote{vote.number}": _WORDING.question(texts, self.reply())})
        return rated(vote, reply, (0.0, 1.0), "reasons")

    def reply(self) -> dict[str, Any]:
        """The shape of the reply: reasons come first where they are asked for, so that the score follows from them."""
        reasons = {"reasons": said("Which criteria are fulfilled and which are not, before you decide.")}
        score = said("How far the criteria are fulfilled, from 0 to 1.", "number")
        return shape(**(reasons if self.use_cot else {}), score=score)
