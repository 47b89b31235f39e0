"""An own scorer as judge."""

from typing import Annotated, Any

from msgspec import UNSET, Meta
from msgspec.structs import replace

from service.core.asking import Judging
from service.core.case import Case
from service.core.evaluator import Example
from service.primitives.jsontext import as_text, decode, render
from service.scorers.judged.asking import Asking, judged
from service.scorers.judged.choosing import rationale, sentence
from service.scorers.judged.material import under_test, unnamed
from service.scorers.judged.shapes import said
from service.scorers.judged.votes import Opinion, Vote
from service.scorers.judged.wording import Texts, load

_WORDING = load("external")
_SCHEMA = {
    "type": "object",
    "properties": {
        "score": said("From 0, the worst, to 1, the best.", "number") | {"minimum": 0, "maximum": 1},
        "reasoning": said("Why."),
        "details": {"description": "Anything else to be kept with the score."},
    },
    "required": ["score"],
    "additionalProperties": False,
}


class External(Asking, frozen=True):
    """A scorer of your own gives the score.

    A judge of kind http is sent `metadata` with output, input, expected and context, as far as the item has them, and
    `params`; it answers {score, reasoning, details}, the score within 0..1. Any other judge is shown the same as text.
    It is asked under the key `vote1`, further votes under `vote2` and so on.
    """

    spec = judged(
        Example(
            params={"params": {"house_style": "short"}},
            case=Case(output="Done."),
            replies={"vote1": {"score": 0.9, "reasoning": "Short enough.", "details": {"words": 1}}},
            status="passed",
            score=0.9,
        ),
        Example(
            case=Case(input="2 + 2", output="5", expected="4"),
            replies={"vote1": {"score": 0, "reasoning": "Off by one."}},
            status="failed",
            score=0.0,
        ),
        reads=("input", "expected", "context"),
    )

    params: Annotated[Any, Meta(description="Any JSON, handed on to the scorer.")] = None

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        under_test(value)
        parts = {
            "output": unnamed(value),
            "input": unnamed(case.input),
            "expected": case.expected,
            "context": case.context,
            "params": self.params,
        }
        return {"case": render({name: part for name, part in parts.items() if part is not UNSET})}

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        question = replace(_WORDING.question(texts, _SCHEMA), metadata=decode(as_text(texts["case"])))
        (answer,) = yield from vote.ask({f"vote{vote.number}": question})
        reasons, score = rationale(answer, "reasoning"), float(answer["score"])
        evidence = {"details": answer["details"]} if "details" in answer else {}
        told = sentence("the scorer's verdict", score, reasons)
        return Opinion(score=score, told=told, rationale=reasons, evidence=evidence)
