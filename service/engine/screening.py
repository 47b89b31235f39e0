"""Rules on many items where numbers are enough: whether each passes, with words only where there is no saying.

Most of the time that a judgement takes goes into its words, so a rule that has a quick test is not asked for any.
"""

from collections import Counter
from collections.abc import Sequence
from time import perf_counter

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
        found = []
        for rule, task in self._rules:
            column: Column = [None] * len(items) if task is None else (yield from self._column(task, items))
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

    def _column(self, task: Task, items: Sequence[Item]) -> Steps[Column]:
        column: Column = []
        known, now = task.held, perf_counter()
        pause_at = now + SLICE_SECONDS
        for item in items:
            output = item.output
            key = output if type(output) is str and task.reads_output else task.key(item, {})
            held = known.get(key)
            if held is None:
                held = self._late_for(task) if now > self._deadline else task.hold(item, key)
                before, now = now, perf_counter()
                task.seconds += now - before
                if now > pause_at:
                    yield None
                    now = perf_counter()
                    pause_at = now + SLICE_SECONDS
            column.append(held)
        return column

    def _late_for(self, task: Task) -> Evaluation:
        self._late += 1
        return task.too_late()

    def _count(self, kind: str, column: Column) -> None:
        self._evaluations[kind, "passed"] += column.count(True)
        self._evaluations[kind, "failed"] += column.count(False)
        self._evaluations[kind, "skipped"] += column.count(None)
        self._evaluations.update((kind, one.status) for one in column if isinstance(one, Evaluation))


def _status(one: Held | None) -> Status:
    if one is None:
        return "skipped"
    return one.status if isinstance(one, Evaluation) else "passed" if one else "failed"


def _renamed(one: Held | None, rule: Evaluator) -> Held | None:
    return replace(one, evaluator=rule.id, label=rule.label) if isinstance(one, Evaluation) else one
