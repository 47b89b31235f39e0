"""What constraints and a judge say of the responses of all queries."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from service.config import Limits
from service.core.counts import Counts
from service.core.evaluator import Evaluator
from service.core.judging import CALLER
from service.core.outcome import Evaluation
from service.core.ports import Embedder
from service.engine.batch import Batch, Sample
from service.engine.consulting import Consulting
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.run import Run
from service.engine.screening import Column, Screening, rolled_up
from service.engine.stability.responses import Responses, context_of
from service.engine.stability.wire import Objective, PromptMetrics, Query
from service.engine.tasks import Held, held_by
from service.scorers.judged.rubric import LlmRubric


class Judged(NamedTuple):
    """What came of one query's responses that have a text: by the ids of constraints, and ratings if there are any."""

    constraints: dict[str, Column]
    ratings: list[Evaluation]


class Judging:
    """All queries on their way; `of` and `counts` tell what came of them once `work` has ended.

    Constraints that need nobody are screened; the others, and the rating, are one batch.
    """

    def __init__(self, constraints: Sequence[Evaluator], items: Sequence[list[Sample]], screening: Screening, run: Run):
        """The constraints have their ids; `items` are by query."""
        self._constraints = constraints
        self._items = items
        self._screening = screening
        self._run = run
        self._judged: list[Judged] = []

    def work(self, embedder: Embedder, consulting: Consulting) -> Steps[None]:
        """Judge everything, first what needs nobody."""
        screened = []
        for items in self._items:
            screened.append((yield from self._screening.columns(items)))
            yield None
        yield from self._run.inquire(embedder, consulting)
        rows: list[list[Evaluation]] = []
        for results in self._run.results():
            rows += [result.evaluations for result in results]
            yield None
        start = 0
        for items, columns in zip(self._items, screened, strict=True):
            stop = start + len(items)
            self._judged.append(self._joined(columns, rows[start:stop]))
            start = stop

    def of(self, place: int) -> Judged:
        """What came of a query."""
        return self._judged[place]

    def counts(self) -> Counts:
        """Of everything."""
        items = Counter(
            rolled_up(row)
            for one in self._judged
            for row in zip(*one.constraints.values(), *([one.ratings] if one.ratings else []), strict=True)
        )
        return self._screening.counts().beside(self._run.counts(), items)

    def _joined(self, columns: list[Column], rows: list[list[Evaluation]]) -> Judged:
        """`columns` are those of the constraints that were screened, `rows` of everything else."""
        screened, asked = iter(columns), 0
        constraints: dict[str, Column] = {}
        for rule in self._constraints:
            if rule.inquires():
                constraints[str(rule.id)] = [_held(row[asked]) for row in rows]
                asked += 1
            else:
                constraints[str(rule.id)] = next(screened)
        return Judged(constraints, [row[asked] for row in rows if len(row) > asked])


def _held(one: Evaluation) -> Held | None:
    return None if one.status == "skipped" else held_by(one)


def rating_by(objective: Objective) -> LlmRubric:
    """The rule by which a judge rates a response."""
    return LlmRubric(criteria=objective.objective, judge_=objective.judge, template=False)


def judging_of(
    request: PromptMetrics, responses: Sequence[Responses], limits: Limits, deadline: float
) -> Steps[Judging]:
    """The constraints and the rating of all responses that have a text."""
    rules: list[Evaluator] = [*request.constraints]
    if request.jq is not None:
        rules.append(rating_by(request.jq))
    rules = Names(Batch(items=[], evaluators=rules)).shared
    items = []
    for number, (query, some) in enumerate(zip(request.queries, responses, strict=True), 1):
        items.append(list(_items(request, query, some, number, rules)) if rules else [])
        yield None
    screening = Screening([rule for rule in rules if not rule.inquires()], limits, deadline)
    asked = [rule for rule in rules if rule.inquires()]
    batch = Batch(
        items=[item for some in items for item in some] if asked else [],
        evaluators=asked,
        vectors=request.vectors,
        echo="full",
    )
    return Judging(rules[: len(request.constraints)], items, screening, Run(batch, Names(batch), limits, deadline))


def _items(
    request: PromptMetrics, query: Query, responses: Responses, number: int, rules: Sequence[Evaluator]
) -> Iterator[Sample]:
    """A query's responses, each in a slot of its own; the caller's replies are for the rating, the last rule."""
    context, reference = context_of(request, query), query.ground_truth_assistant
    told: dict[str, Any] = {
        "input": UNSET if query.query is None else query.query,
        "expected": reference if reference and reference.strip() else UNSET,
        "context": UNSET if context is None else context,
        "variables": query.variables,
    }
    by_caller = request.jq is not None and request.jq.judge == CALLER
    for place, text in zip(responses.kept, responses.texts, strict=True):
        reply = query.replies[place] if by_caller and query.replies else None
        item = Sample(output=text, slot=f"{number}/{place}", **told)
        if reply is not None:
            item.replies = {str(rules[-1].id): [reply]}
        yield item
