"""The judgements of a batch that need others, made before the walk over its items."""

from collections.abc import Iterable
from time import perf_counter
from typing import Any

from service.core.asking import Judging, Need, Told
from service.core.case import Case
from service.core.errors import Late, ModelUnavailable
from service.core.outcome import Evaluation
from service.engine.gathering import Answer, Gathering
from service.engine.lanes import Steps
from service.engine.tasks import Task

SLICE_SECONDS = 0.005

GRACE_SECONDS = 0.5
"""How long what was told by the deadline, and hence just after it, is still made use of."""


class Inquiry:
    """One judgement on its way: what it needs next, until its outcome is kept by its task."""

    def __init__(self, task: Task, key: Any) -> None:
        self.need: Need | None = None
        self._task = task
        self._key = key
        self._judging: Judging[Evaluation] | None = None

    def begin(self, case: Case) -> None:
        """Find out what is needed first."""
        try:
            self._judging = self._task.ready(case).inquire(case)
        except Exception as exc:
            self._task.keep(self._key, self._task.failed(exc))
        else:
            self._advance(None)

    def go_on(self, answer: Answer) -> None:
        """Take the answer; `need` is None afterwards if that was the end. What comes too late is not kept."""
        if isinstance(answer, Told):
            self._advance(answer)
            return
        self.need = None
        if isinstance(answer, ModelUnavailable):
            outcome = self._task.rule.ungraded("not_graded", "model_unavailable", answer.detail)
            self._task.keep(self._key, outcome)
        elif not isinstance(answer, Late):
            self._task.keep(self._key, self._task.failed(answer))

    def _advance(self, told: Told | None) -> None:
        assert self._judging is not None
        started = perf_counter()
        self.need = None
        try:
            self.need = next(self._judging) if told is None else self._judging.send(told)
        except StopIteration as end:
            self._task.keep(self._key, end.value)
        except Exception as exc:
            self._task.keep(self._key, self._task.failed(exc))
        self._task.seconds += perf_counter() - started


def inquiring(places: Iterable[tuple[Case, Task, Any]], gathering: Gathering, deadline: float) -> Steps[None]:
    """Make the judgement of each distinct (task, key) that needs others, as far as the deadline allows.

    What all of them need next is asked for at once, until none needs more.
    """
    inquiries = yield from _begun(places, deadline)
    while inquiries:
        answers = yield from gathering.answers([inquiry.need for inquiry in inquiries if inquiry.need is not None])
        pause_at = perf_counter() + SLICE_SECONDS
        for inquiry, answer in zip(inquiries, answers, strict=True):
            inquiry.go_on(answer)
            if (now := perf_counter()) > deadline + GRACE_SECONDS:
                return
            if now > pause_at:
                yield None
                pause_at = perf_counter() + SLICE_SECONDS
        inquiries = [inquiry for inquiry in inquiries if inquiry.need is not None]


def _begun(places: Iterable[tuple[Case, Task, Any]], deadline: float) -> Steps[list[Inquiry]]:
    begun: dict[tuple[int, Any], Inquiry] = {}
    pause_at = perf_counter() + SLICE_SECONDS
    for case, task, key in places:
        if (now := perf_counter()) > deadline:
            break
        if (id(task), key) not in begun:
            begun[id(task), key] = inquiry = Inquiry(task, key)
            inquiry.begin(case)
        if now > pause_at:
            yield None
            pause_at = perf_counter() + SLICE_SECONDS
    return [inquiry for inquiry in begun.values() if inquiry.need is not None]
