"""What was evaluated for an answer, in numbers: for its summary and for the metrics."""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct

from service.core.outcome import Status

Key = TypeVar("Key")
Number = TypeVar("Number", int, float)


class Counts(Struct, kw_only=True):
    """Evaluations by type and status, items by status, seconds by type, judgements that gave none by judge and reason.

    `computed` are the distinct evaluations that were made, `deduplicated` those that an equal one answered.
    """

    evaluations: Mapping[tuple[str, Status], int]
    items: Mapping[Status, int] = {}
    seconds: Mapping[str, float]
    unjudged: Mapping[tuple[str, str], int] = {}
    computed: int
    deduplicated: int

    @property
    def total(self) -> int:
        """How many evaluations there are."""
        return sum(self.evaluations.values())

    def beside(self, other: "Counts", items: Mapping[Status, int]) -> "Counts":
        """Both together, where they are of the same items."""
        return Counts(
            evaluations=_sum(self.evaluations, other.evaluations),
            items=items,
            seconds=_sum(self.seconds, other.seconds),
            unjudged=_sum(self.unjudged, other.unjudged),
            computed=self.computed + other.computed,
            deduplicated=self.deduplicated + other.deduplicated,
        )


def _sum(one: Mapping[Key, Number], other: Mapping[Key, Number]) -> Mapping[Key, Number]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}
