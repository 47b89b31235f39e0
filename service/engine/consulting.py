"""The questions of a batch to judges: each distinct one asked once, replies that the caller fetched taken as given."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from hashlib import blake2b
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from service.catalogue import type_name
from service.core.asking import Ungraded
from service.core.evaluator import Evaluator
from service.core.judging import CALLER, JudgeInfo, NoReply, Prompt, Reply
from service.core.ports import Account, Judges
from service.engine.batch import Item, JudgeCost
from service.engine.handing import Replies, handed
from service.engine.lanes import SLICE_SECONDS, Steps
from service.primitives import RuleFault
from service.primitives.pointer import nearest
from service.primitives.text import cut

DEFAULT = "default"

Answer = Replies | Ungraded | RuleFault
Way = Answer | list[bytes]
"""An answer that needs no judge, or the identities of the prompts that one is asked."""

_OVER = NoReply("budget_exceeded", "The request asks judges more than it may (judge_calls at /v1/limits)")

_encode = msgspec.json.Encoder(order="deterministic").encode


class Question(NamedTuple):
    """What one judgement wants to know, and the keys that it has asked before."""

    rule: Evaluator
    item: Item
    prompts: tuple[Prompt, ...]
    earlier: Sequence[str]

    def slotted(self) -> "Question":
        """The same question in the slot of its item."""
        if not self.item.slot:
            return self
        return self._replace(prompts=tuple(_in_slot(self.item.slot, prompt) for prompt in self.prompts))


class Consulting:
    """Asks the judges for one batch, within its deadline and its number of calls, and counts what that takes."""

    def __init__(self, judges: Judges, deadline: float, most_calls: int, trace: Mapping[str, str]) -> None:
        self.costs: defaultdict[str, JudgeCost] = defaultdict(JudgeCost)
        self.hands_out_prompts = False
        """Whether the caller is told of any; they are not cut, so that an answer may be long."""
        self._judges = judges
        self._deadline = deadline
        self._calls_left = most_calls
        self._trace = trace
        self._account = Account()

    def ways(self, questions: Sequence[Question]) -> Steps[list[Way]]:
        """How each question comes to an answer."""
        ways: list[Way] = []
        pause_at = 0.0
        for question in questions:
            if perf_counter() > pause_at:
                yield None
                pause_at = perf_counter() + SLICE_SECONDS
            ways.append(self._way(question))
        return ways

    def begin(self, questions: Sequence[Question], ways: Sequence[Way]) -> "Consultation":
        """Ask what is to be asked; what comes of it can be had once the futures are done."""
        asked: defaultdict[str, dict[bytes, Prompt]] = defaultdict(dict)
        for question, way in zip(questions, ways, strict=True):
            if isinstance(way, list):
                asked[judge_of(question.rule)].update(zip(way, question.prompts, strict=True))
        return Consultation(
            self, questions, ways, [self._ask(judge, prompts, self._deadline) for judge, prompts in asked.items()]
        )

    def until(self, share: float) -> float:
        """The moment at which this share of the time left will have passed."""
        now = perf_counter()
        return now + share * (self._deadline - now)

    def put(self, judge: str, prompts: Sequence[Prompt], until: float) -> "Asked":
        """Ask a judge prompts that belong to no evaluation; no two may be equal."""
        by_identity = {identity(prompt): prompt for prompt in prompts}
        assert len(by_identity) == len(prompts), "equal prompts need slots of their own"
        return self._ask(judge, by_identity, until)

    def taken(self, asked: "Asked") -> dict[tuple[str, bytes], Reply | NoReply]:
        """What came of questions, by judge and identity in the order in which they were put, once they are done."""
        self._count(asked.judge, asked.future.result())
        return asked.found()

    def _way(self, question: Question) -> Way:
        if not question.prompts:
            return {}
        known = refused_by(question.rule, self._judges.known) or self._given(question)
        self.hands_out_prompts |= isinstance(known, Ungraded) and known.status == "pending"
        return [identity(prompt) for prompt in question.prompts] if known is None else known

    def _given(self, question: Question) -> Answer | None:
        """The caller's own replies, or what it still has to ask; None where the judge is another."""
        if judge_of(question.rule) != CALLER:
            return None
        return handed(question.rule, question.item.replies, question.prompts, question.earlier)

    def _ask(self, judge: str, prompts: Mapping[bytes, Prompt], until: float) -> "Asked":
        affordable = list(prompts)[: self._calls_left]
        self._calls_left -= len(affordable)
        future = self._judges.ask(judge, [prompts[one] for one in affordable], until, self._trace, self._account)
        return Asked(judge, list(prompts), len(affordable), future)

    def _count(self, judge: str, found: Sequence[Reply | NoReply]) -> None:
        """Add what a judge was asked to the costs."""
        cost = self.costs[judge]
        for one in found:
            cost.calls += isinstance(one, Reply) or one.is_sent
            if isinstance(one, Reply):
                cost.input_tokens += one.input_tokens
                cost.output_tokens += one.output_tokens


