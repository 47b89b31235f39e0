"""A batch: each distinct (rule, data) is judged once, within the deadline.

What needs others is judged first, all of it together; the walk over the items then finds it done.
"""

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from service.catalogue import type_name
from service.config import Limits
from service.core.counts import Counts
from service.core.evaluator import Evaluator
from service.core.outcome import Evaluation, Status
from service.core.ports import Embedder, Judges
from service.engine.batch import Batch, Item, ItemResult
from service.engine.consulting import Consulting, asks_judge
from service.engine.gathering import Gathering
from service.engine.inquiring import Place, inquiring
from service.engine.lanes import SLICE_SECONDS, Steps
from service.engine.naming import Names
from service.engine.summing import Summing
from service.engine.tasks import Task, Tasks

RESULTS_AT_ONCE = 16


class Outside(NamedTuple):
    """Whom a batch may ask, and the headers that travel on with its questions."""

    embedder: Embedder
    judges: Judges
    trace: Mapping[str, str] = {}

    def consulting(self, deadline: float, limits: Limits) -> Consulting:
        """Who asks the judges for one request."""
        return Consulting(self.judges, deadline, limits.judge_calls, self.trace)


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
        self._names = names
        self._limits = limits
        self._tasks = Tasks(limits, cuts=batch.echo == "cut")
        self._shared = self._entries(names.shared)

    def inquire(self, embedder: Embedder, consulting: Consulting) -> Steps[None]:
        """Make the judgements that need others, and meanwhile the rest, so that `results` finds them made."""
        gathering = Gathering(
            self.batch.vectors,
            embedder,
            consulting,
            self.deadline,
            self._limits.texts,
            self._judge_the_rest(),
        )
        return inquiring(self._places(inquiring=True), gathering, self.deadline)

    def results(self) -> Iterator[list[ItemResult]]:
        """The items' results in order, a few at a time.

        Each list offers a pause; it comes after a few milliseconds of work at the latest, and may be empty.
        """
        done: list[ItemResult] = []
        now = perf_counter()
        pause_at = now + SLICE_SECONDS
        shared = self._shared, _weights(self._shared)
        for number, item in enumerate(self.batch.items, 1):
            memo: dict[str, Any] = {}
            text = item.output if type(item.output) is str else None
            evaluations: list[Evaluation] = []
            present: set[Status] = set()
            row: list[float | None] = []
            entries, weights = self._rules_of(item) if item.evaluators else shared
            for rule, task, statuses, scores in entries:
                if task is None:
                    got = rule.ungraded("skipped", None, "The rule is not active")
                else:
                    key = _key(task, rule, item, memo) if text is None or not task.reads_output else text
                    known = task.seen.get(key)
                    if known is not None:
                        got = known
                    elif now > self.deadline or task.inquires:
                        got = self._too_late(task)
                    else:
                        started = now
                        got = task.judge(item, key)
                        now = perf_counter()
                        task.seconds += now - started
                    if task.rule is not rule:
                        got = replace(got, evaluator=rule.id, label=rule.label)
                status, score = got.status, got.score
                statuses.append(status)
                if score is not None:
                    scores.append(score)
                evaluations.append(got)
                present.add(status)
                row.append(score)
                if now > pause_at:
                    yield done
                    done = []
                    now = perf_counter()
                    pause_at = now + SLICE_SECONDS
            done.append(self.summing.add(item.id or str(number), evaluations, present, row, weights))
            if len(done) == RESULTS_AT_ONCE:
                yield done
                done = []
                now = perf_counter()
        yield done

    def counts(self) -> Counts:
        """The batch in numbers."""
        computed = self._tasks.computed()
        return Counts(
            evaluations=self.summing.by_type(),
            items=self.summing.items.counts,
            seconds=self._tasks.seconds(),
            unjudged=self._tasks.unjudged(),
            computed=computed,
            deduplicated=self.summing.count(but="skipped") - self._late - computed,
        )

    def _entries(self, rules: list[Evaluator]) -> list[_Entry]:
        return [self._entry(rule, task) for rule, task in zip(rules, self._tasks.of(rules), strict=True)]

    def _entry(self, rule: Evaluator, task: Task | None) -> _Entry:
        column = self.summing.column(str(rule.id), type_name(type(rule)))
        return _Entry(rule, task, column.statuses, column.scores)

    def _rules_of(self, item: Item) -> tuple[list[_Entry], list[float] | None]:
        """The rules of an item with some of its own, and their weights unless they are all the same."""
        entries = [*self._shared, *self._entries(self._names.own(item))]
        return entries, _weights(entries)

    def _judge_the_rest(self) -> Steps[None]:
        """Make the judgements that need nobody."""
        now = pause_at = perf_counter()
        for _, item, task, key in self._places(inquiring=False):
            if now > self.deadline:
                return
            if key not in task.seen:
                task.judge(item, key)
            before, now = now, perf_counter()
            task.seconds += now - before
            if now > pause_at:
                yield None
                now = perf_counter()
                pause_at = now + SLICE_SECONDS

    def _places(self, *, inquiring: bool) -> Iterator[Place]:
        """Every place of a judgement that does, or does not, need others."""
        entries = [(entry.rule, entry.task) for entry in self._shared]
        shared = [(rule, task) for rule, task in entries if task is not None and task.inquires == inquiring]
        for item in self.batch.items:
            if not shared and not item.evaluators:
                continue
            memo: dict[str, Any] = {}
            rules = self._names.own(item) if item.evaluators else []
            for rule, task in (*shared, *zip(rules, self._tasks.of(rules), strict=True)):
                if task is not None and task.inquires == inquiring:
                    yield Place(rule, item, task, _key(task, rule, item, memo))

    def _too_late(self, task: Task) -> Evaluation:
        self._late += 1
        return task.too_late()


def _key(task: Task, rule: Evaluator, item: Item, memo: dict[str, Any]) -> Any:
    """The data on which a judgement depends; what was sent for the rule by its id is part of it."""
    key = task.key(item, memo)
    if not task.inquires:
        return key
    if item.slot and asks_judge(rule):
        key = key, item.slot
    if not (item.replies or item.grades):
        return key
    name = str(rule.id)
    return key, msgspec.json.encode([item.replies.get(name), item.grades.get(name)])


def _weights(entries: list[_Entry]) -> list[float] | None:
    weights = [entry.rule.weight for entry in entries]
    return weights if len(set(weights)) > 1 else None
