"""What is wrong with a batch that only the whole request shows: sizes, duplicate names, nothing to do."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from service.config import Limits
from service.core.errors import MAX_FAULTS, Fault, Invalid
from service.engine.batch import Batch, Item
from service.engine.naming import Names
from service.primitives.pointer import escape, nearest
from service.primitives.text import cut


def admit(batch: Batch, names: Names, limits: Limits, body_bytes: int) -> None:
    """Raise Invalid, with at most 100 faults, if the batch is over a limit or makes no sense as a whole.

    `body_bytes` is the size of the body it came in: no text can have more characters than that.
    """
    found = chain(_counts(batch, limits), _names(batch, names), _texts(batch, limits, body_bytes))
    faults = list(islice(found, MAX_FAULTS))
    if faults:
        raise Invalid(faults)


def _counts(batch: Batch, limits: Limits) -> Iterator[Fault]:
    shared = len(batch.evaluators)
    own = [len(item.evaluators) for item in batch.items]
    evaluations = shared * len(own) + sum(own)
    if not evaluations:
        yield Fault("/evaluators", "no_evaluator", "No rule anywhere: give `evaluators`, here or in the items")
    yield from over("/items", len(own), limits.items, "items")
    yield from over("/items", evaluations, limits.evaluations, "evaluations")
    yield from over_deadline(batch.deadline_ms, limits)
    yield from over("/evaluators", shared, limits.evaluators_per_item, "evaluators_per_item")
    if shared + max(own) > limits.evaluators_per_item >= shared:
        for index, count in enumerate(own):
            pointer = f"/items/{index}/evaluators"
            yield from over(pointer, shared + count, limits.evaluators_per_item, "evaluators_per_item")


def over(pointer: str, count: int, limit: int, name: str) -> list[Fault]:
    """The fault of a count that is over a limit."""
    if count <= limit:
        return []
    return [Fault(pointer, "limit_exceeded", f"{count:,} is over the limit of {limit:,} ({name} at /v1/limits)")]


def over_deadline(asked_ms: int | None, limits: Limits) -> list[Fault]:
    """The fault of a request that asks for more time than any may have."""
    return over("/deadline_ms", asked_ms or 0, limits.max_deadline_ms, "max_deadline_ms")


def deadline_of(asked_ms: int | None, limits: Limits, arrived: float) -> float:
    """When a request is to be answered."""
    return arrived + (asked_ms or limits.deadline_ms) / 1000


def _names(batch: Batch, names: Names) -> Iterator[Fault]:
    if any(item.id is not None for item in batch.items):
        ids = [item.id or str(index) for index, item in enumerate(batch.items, 1)]
        yield from repeated(ids, "/items/{}/id", "item")
    yield from repeated([rule.id for rule in batch.evaluators], "/evaluators/{}/id", "evaluator")
    shared = {rule.id for rule in batch.evaluators}
    for index, item in enumerate(batch.items):
        if item.evaluators:
            own = [rule.id for rule in item.evaluators]
            yield from repeated(own, f"/items/{index}/evaluators/{{}}/id", "evaluator", earlier=shared)
        if item.grades or item.replies:
            yield from unknown_rules(item, f"/items/{index}", names.of(item))


def repeated(
    ids: Sequence[str | None], pointer: str, what: str, earlier: Collection[str | None] = ()
) -> Iterator[Fault]:
    """The faults of names that were there before; the pointer has a place for the position."""
    given = [name for name in ids if name is not None]
    if len(set(given).difference(earlier)) == len(given):
        return
    seen = set(earlier)
    for index, name in enumerate(ids):
        if name is not None and name in seen:
            yield Fault(pointer.format(index), "duplicate_id", f"There is an earlier {what} with the id {name!r}")
        seen.add(name)


def unknown_rules(item: Item, pointer: str, names: set[str | None]) -> Iterator[Fault]:
    """The faults of grades and replies for rules that there are not."""
    for field in ("grades", "replies"):
        for name in getattr(item, field):
            if name not in names:
                hint = nearest(name, sorted(filter(None, names)))
                detail = f"No evaluator of this item has the id {cut(name, 100)!r}{hint}"
                yield Fault(f"{pointer}/{field}/{escape(name)}", "unknown_id", detail)


def _texts(batch: Batch, limits: Limits, body_bytes: int) -> Iterator[Fault]:
    if body_bytes <= limits.text_chars:
        return
    for index, item in enumerate(batch.items):
        for field in ("output", "input", "expected", "context", "metadata", "variables"):
            yield from long_values(getattr(item, field), f"/items/{index}/{field}", limits.text_chars)


def long_values(value: Any, pointer: str, limit: int) -> Iterator[Fault]:
    """The faults of texts, anywhere in a value, that are too long."""
    if isinstance(value, str):
        if len(value) > limit:
            detail = f"{len(value):,} characters are over the limit of {limit:,} (text_chars at /v1/limits)"
            yield Fault(pointer, "limit_exceeded", detail)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from long_values(one, f"{pointer}/{index}", limit)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from long_values(one, f"{pointer}/{escape(key)}", limit)
