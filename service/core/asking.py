"""What a judgement has to learn from others before it can be made."""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from service.core.ports import Reading

T = TypeVar("T")


class Need(Struct, frozen=True):
    """Texts whose vectors are asked for, and texts whose tokens are to be counted."""

    vectors: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()


class Told(Struct, frozen=True):
    """The answer to a need."""

    vectors: Mapping[str, Sequence[float]] = {}
    readings: Mapping[str, Reading] = {}
    """How much the model read of each text; nothing for vectors that the caller gave."""
    counts: Mapping[str, int] = {}
    model: str | None = None
    """Who made the vectors or the tokens; None where the caller gave them."""


Judging = Generator[Need, Told, T]


def together(judgings: Collection[Judging[T]]) -> Judging[list[T]]:
    """Several judgements made side by side: what they need is asked for at once."""
    results: list[Any] = [None] * len(judgings)
    waiting = _advanced(dict(enumerate(judgings)), None, results)
    while waiting:
        told = yield _joined([need for _, need in waiting.values()])
        waiting = _advanced({place: judging for place, (judging, _) in waiting.items()}, told, results)
    return results


def _advanced(
    judgings: dict[int, Judging[T]], told: Told | None, results: list[Any]
) -> dict[int, tuple[Judging[T], Need]]:
    """Those that need more; the results of the others are put in their places."""
    waiting = {}
    for place, judging in judgings.items():
        try:
            waiting[place] = judging, (next(judging) if told is None else judging.send(told))
        except StopIteration as end:
            results[place] = end.value
    return waiting


def _joined(needs: Sequence[Need]) -> Need:
    vectors = dict.fromkeys(text for need in needs for text in need.vectors)
    counts = dict.fromkeys(text for need in needs for text in need.counts)
    return Need(tuple(vectors), tuple(counts))