class Asked(NamedTuple):
    """Distinct questions to one judge; the first so many of them were affordable and are on their way."""

    judge: str
    identities: list[bytes]
    affordable: int
    future: Future[list[Reply | NoReply]]

    def found(self) -> dict[tuple[str, bytes], Reply | NoReply]:
        """By judge and identity, once the future is done."""
        replies = [*self.future.result(), *[_OVER] * (len(self.identities) - self.affordable)]
        return {(self.judge, one): reply for one, reply in zip(self.identities, replies, strict=True)}


class Consultation:
    """Questions on their way."""

    def __init__(
        self,
        consulting: Consulting,
        questions: Sequence[Question],
        ways: Sequence[Way],
        asked: list[Asked],
    ) -> None:
        self.futures: list[Future[Any]] = [one.future for one in asked]
        self._consulting = consulting
        self._questions = questions
        self._ways = ways
        self._asked = asked

    def answers(self) -> list[Answer]:
        """For each question the replies by key, or why its judgement ends here; once all futures are done."""
        found: dict[tuple[str, bytes], Reply | NoReply] = {}
        for one in self._asked:
            found |= self._consulting.taken(one)
        return [
            _own(question, way, found) if isinstance(way, list) else way
            for question, way in zip(self._questions, self._ways, strict=True)
        ]


def _own(
    question: Question, identities: Sequence[bytes], found: Mapping[tuple[str, bytes], Reply | NoReply]
) -> Replies:
    judge = judge_of(question.rule)
    return {prompt.key: found[judge, one] for prompt, one in zip(question.prompts, identities, strict=True)}


def asks_judge(rule: Evaluator) -> bool:
    """Whether a rule asks a judge at all."""
    return hasattr(rule, "judge_")


def _in_slot(slot: str, prompt: Prompt) -> Prompt:
    return replace(prompt, slot=f"{slot}/{prompt.slot}")


def judge_of(rule: Evaluator) -> str:
    """The name of the judge that a rule asks; the default for rules that ask none."""
    return str(getattr(rule, "judge_", DEFAULT))


def identity(prompt: Prompt) -> bytes:
    """Equal for prompts that are one question, whatever they are called."""
    return blake2b(_encode(replace(prompt, key="")), digest_size=16).digest()


def unknown_judge(rule: Evaluator, known: Collection[str]) -> RuleFault | None:
    """What is wrong with the judge that a rule names; `default` need not be there."""
    name = judge_of(rule)
    if name in known or name == DEFAULT:
        return None
    return RuleFault("unknown_judge", no_such_judge(name, known))


def no_such_judge(name: str, known: Collection[str]) -> str:
    """What to say of the name of a judge that there is not."""
    hint = nearest(name, known) or f": known are {', '.join(known)}"
    return f"There is no judge {cut(name, 100)!r}{hint}"


def refused_by(rule: Evaluator, known: Mapping[str, JudgeInfo]) -> Ungraded | RuleFault | None:
    """Why the judge that a rule names cannot be asked by it at all."""
    name = judge_of(rule)
    judge = known.get(name)
    if judge is None:
        return unknown_judge(rule, known) or Ungraded("not_graded", "judge_unavailable", _no_default(known))
    if not judge.allow_templates and hasattr(rule, "prompt_template"):
        return RuleFault("invalid_params", f"The judge {name} takes no prompt templates of callers (allow_templates)")
    if judge.kind == "anthropic" and type_name(type(rule)) == "moderation":
        told = f"The judge {name} is of kind anthropic, which has no moderation; one of kind openai may have"
        return Ungraded("not_graded", "judge_unavailable", told)
    return None


def _no_default(known: Collection[str]) -> str:
    others = ", ".join(name for name in known if name != CALLER)
    said = f"no judge is named default; known are {others}: name one in `judge`" if others else "no judge is configured"
    return f"{said}{', ' if others else ': '}add a table [judges.default] (docs/judges.md), or use `judge: caller`"
