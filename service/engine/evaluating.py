"""POST /v1/evaluations from a decoded batch to the bytes of its answer, in steps."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import msgspec
from msgspec import Struct

from service.config import Limits
from service.core.assess import forget_documents
from service.core.errors import TooLarge
from service.core.evaluator import HEAVY, Evaluator
from service.engine.admission import admit
from service.engine.batch import Batch, ItemResult, Summary
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.run import Outside, Run
from service.primitives.sizes import exceeds

INLINE_EVALUATIONS = 500
INLINE_RULES = 10
INLINE_WORK = 1_000_000

_encode = msgspec.json.Encoder().encode


class Answered(Struct):
    """The answer's body, the summary in it, and the run it came from."""

    body: bytes
    summary: Summary
    run: Run
    seconds: float


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
    deadline = arrived + (batch.deadline_ms or limits.deadline_ms) / 1000
    run = Run(batch, names, limits, deadline)
    yield from run.inquire(outside)
    writing = _Writing(limits.response_bytes, measured=batch.echo == "full")
    for results in run.results():
        writing.add(results)
        yield None
    forget_documents()
    summary = run.summing.summary(run.computed, run.deduplicated)
    if run.costs:
        summary.judge = run.costs
    if replaced:
        summary.replaced_surrogates = replaced
    return Answered(writing.finished(summary), summary, run, perf_counter() - arrived)


class _Writing:
    """The answer's body, encoded a few items at a time. TooLarge as soon as it is over the limit."""

    def __init__(self, limit: int, *, measured: bool) -> None:
        self._parts = [b'{"results":[']
        self._left = limit
        self._limit = limit
        self._measured = measured

    def add(self, results: list[ItemResult]) -> None:
        """Take the results of some items."""
        for some in ([one] for one in results) if self._measured else [results]:
            if self._measured and exceeds(_echoed(some[0]), self._left):
                raise self._too_large()
            if some:
                separator = b"," if len(self._parts) > 1 else b""
                self._append(separator + _encode(some)[1:-1])

    def finished(self, summary: Summary) -> bytes:
        """All of the body."""
        self._append(b'],"summary":%b}' % _encode(summary))
        return b"".join(self._parts)

    def _append(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise self._too_large()
        self._parts.append(part)

    def _too_large(self) -> TooLarge:
        allowed = f"{self._limit:,} bytes (response_bytes at /v1/limits)"
        return TooLarge(f"The answer would be over the limit of {allowed}: send fewer items, or leave out `echo: full`")


def _echoed(result: ItemResult) -> Iterator[Any]:
    for evaluation in result.evaluations:
        yield from (evaluation.actual, evaluation.expected, evaluation.details)
