"""The body of an answer, encoded a few parts at a time."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from service.core.counts import Counts
from service.core.errors import TooLarge
from service.engine.batch import Work
from service.engine.consulting import Consulting
from service.primitives.sizes import exceeds

encode = msgspec.json.Encoder().encode


class Answered(Struct):
    """An answer's body, what was evaluated for it if anything was, what the log says of it, and how long it took."""

    body: bytes
    counts: Counts | None
    facts: dict[str, int]
    seconds: float


def account(work: Work, counts: Counts | None, consulting: Consulting, replaced: int) -> None:
    """Fill in what a request took: evaluations, if there were any, what judges were asked, and surrogates replaced."""
    if counts is not None:
        work.computed, work.deduplicated, work.evaluations = counts.computed, counts.deduplicated, counts.total
    work.judge = dict(sorted(consulting.costs.items())) or UNSET
    work.replaced_surrogates = replaced or UNSET


class Writing:
    """A body in the making. TooLarge, with what to do about it, as soon as it is over the limit of bytes."""

    def __init__(self, limit: int, advice: str) -> None:
        self._parts: list[bytes] = []
        self._limit = limit
        self._left = limit
        self._advice = advice
        self._follows = False

    def append(self, part: bytes) -> None:
        """Take a part as it is; elements that are added next begin a list."""
        self._left -= len(part)
        if self._left < 0:
            raise self._too_large()
        self._parts.append(part)
        self._follows = False

    def add(self, elements: Sequence[Any]) -> None:
        """Take further elements of the list that was begun."""
        if elements:
            self.append((b"," if self._follows else b"") + encode(elements)[1:-1])
            self._follows = True

    def refuse_large(self, values: Iterable[Any]) -> None:
        """Raise TooLarge if these values, encoded, would be over the limit."""
        if exceeds(values, self._left):
            raise self._too_large()

    def body(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)

    def _too_large(self) -> TooLarge:
        allowed = f"{self._limit:,} bytes (response_bytes at /v1/limits)"
        return TooLarge(f"The answer would be over the limit of {allowed}: {self._advice}")
