"""A batch, item by item: each distinct (rule, data) is judged once, within the deadline."""

import logging
from collections import defaultdict
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from service.config import Limits
from service.core.assess import assess
from service.core.binding import bind
from service.core.case import Case
from service.core.evaluator import Evaluator
from service.core.outcome import SKIPPED, Outcome, error, not_graded
from service.engine.batch import Batch, Evaluation, Item, ItemResult
from service.engine.naming import Names
from service.engine.presenting import presented
from service.engine.summing import Summing
from service.engine.tasks import Task, Tasks
from service.engine.vetting import vet
from service.primitives import RuleFault

log = logging.getLogger("scorewright.engine")

MAX_TIMEOUTS = 5
SLICE_SECONDS = 0.005

_LATE = not_graded("deadline_exceeded", "The deadline passed before this was evaluated (see deadline_ms)")

Entry = tuple[str, Evaluator, Task | None]


class Run:
    """One batch on its way. `results` can be walked once; the rest is complete when the walk has ended."""

    def __init__(self, batch: Batch, names: Names, limits: Limits, deadline: float) -> None:
        self.batch = batch
        self.summing = Summing()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.computed = 0
        self.deduplicated = 0
        self._names = names
        self._limits = limits
        self.deadline = deadline
        self._tasks = Tasks(limits)
        self._shared = self._entries(names.shared, batch.evaluators)
        self._now = perf_counter()
        self._pause_at = self._now + SLICE_SECONDS

    def results(self) -> Iterator[ItemResult | None]:
        """The items' results in order; a None between them offers a pause, at least every few milliseconds of work."""
        for number, item in enumerate(self.batch.items, 1):
            evaluations = []
            memo: dict[str, Any] = {}
            entries = self._of(item)
            for name, rule, task in entries:
                outcome = self._outcome(task, item, memo) if task is not None else SKIPPED
                evaluations.append(_evaluation(name, rule, outcome))
                if self._now > self._pause_at:
                    yield None
                    self._now = perf_counter()
                    self._pause_at = self._now + SLICE_SECONDS
            weights = [rule.weight for _, rule, _ in entries]
            yield self.summing.add(item.id or str(number), evaluations, weights, self.batch.ignore_not_graded)
            self._now = perf_counter()

    def _entries(self, names: list[str], rules: list[Evaluator]) -> list[Entry]:
        return list(zip(names, rules, self._tasks.of(rules), strict=True))

    def _of(self, item: Item) -> list[Entry]:
        if not item.evaluators:
            return self._shared
        own = self._names.of(item)[len(self._shared) :]
        return [*self._shared, *self._entries(own, item.evaluators)]

    def _outcome(self, task: Task, item: Item, memo: dict[str, Any]) -> Outcome:
        key = task.key(item, memo)
        outcome = task.seen.get(key)
        if outcome is not None:
            self.deduplicated += 1
            return outcome
        if self._now > self.deadline:
            return _LATE
        outcome = task.seen[key] = presented(self._compute(task, item), self.batch.echo)
        self.computed += 1
        started, self._now = self._now, perf_counter()
        self.seconds[task.type] += self._now - started
        return outcome

    def _compute(self, task: Task, case: Case) -> Outcome:
        if task.fault is not None:
            return error(task.fault)
        try:
            return assess(self._bound(task, case), case)
        except RuleFault as fault:
            _count_timeout(task, fault)
            return error(fault)
        except Exception:
            if not task.logged:
                log.exception("evaluator %s failed", task.type)
                task.logged = True
            return error(RuleFault("internal", f"The evaluator {task.type} failed; this is a fault of the service"))

    def _bound(self, task: Task, case: Case) -> Evaluator:
        if not task.templated:
            return task.rule
        rule = bind(task.rule, case.variables, self._limits.text_chars)
        vet(rule, self._limits)
        return rule


def _count_timeout(task: Task, fault: RuleFault) -> None:
    if fault.code == "regex_timeout":
        task.timeouts += 1
        if task.timeouts == MAX_TIMEOUTS:
            task.fault = RuleFault("regex_timeout", f"{fault.detail}; {MAX_TIMEOUTS} times, so the rule was given up")


def _evaluation(name: str, rule: Evaluator, outcome: Outcome) -> Evaluation:
    return Evaluation(
        name,
        rule.__struct_config__.tag,  # type: ignore[arg-type]
        rule.label,
        outcome.status,
        outcome.score,
        outcome.reason,
        outcome.explanation,
        outcome.actual,
        outcome.expected,
        outcome.details,
    )
