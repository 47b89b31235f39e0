"""Judges that pick one of several labels."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from service.core.asking import Judging
from service.core.outcome import Score
from service.primitives import RuleFault
from service.primitives.pointer import nearest
from service.primitives.text import cut, quote, shown
from service.scorers.judged.asking import Chatting, Reasoned
from service.scorers.judged.shapes import said, shape
from service.scorers.judged.votes import Opinion, Vote, majority
from service.scorers.judged.wording import Texts, Wording


class Choosing(Chatting, frozen=True, kw_only=True):
    """A judge picks one of several labels, and each label stands for a score."""

    labels: ClassVar[dict[str, float]]
    wording: ClassVar[Wording]

    use_cot: Reasoned = True
    choice_scores: Annotated[
        dict[str, Score] | None,
        Meta(description="Other scores for the labels: exactly the evaluator's own labels, each with its score."),
    ] = None

    def validate(self, expected: Any) -> None:
        given = self.labels if self.choice_scores is None else self.choice_scores
        wanted = ", ".join(self.labels)
        for label in given:
            if label not in self.labels:
                hint = nearest(label, self.labels) or f": they are {wanted}"
                raise RuleFault("invalid_params", f"`choice_scores`: {quote(cut(label, 60))} is no label{hint}")
        missing = ", ".join(label for label in self.labels if label not in given)
        if missing:
            told = f"`choice_scores` has no score for {missing}: it has to give one to each of {wanted}"
            raise RuleFault("invalid_params", told)

    @classmethod
    def wordings(cls) -> dict[str, Wording]:
        return {str(cls.__struct_config__.tag): cls.wording}

    @property
    def scores(self) -> dict[str, float]:
        """The scores in force, by label."""
        return self.choice_scores or self.labels

    def decide(self, opinions: Sequence[Opinion]) -> tuple[float, Opinion]:
        return majority(opinions)

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        question = self.wording.question(texts, self.reply())
        (answer,) = yield from vote.ask({f"vote{vote.number}": question})
        choice = answer["choice"]
        return self.chosen(choice, rationale(answer), f"the judge chose {choice}")

    def reply(self) -> dict[str, Any]:
        """The shape of the reply: reasons come first where they are asked for, so that the choice follows from them."""
        reasons = {"reasons": said("What speaks for which label, before you decide.")} if self.use_cot else {}
        choice = said("The label that you decide for.") | {"enum": list(self.labels)}
        return shape(**reasons, choice=choice)

    def chosen(self, choice: str, reasons: str, told: str, **evidence: Any) -> Opinion:
        """The opinion that a choice stands for."""
        return Opinion(
            score=self.scores[choice],
            choice=choice,
            told=sentence(told, self.scores[choice], reasons),
            rationale=reasons,
            evidence={"choice": choice, "choice_scores": self.scores, **evidence},
            ballot={"choice": choice},
        )


class Pairing(Choosing, frozen=True, kw_only=True):
    """A judge compares the value under test with the expected one, on request in both orders."""

    mirrored: ClassVar[dict[str, str]]
    """What a label means once the two have changed places."""

    swap: Annotated[
        bool,
        Meta(description="Ask in both orders; a judge that contradicts itself scores 0.5, and details.flipped tells."),
    ] = False

    def keys(self) -> list[str]:
        own = super().keys()
        return [*own, *(f"{key}.swap" for key in own)] if self.swap else own

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        if not self.swap:
            return (yield from super().opinion(vote, texts))
        swapped = {**texts, "output": texts["expected"], "expected": texts["output"]}
        orders = {f"vote{vote.number}": texts, f"vote{vote.number}.swap": swapped}
        answers = yield from vote.ask({key: self.wording.question(one, self.reply()) for key, one in orders.items()})
        first, second = answers[0]["choice"], self.mirrored[answers[1]["choice"]]
        reasons = rationale(answers[0])
        if first == second:
            return self.chosen(first, reasons, f"the judge chose {first} in both orders", flipped=False)
        told = f"the judge contradicts itself: {first}, and {second} once the two have changed places"
        evidence = {"choice": None, "choice_scores": self.scores, "flipped": True}
        ballot = {"choice": None, "choices": [first, second]}
        return Opinion(
            score=0.5, told=sentence(told, 0.5, reasons), rationale=reasons, evidence=evidence, ballot=ballot
        )


def sentence(told: str, score: float, reasons: str) -> str:
    """What an explanation says of a vote."""
    return f"{told} (score {score:.4g})" + (f": {shown(reasons)}" if reasons.strip() else "")


def rationale(answer: dict[str, Any], name: str = "reasons") -> str:
    """Why, in the judge's words: a text, or the lines of a list."""
    said_why = answer.get(name)
    if isinstance(said_why, list):
        return "\n".join(str(one) for one in said_why)
    return said_why if isinstance(said_why, str) else ""
