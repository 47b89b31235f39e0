"""Rules on many items where numbers are enough: whether each passes, with words only where that cannot be told.

Most of the time that a judgement takes goes into its words, so a rule that has a quick test is not asked for any.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from msgspec.structs import replace

from service.catalogue import type_name
from service.config import Limits
from service.core.counts import Counts
from service.core.evaluator import Evaluator
from service.core.outcome import Evaluation, Status, roll_up
from service.engine.batch import Item
from service.engine.lanes import SLICE_SECONDS, Steps
from service.engine.tasks import Held, Task, Tasks

Column = list[Held | None]
"""Of each item, whether it passes, or the evaluation that has no score; None by a rule that is not active."""


def rolled_up(row: tuple[Held | None, ...]) -> Status:
    """The status of an item, from what its rules say."""
    if False in row:
        return "failed"
    return "passed" if row.count(True) == len(row) > 0 else roll_up({_status(one) for one in row})


class Screening:
    """Rules that need nobody, for any number of items; `counts` tells of all items so far."""

    def __init__(self, rules: Sequence[Evaluator], limits: Limits, deadline: float) -> None:
        self._tasks = Tasks(limits, cuts=False)
        self._rules = list(zip(rules, self._tasks.of(rules), strict=True))
        for _, task in self._rules:
            if task is not None and task.assessor is not None:
                task.test = task.assessor.tester()
        self._deadline = deadline
        self._late = 0
        self._evaluations: Counter[tuple[str, Status]] = Counter()

    def columns(self, items: Sequence[Item]) -> Steps[list[Column]]:
        """What the rules, one after the other, say of these items."""
        outputs = [item.output for item in items]
        are_texts = set(map(type, outputs)) == {str}
        found = []
        for rule, task in self._rules:
            if task is None:
                column: Column = [None] * len(items)
            elif task.test is not None and are_texts:
                column = yield from self._column(task, outputs, outputs, task.test)
            else:
                column = yield from self._column(task, [task.key(item, {}) for item in items], items, task.hold)
            if task is not None and task.rule is not rule:
                column = [_renamed(one, rule) for one in column]
            self._count(type_name(type(rule)), column)
            found.append(column)
        return found

    def counts(self) -> Counts:
        """Of the evaluations; the items are not looked at."""
        computed = self._tasks.computed()
        active = sum(count for (_, status), count in self._evaluations.items() if status != "skipped")
        return Counts(
            evaluations=self._evaluations,
            seconds=self._tasks.seconds(),
            computed=computed,
            deduplicated=active - self._late - computed,
        )

    def _column(
        self, task: Task, keys: Sequence[Any], subjects: Sequence[Any], hold: Callable[[Any], Held]
    ) -> Steps[Column]:
        """What `hold` says of each subject, or said of one with an equal key."""
        column: Column = []
        known, deadline = task.held, self._deadline
        began = now = perf_counter()
        for key, subject in zip(keys, subjects, strict=True):
            held = known.get(key)
            if held is None:
                if now > deadline:
                    held = self._late_for(task)
                else:
                    try:
                        held = known[key] = hold(subject)
                    except Exception as exc:
                        held = known[key] = task.failed(exc)
                        hold = hold if task.fault is None else task.refuse
                now = perf_counter()
                if now > began + SLICE_SECONDS:
                    task.seconds += now - began
                    yield None
                    began = now = perf_counter()
            column.append(held)
        task.seconds += perf_counter() - began
        return column

    def _late_for(self, task: Task) -> Evaluation:
        self._late += 1
        return task.too_late()

    def _count(self, kind: str, column: Column) -> None:
        passed, failed = column.count(True), column.count(False)
        if passed:
            self._evaluations[kind, "passed"] += passed
        if failed:
            self._evaluations[kind, "failed"] += failed
        if passed + failed < len(column):
            self._evaluations.update((kind, _status(one)) for one in column if not isinstance(one, bool))


def _status(one: Held | None) -> Status:
    if one is None:
        return "skipped"
    return one.status if isinstance(one, Evaluation) else "passed" if one else "failed"


def _renamed(one: Held | None, rule: Evaluator) -> Held | None:
    return replace(one, evaluator=rule.id, label=rule.label) if isinstance(one, Evaluation) else one
