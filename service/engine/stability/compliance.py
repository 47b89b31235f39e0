"""What constraints and a judge say of the responses: one batch for all queries."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from msgspec import UNSET

from service.config import Limits
from service.core.evaluator import Evaluator
from service.core.judging import CALLER
from service.core.outcome import Evaluation
from service.core.ports import Embedder
from service.engine.batch import Batch, Sample
from service.engine.consulting import Consulting
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.run import Run
from service.engine.stability.responses import Responses, context_of
from service.engine.stability.wire import PromptMetrics, Query
from service.scorers.judged.rubric import LlmRubric


class Judging:
    """The batch on its way; `of` tells what came of each query once `work` has ended."""

    def __init__(self, constraints: list[str], counts: Sequence[int], run: Run) -> None:
        """`counts` are the items of each query."""
        self.constraints = constraints
        self.run = run
        self._ends = list(accumulate(counts, initial=0))
        self._rows: list[list[Evaluation]] = []

    def work(self, embedder: Embedder, consulting: Consulting) -> Steps[None]:
        """Judge everything."""
        yield from self.run.inquire(embedder, consulting)
        for results in self.run.results():
            self._rows += [result.evaluations for result in results]
            yield None

    def of(self, place: int) -> list[list[Evaluation]]:
        """The evaluations of each response that has a text: the constraints in their order, then the rating if any."""
        return self._rows[self._ends[place] : self._ends[place + 1]]


def judging_of(
    request: PromptMetrics, responses: Sequence[Responses], limits: Limits, deadline: float
) -> Steps[Judging]:
    """The batch of the constraints and the rating of all responses that have a text."""
    rules: list[Evaluator] = [*request.constraints]
    if request.jq is not None:
        rules.append(LlmRubric(criteria=request.jq.objective, judge_=request.jq.judge, template=False))
    batch = Batch(items=[], evaluators=rules, vectors=request.vectors, echo="full")
    names = Names(batch)
    ids = [str(rule.id) for rule in names.shared]
    counts = []
    for number, (query, some) in enumerate(zip(request.queries, responses, strict=True), 1):
        items = list(_items(request, query, some, number, ids[-1])) if rules else []
        batch.items += items
        counts.append(len(items))
        yield None
    return Judging(ids[: len(request.constraints)], counts, Run(batch, names, limits, deadline))


def _items(request: PromptMetrics, query: Query, responses: Responses, number: int, rating: str) -> Iterator[Sample]:
    """A query's responses, each in a slot of its own; the caller's replies are for the rule of the id `rating`."""
    context, reference = context_of(request, query), query.ground_truth_assistant
    told: dict[str, Any] = {
        "input": UNSET if query.query is None else query.query,
        "expected": reference if reference and reference.strip() else UNSET,
        "context": UNSET if context is None else context,
    }
    by_caller = request.jq is not None and request.jq.judge == CALLER
    for place, text in zip(responses.kept, responses.texts, strict=True):
        reply = query.replies[place] if by_caller and query.replies else None
        item = Sample(output=text, slot=f"{number}/{place}", **told)
        if reply is not None:
            item.replies = {rating: [reply]}
        yield item
