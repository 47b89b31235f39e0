"""Votes: what is asked in one and how it is read, several side by side, and what they come to."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import fsum
from typing import Any, get_args

from msgspec import Struct

from service.core.asking import Judging, Need, Told, Ungraded, refuse_long
from service.core.assess import TOLERANCE
from service.core.judging import NoReply, Prompt, Reply
from service.primitives.replies import ReplyFault, read_choice, read_object, refuse_stop
from service.primitives.replies.faults import Reason
from service.scorers.judged.wording import Question

_SHARED = frozenset({"judge_unavailable", "deadline_exceeded", "budget_exceeded", "undetermined"})
"""Reasons that say more than judge_incomplete where no vote has another."""
_UNREAD = frozenset(get_args(Reason))
"""Reasons of a vote whose reply came and says nothing that could be read."""


class Opinion(Struct, frozen=True, kw_only=True):
    """What one vote came to. `told` says it in a sentence.

    `evidence` goes into the details if this vote speaks for the result, `ballot` into those of every vote.
    """

    score: float
    told: str
    choice: str | None = None
    rationale: str = ""
    evidence: dict[str, Any] = {}
    ballot: dict[str, Any] = {}


class Vote:
    """One vote on its way: it asks under its own keys and in its own slot, and keeps what came back."""

    def __init__(self, number: int, kind: str, temperature: float | None) -> None:
        self.number = number
        self.replies: dict[str, Reply] = {}
        self.repaired = False
        self.forged: set[str] = set()
        self._kind = kind
        self._temperature = temperature

    def key(self, step: str) -> str:
        """What the question of a step is called: `statements` in the first vote, `vote2.statements` in the second."""
        return key_of(self.number, step)

    def ask(
        self, questions: Mapping[str, Question], *, apart: bool = False, foreseen: tuple[str, ...] = ()
    ) -> Judging[list[dict[str, Any]]]:
        """The objects that answer questions, by their keys. Ungraded where one has no readable reply.

        `apart`: the questions are one asked several times, which no one may take for one. `foreseen` are texts whose
        vectors are needed after the replies.
        """
        replies = yield from self.put(questions, apart=apart, foreseen=foreseen)
        return [self.read(reply, question.schema) for reply, question in zip(replies, questions.values(), strict=True)]

    def put(
        self, questions: Mapping[str, Question], *, apart: bool = False, foreseen: tuple[str, ...] = ()
    ) -> Judging[list[Reply]]:
        """The replies to questions as they came. Ungraded where one has none, or none that is complete."""
        for question in questions.values():
            self.forged.update(question.forged)
        told = yield Need(prompts=tuple(self._prompts(questions, apart=apart)), foreseen=foreseen)
        found = [told.replies[key] for key in questions]
        self.replies |= {key: reply for key, reply in zip(questions, found, strict=True) if isinstance(reply, Reply)}
        return [_complete(reply) for reply in found]

    def _prompts(self, questions: Mapping[str, Question], *, apart: bool) -> Iterator[Prompt]:
        for place, (key, question) in enumerate(questions.items(), 1):
            yield Prompt(
                key=key,
                messages=question.messages,
                schema=question.schema,
                slot=f"{self.number}.{place}" if apart else str(self.number),
                temperature=self._temperature,
                kind=question.kind,
                metadata={"type": self._kind, **question.metadata},
            )

    def read(self, reply: Reply, schema: dict[str, Any]) -> dict[str, Any]:
        """The one object in a reply that has this shape; Ungraded if there is none.

        A reply that is nothing but one of the labels asked for is the choice of it.
        """
        try:
            found = read_object(reply.text, reply.fields, schema)
        except ReplyFault as fault:
            label = _bare_label(reply, schema)
            if label is None:
                raise unread(fault) from None
            self.repaired = True
            return {"choice": label}
        self.repaired = self.repaired or found.repaired
        return found.value


def key_of(number: int, step: str) -> str:
    """What the question of a step is called in the vote of a number, the steps of the first without one."""
    if not step:
        return f"vote{number}"
    return step if number == 1 else f"vote{number}.{step}"


def unread(fault: ReplyFault) -> Ungraded:
    """A faulty reply as the end of a vote."""
    return Ungraded("not_graded", fault.reason, fault.detail)


def abreast(votes: Sequence[Judging[Opinion]]) -> Judging[list[Opinion | Ungraded]]:
    """Votes made side by side, each with its opinion or with why it has none. Their prompts have distinct keys."""
    ends: dict[int, Opinion | Ungraded] = {}
    told: Told | None = None
    while True:
        needs: list[Need] = []
        chars = 0
        for place, vote in enumerate(votes):
            if place in ends:
                continue
            try:
                needs.append(next(vote) if told is None else vote.send(told))
                refuse_long(chars := chars + needs[-1].chars)
            except StopIteration as end:
                ends[place] = end.value
            except Ungraded as fault:
                ends[place] = fault
        if not needs:
            return [ends[place] for place in range(len(votes))]
        told = yield Need(
            vectors=tuple(dict.fromkeys(text for need in needs for text in need.vectors)),
            prompts=tuple(prompt for need in needs for prompt in need.prompts),
            foreseen=tuple(dict.fromkeys(text for need in needs for text in need.foreseen)),
        )


def readable(ends: Sequence[Opinion | Ungraded]) -> list[Opinion]:
    """The opinions among what votes came to; Ungraded where they are under half."""
    opinions = [end for end in ends if isinstance(end, Opinion)]
    faults = [end for end in ends if isinstance(end, Ungraded)]
    if opinions and 2 * len(opinions) >= len(ends):
        return opinions
    reasons = {fault.reason for fault in faults}
    if len(ends) == 1 or (not opinions and len(reasons) == 1 and reasons <= _SHARED):
        raise faults[0]
    told = f"{len(opinions)} of {len(ends)} votes could be read; the first that could not: {faults[0].detail}"
    raise Ungraded("not_graded", "judge_incomplete", told)


def majority(opinions: Sequence[Opinion]) -> tuple[float, Opinion]:
    """The score of the choice with the most votes, and the first vote for it; Ungraded on a tie."""
    ranking = Counter(opinion.choice for opinion in opinions).most_common()
    most = ranking[0][1]
    first, *others = (_named(choice) for choice, _ in takewhile(lambda one: one[1] == most, ranking))
    if others:
        tied = f"{', '.join([first, *others[:-1]])} and {others[-1]}"
        raise Ungraded("not_graded", "judge_tied", f"The votes are tied: {most} each for {tied}")
    final = next(opinion for opinion in opinions if opinion.choice == ranking[0][0])
    return final.score, final


def mean(opinions: Sequence[Opinion]) -> tuple[float, Opinion]:
    """The mean score, and the first vote that is nearest to it."""
    score = fsum(opinion.score for opinion in opinions) / len(opinions)
    return score, min(opinions, key=lambda opinion: abs(opinion.score - score))


def counted(ends: Sequence[Opinion | Ungraded], score: float, final: Opinion) -> str:
    """How several votes came out, as the beginning of a sentence; nothing of one alone."""
    if len(ends) == 1:
        return ""
    opinions = [end for end in ends if isinstance(end, Opinion)]
    unread = len(ends) - len(opinions)
    alike, voice = len(opinions), ""
    if any(opinion.choice is not None for opinion in opinions):
        alike, voice = sum(opinion.choice == final.choice for opinion in opinions), f" for {_named(final.choice)}"
    lost = f", {unread} gave no verdict" if unread else ""
    return f"{alike} of {len(ends)} votes{voice}{lost}, score {score:.4g}: "


def account(votes: Sequence[Vote], ends: Sequence[Opinion | Ungraded], *, with_replies: bool) -> dict[str, Any]:
    """Details of what was asked: calls, model, how the replies were read, texts that forged a fence."""
    replies = {key: reply for vote in votes for key, reply in vote.replies.items()}
    models = list(dict.fromkeys(reply.model for reply in replies.values()))
    forged = sorted(set().union(*(vote.forged for vote in votes)))
    told: dict[str, Any] = {
        "calls": len(replies),
        "model": models[0] if len(models) == 1 else models or None,
        "reading": _reading(votes, ends) if replies else None,
    }
    if forged:
        told["injection"] = forged
    if with_replies:
        told["replies"] = {key: reply.text if reply.fields is None else reply.fields for key, reply in replies.items()}
    return told


def ballot(ends: Sequence[Opinion | Ungraded]) -> list[dict[str, Any]]:
    """What each vote came to, for the details."""
    return [
        {"reason": end.reason, "explanation": end.detail}
        if isinstance(end, Ungraded)
        else end.ballot | {"score": end.score}
        for end in ends
    ]


def accord(opinions: Sequence[Opinion], final: Opinion, score: float, threshold: float) -> dict[str, float]:
    """How far several votes agree; nothing of one alone.

    agreement: the share that made the final choice or, where there are none to make, that pass or fail as the mean
    does. flip_rate: the share of pairs of which one passes and the other fails.
    """
    count = len(opinions)
    if count < 2:
        return {}
    passing = [one.score >= threshold - TOLERANCE for one in opinions]
    is_chosen = any(one.choice is not None for one in opinions)
    alike = (
        sum(one.choice == final.choice for one in opinions)
        if is_chosen
        else passing.count(score >= threshold - TOLERANCE)
    )
    flips = passing.count(True) * passing.count(False)
    return {"agreement": alike / count, "flip_rate": flips / (count * (count - 1) / 2)}


def _reading(votes: Sequence[Vote], ends: Sequence[Opinion | Ungraded]) -> str | None:
    """How the replies were read; None where one of them could not be."""
    if any(isinstance(end, Ungraded) and end.reason in _UNREAD for end in ends):
        return None
    return "repaired" if any(vote.repaired for vote in votes) else "clean"


def _named(choice: str | None) -> str:
    return choice or "no choice that held in both orders"


def _bare_label(reply: Reply, schema: dict[str, Any]) -> str | None:
    """The label that all of a text is; None where the text is more, or no label was asked for."""
    labels = schema.get("properties", {}).get("choice", {}).get("enum")
    if not labels or reply.fields is not None:
        return None
    try:
        return read_choice(reply.text, labels)
    except ReplyFault:
        return None


def _complete(reply: Reply | NoReply) -> Reply:
    if isinstance(reply, NoReply):
        raise Ungraded("not_graded", reply.reason, reply.detail)
    try:
        refuse_stop(reply.stop)
    except ReplyFault as fault:
        raise unread(fault) from None
    return reply
