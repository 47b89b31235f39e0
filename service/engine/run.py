"""A batch, item by item: each distinct (rule, data) is judged once, within the deadline."""

import logging
from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

from msgspec.structs import replace

from service.catalogue import type_name
from service.config import Limits
from service.core.assess import Assessor
from service.core.binding import bind
from service.core.case import Case
from service.core.evaluator import Evaluator
from service.core.outcome import Evaluation, Status
from service.engine.batch import Batch, Item, ItemResult
from service.engine.naming import Names
from service.engine.presenting import is_long, presented
from service.engine.summing import Summing
from service.engine.tasks import Task, Tasks
from service.engine.vetting import vetted
from service.primitives import RuleFault

log = logging.getLogger("scorewright.engine")

MAX_TIMEOUTS = 5
SLICE_SECONDS = 0.005

_LATE = "The deadline passed before this was evaluated (see deadline_ms)"


class _Entry(NamedTuple):
    """A rule in its place among an item's rules: who judges, and where its evaluations are counted."""

    rule: Evaluator
    task: Task | None
    statuses: list[Status]
    scores: list[float]


class Run:
    """One batch on its way. `results` can be walked once; the rest is complete when the walk has ended."""

    def __init__(self, batch: Batch, names: Names, limits: Limits, deadline: float) -> None:
        self.batch = batch
        self.deadline = deadline
        self.summing = Summing(ignore_not_graded=batch.ignore_not_graded)
        self._late = 0
        self._cuts = batch.echo == "cut"
        self._names = names
        self._limits = limits
        self._tasks = Tasks(limits)
        self._shared = self._entries(names.shared)
        self._now = perf_counter()

    def results(self) -> Iterator[ItemResult | None]:
        """The items' results in order; a None between them offers a pause, at least every few milliseconds of work."""
        pause_at = self._now + SLICE_SECONDS
        shared = self._shared, _weights(self._shared)
        for number, item in enumerate(self.batch.items, 1):
            memo: dict[str, Any] = {}
            text = item.output if type(item.output) is str else None
            evaluations: list[Evaluation] = []
            present: set[Status] = set()
            row: list[float | None] = []
            entries, weights = self._of(item) if item.evaluators else shared
            for rule, task, statuses, scores in entries:
                if task is None:
                    got = rule.ungraded("skipped", None, "The rule is not active")
                else:
                    key = task.key(item, memo) if text is None or not task.reads_output else text
                    known = task.seen.get(key)
                    got = self._judged(task, item, key) if known is None else known
                    if task.rule is not rule:
                        got = replace(got, evaluator=rule.id, label=rule.label)
                status, score = got.status, got.score
                statuses.append(status)
                if score is not None:
                    scores.append(score)
                evaluations.append(got)
                present.add(status)
                row.append(score)
                if self._now > pause_at:
                    yield None
                    self._now = perf_counter()
                    pause_at = self._now + SLICE_SECONDS
            yield self.summing.add(item.id or str(number), evaluations, present, row, weights)
            self._now = perf_counter()

    @property
    def computed(self) -> int:
        """Evaluations that were judged."""
        return self._tasks.computed()

    @property
    def deduplicated(self) -> int:
        """Evaluations that an equal one answered."""
        return self.summing.count(but="skipped") - self._late - self.computed

    def seconds(self) -> dict[str, float]:
        """Time spent judging, by type."""
        return self._tasks.seconds()

    def _entries(self, rules: list[Evaluator]) -> list[_Entry]:
        return [self._entry(rule, task) for rule, task in zip(rules, self._tasks.of(rules), strict=True)]

    def _entry(self, rule: Evaluator, task: Task | None) -> _Entry:
        column = self.summing.column(str(rule.id), type_name(type(rule)))
        return _Entry(rule, task, column.statuses, column.scores)

    def _of(self, item: Item) -> tuple[list[_Entry], list[float] | None]:
        """The rules of an item with some of its own, and their weights unless they are all the same."""
        entries = [*self._shared, *self._entries(self._names.own(item))]
        return entries, _weights(entries)

    def _judged(self, task: Task, item: Item, key: Any) -> Evaluation:
        started = self._now
        if started > self.deadline:
            self._late += 1
            return task.rule.ungraded("not_graded", "deadline_exceeded", _LATE)
        try:
            evaluation = (task.assessor or self._bound(task, item))(item)
        except Exception as exc:
            fault = _fault_of(task, exc)
            evaluation = task.rule.ungraded("error", fault.code, fault.detail)
        if self._cuts and (task.echoes or is_long(evaluation.actual)):
            evaluation = presented(evaluation)
        task.seen[key] = evaluation
        self._now = now = perf_counter()
        task.seconds += now - started
        return evaluation

    def _bound(self, task: Task, case: Case) -> Assessor:
        if task.fault is not None:
            raise task.fault
        return vetted(bind(task.rule, case.variables, self._limits.text_chars), self._limits)


def _weights(entries: list[_Entry]) -> list[float] | None:
    weights = [entry.rule.weight for entry in entries]
    return weights if len(set(weights)) > 1 else None


def _fault_of(task: Task, exc: Exception) -> RuleFault:
    """What to tell of a failure. A rule that ran out of time too often is given up; what nobody foresaw is logged."""
    if isinstance(exc, RuleFault):
        if exc.code == "regex_timeout":
            _count_timeout(task, exc)
        return exc
    if not task.logged:
        log.error("evaluator %s failed", task.type, exc_info=exc)
        task.logged = True
    return RuleFault("internal", f"The evaluator {task.type} failed; this is a fault of the service")


def _count_timeout(task: Task, fault: RuleFault) -> None:
    task.timeouts += 1
    if task.timeouts == MAX_TIMEOUTS:
        detail = f"{fault.detail}; {MAX_TIMEOUTS} times, so the rule was given up"
        task.assessor, task.fault = None, RuleFault("regex_timeout", detail)
