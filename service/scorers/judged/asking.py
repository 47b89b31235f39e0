"""What all evaluators that ask a judge have in common."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import Meta
from msgspec.structs import replace

from service.core.asking import Judging, Ungraded
from service.core.case import Case
from service.core.evaluator import Evaluator, Example, Name, Source, Spec, Verdict
from service.scorers.judged.material import given, needed, under_test
from service.scorers.judged.votes import (
    Opinion,
    Vote,
    abreast,
    accord,
    account,
    ballot,
    counted,
    key_of,
    mean,
    readable,
)
from service.scorers.judged.wording import Texts, Wording, is_there, load

MAX_SAMPLES = 100

Temperature = Annotated[
    Annotated[float, Meta(ge=0, le=2)] | None, Meta(description="Sent to the judge; nothing is sent unless given.")
]
Reasoned = Annotated[bool, Meta(description="The judge gives its reasons before its verdict.")]


def judged(*examples: Example, reads: tuple[Source, ...] = (), follow_ups: int = 0) -> Spec:
    """The spec of an evaluator that asks a judge."""
    return Spec(
        family="judges", graded=True, echoes=True, heavy=True, reads=reads, follow_ups=follow_ups, examples=examples
    )


class Oddity(NamedTuple):
    """What looks odd about a rule, though it runs: the pointer to its field, a code, a sentence."""

    field: str
    code: str
    detail: str


class Asking(Evaluator, frozen=True, kw_only=True, rename={"judge_": "judge"}):
    """An evaluator that asks a judge, in one vote or in several."""

    shows: ClassVar[tuple[str, ...]] = ()
    """Parts of the case that the judge must see beside the value under test."""
    steps: ClassVar[tuple[str, ...]] = ()
    """What a vote asks, in the names of its keys; `vote1`, `vote2` and so on where it asks one thing."""
    embeds_replies: ClassVar[bool] = False
    """Whether texts of the judge's own are embedded, which nobody knows before."""

    judge_: Annotated[Name, Meta(description="Who is asked: a configured judge, or `caller`.")] = "default"
    samples: Annotated[
        int,
        Meta(ge=1, le=MAX_SAMPLES, description="Votes: labels by majority, scores by their mean."),
    ] = 1
    include_replies: Annotated[bool, Meta(description="Put the judge's raw replies into details.replies.")] = False

    def inquires(self) -> bool:
        return True

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        texts = self.texts(value, expected, case)
        settled = self.settled(texts)
        if settled is not None:
            return self._verdict([], [settled], settled.score, settled)
        votes = [Vote(number, str(self.__struct_config__.tag), self.warmth()) for number in range(1, self.samples + 1)]
        ends = yield from abreast([self.opinion(vote, texts) for vote in votes])
        try:
            score, final = self.decide(readable(ends))
        except Ungraded as fault:
            details = account(votes, ends, with_replies=self.include_replies) | {"votes": ballot(ends)}
            raise Ungraded(fault.status, fault.reason, fault.detail, details | fault.details) from None
        return self._verdict(votes, ends, score, final)

    def keys(self) -> list[str]:
        """Every key under which the judge may be asked about one value."""
        votes = range(1, self.samples + 1)
        return [key_of(number, step) for step in self.steps or ("",) for number in votes]

    def oddities(self) -> Iterator[Oddity]:
        """What looks odd about the rule by itself."""
        yield from ()

    @classmethod
    def wordings(cls) -> dict[str, Wording]:
        """What a judge is told, by the names under which the catalogue shows it."""
        own = str(cls.__struct_config__.tag)
        names = [f"{own}_{step}" for step in cls.steps]
        return {name: load(name) for name in (*names, own) if is_there(name)}

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        """What the judge is shown, by the names that wordings call it. Ungraded no_data where something is missing."""
        rest = given(case if expected is None else replace(case, expected=expected))
        needed(rest, *self.shows)
        return {**rest, "output": under_test(value)}

    def settled(self, texts: Texts) -> Opinion | None:
        """What is known without asking anyone."""
        return None

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        """What one vote comes to; Ungraded where it comes to nothing."""
        raise NotImplementedError

    def decide(self, opinions: Sequence[Opinion]) -> tuple[float, Opinion]:
        """The score of several votes, and the one that speaks for it."""
        return mean(opinions)

    def warmth(self) -> float | None:
        """The temperature that is sent."""
        return None

    def _verdict(
        self, votes: Sequence[Vote], ends: Sequence[Opinion | Ungraded], score: float, final: Opinion
    ) -> Verdict:
        opinions = [end for end in ends if isinstance(end, Opinion)]
        details = {
            **final.evidence,
            "rationale": final.rationale,
            "votes": ballot(ends) if votes else [],
            **accord(opinions, final, score, self.threshold),
            **account(votes, ends, with_replies=self.include_replies),
        }
        return Verdict(score=score, fact=counted(ends, score, final) + final.told, details=details)


class Chatting(Asking, frozen=True, kw_only=True):
    """An evaluator that asks a language model."""

    temperature: Temperature = None

    def warmth(self) -> float | None:
        return self.temperature
