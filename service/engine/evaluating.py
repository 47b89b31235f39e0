"""POST /v1/evaluations from a decoded batch to the bytes of its answer, in steps."""

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

from service.config import Limits
from service.core.assess import forget_documents
from service.core.evaluator import HEAVY, Evaluator
from service.core.outcome import Evaluation
from service.engine.admission import admit, deadline_of
from service.engine.batch import Batch
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.run import Outside, Run
from service.engine.writing import Answered, Writing, encode

INLINE_EVALUATIONS = 500
INLINE_RULES = 10
INLINE_WORK = 1_000_000


def is_light(batch: Batch, body: bytes) -> bool:
    """Whether the batch is certain to take no more than a millisecond or two."""
    rules: list[Evaluator] = [*batch.evaluators, *(rule for item in batch.items for rule in item.evaluators)]
    if len(rules) > INLINE_RULES or len(batch.items) * len(rules) > INLINE_EVALUATIONS:
        return False
    plain = body.isascii() and b"\\u" not in body
    passes = sum(rule.passes(plain=plain) if rule.path is None else HEAVY for rule in rules)
    return passes * len(body) <= INLINE_WORK


def evaluating(
    batch: Batch, limits: Limits, outside: Outside, arrived: float, body_bytes: int, replaced: int
) -> Steps[Answered]:
    """Run the batch; Invalid if it is over a limit, TooLarge if its answer is, Overloaded if the model is."""
    names = Names(batch)
    admit(batch, names, limits, body_bytes)
    deadline = deadline_of(batch.deadline_ms, limits, arrived)
    run = Run(batch, names, limits, deadline)
    consulting = outside.consulting(deadline, limits)
    yield from run.inquire(outside.embedder, consulting)
    writing = Writing(limits.response_bytes, "send fewer items, or leave out `echo: full`")
    writing.append(b'{"results":[')
    measured = batch.echo == "full" or consulting.hands_out_prompts
    for results in run.results():
        for some in ([one] for one in results) if measured else [results]:
            if measured:
                writing.refuse_large(echoed(some[0].evaluations))
            writing.add(some)
        yield None
    forget_documents()
    counts = run.counts()
    summary = run.summing.summary(counts.computed, counts.deduplicated)
    if consulting.costs:
        summary.judge = consulting.costs
    if replaced:
        summary.replaced_surrogates = replaced
    writing.append(b'],"summary":%b}' % encode(summary))
    facts = {"items": summary.items, "evaluations": summary.evaluations}
    return Answered(writing.body(), counts, facts, perf_counter() - arrived)


def echoed(evaluations: Iterable[Evaluation]) -> Iterator[Any]:
    """What of the caller's own stands in evaluations."""
    for evaluation in evaluations:
        yield from (evaluation.actual, evaluation.expected, evaluation.details)
