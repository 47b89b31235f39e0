"""Scorers that compare meanings, through vectors of texts."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from service.core.asking import Judging, Need, Told
from service.core.case import Case
from service.core.evaluator import Evaluator, Example, Expected, Spec, Verdict
from service.primitives import RuleFault
from service.primitives.jsontext import as_text
from service.primitives.text import quote
from service.primitives.vectors import cosine, rescaled

FLOOR = 0.7
"""The cosine that scores 0, here by default and wherever meanings are compared inside another measure."""


class EmbeddingSimilarity(Evaluator, frozen=True):
    """The text means nearly the same as `expected`, as far as an embedding model can tell.

    score = max((cos - m) / (1 - m), 0), cos the cosine of the two vectors and m `expected_min`; a zero vector has
    cosine 0. Vectors come from the request's `vectors`, keyed by the text with `prefix` in front, or all from the model
    that `details.model` names. `details.tokens` says how much of each text the model read, `details.truncated` which
    were too long for it. Source: autoevals EmbeddingSimilarity.
    """

    spec = Spec(
        family="embeddings",
        graded=True,
        heavy=True,
        examples=(
            Example(
                params={"expected": "tide span"},
                case=Case(output="tidal range"),
                vectors={"tidal range": [1.0, 0.0], "tide span": [0.96, 0.28]},
                status="passed",
                score=(0.96 - 0.7) / 0.3,
            ),
            Example(
                params={"expected": "law"},
                case=Case(output="sea"),
                vectors={"sea": [1.0, 0.0], "law": [0.6, 0.8]},
                status="failed",
                score=0.0,
            ),
        ),
    )

    expected: Expected | UnsetType = UNSET
    prefix: Annotated[
        str, Meta(description="Put before both texts when they are embedded.", extra={"limit": "text_chars"})
    ] = ""
    expected_min: Annotated[float, Meta(ge=-1, le=1, description="The cosine that scores 0; less than 1.")] = FLOOR

    def validate(self, expected: Any) -> None:
        if self.expected_min >= 1:
            raise RuleFault("invalid_params", "`expected_min` is 1: no cosine would be above it, give less")

    def inquires(self) -> bool:
        return True

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        texts = {"actual": self.prefix + as_text(value), "expected": self.prefix + as_text(expected)}
        told = yield Need(vectors=tuple(texts.values()))
        found = cosine(told.vectors[texts["actual"]], told.vectors[texts["expected"]])
        score = rescaled(found, self.expected_min)
        compared = f"{quote(as_text(value))} and {quote(as_text(expected))}"
        return Verdict(
            score=score,
            fact=f"similarity {score:.4g} (cosine {found:.4g}) of {compared}",
            details={"cosine": found, "model": told.model, **read_of(texts, told)},
        )


def read_of(texts: dict[str, str], told: Told) -> dict[str, Any]:
    """How much a model read of texts, by what they are called; nothing where the caller gave the vectors."""
    readings = {name: told.readings[text] for name, text in texts.items() if text in told.readings}
    if not readings:
        return {}
    tokens = {name: {"tokens": one.tokens, "read": one.read} for name, one in readings.items() if one.tokens}
    truncated = [name for name, one in readings.items() if one.is_truncated]
    return {"tokens": tokens} | ({"truncated": truncated} if truncated else {})
