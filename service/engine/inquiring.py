"""The judgements of a batch that need others, made before the walk over its items."""

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

from service.core.asking import Judging, Need, Told, Ungraded
from service.core.errors import Late, ModelUnavailable
from service.core.evaluator import Evaluator
from service.core.outcome import Evaluation
from service.engine.batch import Item
from service.engine.gathering import Answer, Asker, Gathering
from service.engine.lanes import SLICE_SECONDS, Steps
from service.engine.tasks import Task

MAX_CHARS_IN_HAND = 50_000_000
"""Characters of prompts beyond which no more judgements are begun until some of those in hand have ended."""

GRACE_SECONDS = 0.5
"""How long what was told by the deadline, and hence just after it, is still made use of."""


class Place(NamedTuple):
    """A rule on an item: the task that judges it, and the key of the data that it judges."""

    rule: Evaluator
    item: Item
    task: Task
    key: Any


class Inquiry:
    """One judgement on its way: what it needs next, until its outcome is kept by its task."""

    def __init__(self, task: Task, key: Any, rule: Evaluator, item: Item) -> None:
        self.need: Need | None = None
        self._earlier: list[str] = []
        self._rule = rule
        self._item = item
        self._task = task
        self._key = key
        self._judging: Judging[Evaluation] | None = None

    def begin(self) -> None:
        """Find out what is needed first."""
        try:
            self._judging = self._task.ready(self._item).inquire(self._item)
        except Exception as exc:
            self._task.keep(self._key, self._task.failed(exc))
        else:
            self._advance(None)

    def asker(self) -> Asker:
        """Who asks for what."""
        assert self.need is not None
        return Asker(self._rule, self._item, self.need, tuple(self._earlier))

    def go_on(self, answer: Answer) -> None:
        """Take the answer; `need` is None afterwards if that was the end. What comes too late is not kept."""
        if isinstance(answer, Told):
            self._advance(answer)
            return
        self.need = None
        if isinstance(answer, ModelUnavailable):
            outcome = self._task.rule.ungraded("not_graded", "model_unavailable", answer.detail)
            self._task.keep(self._key, outcome)
        elif isinstance(answer, Ungraded) and answer.reason == "reply":
            self._task.seen[self._key] = self._task.failed(answer)  # a prompt that is cut is another prompt
        elif not isinstance(answer, Late):
            self._task.keep(self._key, self._task.failed(answer))

    def _advance(self, told: Told | None) -> None:
        assert self._judging is not None
        started = perf_counter()
        self._earlier += [prompt.key for prompt in self.need.prompts] if self.need else []
        self.need = None
        try:
            self.need = next(self._judging) if told is None else self._judging.send(told)
        except StopIteration as end:
            self._task.keep(self._key, end.value)
        except Exception as exc:
            self._task.keep(self._key, self._task.failed(exc))
        self._task.seconds += perf_counter() - started


def inquiring(places: Iterable[Place], gathering: Gathering, deadline: float) -> Steps[None]:
    """Make the judgement of each distinct (task, key) that needs others, as far as the deadline allows.

    What those in hand need next is asked for at once, until none needs more. All are in hand together, unless their
    prompts are so long that the memory would not hold them.
    """
    waiting = _distinct(places, deadline)
    inquiries: list[Inquiry] = []
    while True:
        if (chars := sum(inquiry.need.chars for inquiry in inquiries if inquiry.need)) < MAX_CHARS_IN_HAND:
            inquiries += yield from _begun(waiting, MAX_CHARS_IN_HAND - chars)
        if not inquiries:
            return
        answers = yield from gathering.answers([inquiry.asker() for inquiry in inquiries])
        pause_at = perf_counter() + SLICE_SECONDS
        for inquiry, answer in zip(inquiries, answers, strict=True):
            inquiry.go_on(answer)
            if (now := perf_counter()) > deadline + GRACE_SECONDS:
                return
            if now > pause_at:
                yield None
                pause_at = perf_counter() + SLICE_SECONDS
        inquiries = [inquiry for inquiry in inquiries if inquiry.need is not None]


def _begun(waiting: Iterator[Inquiry | None], room: int) -> Steps[list[Inquiry]]:
    """Those of the next that need something, until the room for characters of prompts is taken."""
    begun: list[Inquiry] = []
    pause_at = perf_counter() + SLICE_SECONDS
    for inquiry in waiting:
        if inquiry is not None:
            inquiry.begin()
            if inquiry.need is not None:
                begun.append(inquiry)
                room -= inquiry.need.chars
        if room <= 0:
            break
        if perf_counter() > pause_at:
            yield None
            pause_at = perf_counter() + SLICE_SECONDS
    return begun


def _distinct(places: Iterable[Place], deadline: float) -> Iterator[Inquiry | None]:
    """An inquiry for each distinct (task, key), None where there is one already, as far as the deadline allows."""
    known: set[tuple[int, Any]] = set()
    for rule, item, task, key in places:
        if perf_counter() > deadline:
            return
        if (id(task), key) in known:
            yield None
        else:
            known.add((id(task), key))
            yield Inquiry(task, key, rule, item)
