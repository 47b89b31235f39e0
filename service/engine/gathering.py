"""What the judgements of a batch need of others: asked for at once, each distinct text and question once."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import chain
from typing import NamedTuple, TypeVar

from service.core.asking import Need, Told, Ungraded
from service.core.errors import Late, ModelUnavailable, ServiceError
from service.core.evaluator import Evaluator
from service.core.ports import Embedded, Embedder, Reading
from service.engine import consulting
from service.engine.batch import Item
from service.engine.consulting import Consulting, Question
from service.engine.lanes import Steps, all_awaited
from service.primitives import RuleFault
from service.primitives.text import cut, quote
from service.primitives.vectors import require_one_length

T = TypeVar("T")

Answer = Told | RuleFault | Ungraded | ServiceError
"""What is told, or why nothing can be: the rule's fault, no model, no judge, no time."""

LATE = Late("The deadline passed before the model had read this (see deadline_ms)")


class Asker(NamedTuple):
    """A judgement with what it needs now, and the keys of the prompts that it needed before."""

    rule: Evaluator
    item: Item
    need: Need
    earlier: Sequence[str]


class Gathering:
    """Asks for one batch: the request's own vectors where it has them, else the model; judges; the item's grades.

    `meanwhile` is what there is to do while others work.
    """

    def __init__(
        self,
        own: Mapping[str, Sequence[float]],
        embedder: Embedder,
        consulting: Consulting,
        deadline: float,
        most_texts: int,
        meanwhile: Steps[None],
    ) -> None:
        self._own = own
        self._embedder = embedder
        self._consulting = consulting
        self._deadline = deadline
        self._most_texts = most_texts
        self._meanwhile = meanwhile

    def answers(self, askers: Sequence[Asker]) -> Steps[list[Answer]]:
        """An answer for each, in their order."""
        needs = [one.need for one in askers]
        asked = _Asked(needs, self._own, self._most_texts)
        texts, counted = list(asked.texts), list(dict.fromkeys(chain.from_iterable(need.counts for need in needs)))
        questions = [Question(one.rule, one.item, one.need.prompts, one.earlier).slotted() for one in askers]
        ways = yield from self._consulting.ways(questions)
        embedded = promised(lambda: self._embedder.embed(texts, self._deadline)) if texts else None
        counts = promised(lambda: self._embedder.count(counted, self._deadline)) if counted else None
        consultation = self._consulting.begin(questions, ways)
        waiting = [future for future in (embedded, counts) if future is not None]
        yield from all_awaited([*waiting, *consultation.futures], self._meanwhile)
        found = _Found(texts, embedded, counted, counts)
        model = self._embedder.model.id if found.vectors or found.counts else None
        told = Told(found.vectors, found.readings, found.counts, model)
        heard = consultation.answers()
        return [
            asked.faults.get(place) or found.missing(one.need) or self._told(one, told, replies, asked.is_own(one.need))
            for place, (one, replies) in enumerate(zip(askers, heard, strict=True))
        ]

    def _told(self, asker: Asker, told: Told, replies: consulting.Answer, is_own: bool) -> Answer:
        if isinstance(replies, Exception):
            return replies
        grade = asker.item.grades.get(str(asker.rule.id)) if asker.need.grade else None
        if is_own:
            return Told(vectors=self._own, replies=replies, grade=grade)
        return Told(told.vectors, told.readings, told.counts, told.model, replies, grade)


class _Found:
    """What the model made of the texts."""

    def __init__(
        self,
        texts: Sequence[str],
        embedded: Future[Embedded] | None,
        counted: Sequence[str],
        counts: Future[list[int]] | None,
    ) -> None:
        self.vectors: dict[str, Sequence[float]] = {}
        self.readings: dict[str, Reading] = {}
        self.counts: dict[str, int] = {}
        self._missing: dict[str, ServiceError] = {}
        self._uncounted: ServiceError | None = None
        if embedded is not None:
            self._take(texts, embedded)
        if counts is not None:
            self._take_counts(counted, counts)

    def missing(self, need: Need) -> ServiceError | None:
        """Why something of a need is not there; None if all of it is."""
        if need.counts and self._uncounted is not None:
            return self._uncounted
        return next((self._missing[text] for text in need.vectors if text in self._missing), None)

    def _take(self, texts: Sequence[str], embedded: Future[Embedded]) -> None:
        try:
            outcome = embedded.result()
        except (ModelUnavailable, Late) as fault:
            self._missing = dict.fromkeys(texts, fault)
            return
        self._missing = {texts[place]: LATE for place in outcome.late}
        self._missing |= {texts[place]: fault for place, fault in outcome.faults.items()}
        made = {text: place for place, text in enumerate(texts) if text not in self._missing}
        self.vectors = {text: outcome.vectors[place] for text, place in made.items()}
        self.readings = {text: outcome.readings[place] for text, place in made.items()}

    def _take_counts(self, texts: Sequence[str], counts: Future[list[int]]) -> None:
        try:
            self.counts = dict(zip(texts, counts.result(), strict=True))
        except (ModelUnavailable, Late) as fault:
            self._uncounted = fault


class _Asked:
    """The texts that the model is asked for, and the needs that ask for too much or too little of it."""

    def __init__(self, needs: Sequence[Need], own: Mapping[str, Sequence[float]], most: int) -> None:
        self.texts: dict[str, None] = {}
        self.faults: dict[int, RuleFault] = {}
        self._own = own
        for place, need in enumerate(needs):
            if fault := own_fault(need.vectors, own) or self._over(need, most):
                self.faults[place] = fault
            elif not self.is_own(need):
                self.texts |= dict.fromkeys(need.vectors)

    def is_own(self, need: Need) -> bool:
        """Whether the request itself has the vectors that are needed."""
        return bool(need.vectors) and need.vectors[0] in self._own

    def _over(self, need: Need, most: int) -> RuleFault | None:
        if self.is_own(need) or len(self.texts) + len(set(need.vectors).difference(self.texts)) <= most:
            return None
        detail = f"The batch asks for the vectors of more than {most:,} distinct texts (texts at /v1/limits)"
        return RuleFault("limit_exceeded", detail)


def own_fault(texts: Sequence[str], own: Mapping[str, Sequence[float]]) -> RuleFault | None:
    """What is wrong with the request's own vectors of texts that are compared; nothing where it has none of them."""
    missing = next((text for text in texts if text not in own), None)
    given = [own[text] for text in texts if text in own]
    if not given:
        return None
    if missing is not None:
        detail = f"`vectors` has one of the texts compared but not {quote(cut(missing, 100))}: give all or none"
        return RuleFault("invalid_embedding", detail)
    try:
        require_one_length(given)
    except RuleFault as fault:
        return fault
    return None


def promised(call: Callable[[], Future[T]]) -> Future[T]:
    """The future that a call gives, failed where it says at once that there is no model."""
    try:
        return call()
    except ModelUnavailable as fault:
        failed: Future[T] = Future()
        failed.set_exception(fault)
        return failed
