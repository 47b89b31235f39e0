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
from service.engine.run import SLICE_SECONDS, Run
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


def evaluating(batch: Batch, limits: Limits, arrived: float, body_bytes: int, replaced: int) -> Steps[Answered]:
    """Run the batch; Invalid if it is over a limit, TooLarge if its answer is."""
    names = Names(batch)
    admit(batch, names, limits, body_bytes)
    run = Run(batch, names, limits, arrived + (batch.deadline_ms or limits.deadline_ms) / 1000)
    parts: list[bytes] = []
    size = 0
    pause_at = perf_counter() + SLICE_SECONDS
    for result in run.results():
        if result is not None:
            if batch.echo == "full" and exceeds(_echoed(result), limits.response_bytes - size):
                raise _too_large(limits)
            part = _encode(result)
            size += len(part)
            parts += (b"," if parts else b'{"results":[', part)
            if size > limits.response_bytes:
                raise _too_large(limits)
        if result is None or perf_counter() > pause_at:
            yield
            pause_at = perf_counter() + SLICE_SECONDS
    forget_documents()
    summary = run.summing.summary(run.computed, run.deduplicated)
    if replaced:
        summary.replaced_surrogates = replaced
    body = b"".join([*parts, b'],"summary":', _encode(summary), b"}"])
    if len(body) > limits.response_bytes:
        raise _too_large(limits)
    return Answered(body, summary, run, perf_counter() - arrived)


def _echoed(result: ItemResult) -> Iterator[Any]:
    for evaluation in result.evaluations:
        yield from (evaluation.actual, evaluation.expected, evaluation.details)


def _too_large(limits: Limits) -> TooLarge:
    allowed = f"{limits.response_bytes:,} bytes (response_bytes at /v1/limits)"
    return TooLarge(f"The answer would be over the limit of {allowed}: send fewer items, or leave out `echo: full`")
