"""How much text values hold, known before anything is made of them."""

from collections.abc import Iterable
from typing import Any


def exceeds(values: Iterable[Any], limit: int) -> bool:
    """Whether the JSON texts of values would together have more than about `limit` characters.

    Looks no further than it must: what stands in several places counts each time but is walked once.
    """
    known: dict[int, int] = {}
    total = 0
    for value in values:
        size = known.get(id(value))
        if size is None:
            size = known[id(value)] = _size(value, limit)
        total += size
        if total > limit:
            return True
    return False


def _size(value: Any, limit: int) -> int:
    total = 0
    pending = [value]
    while pending and total <= limit:
        part = pending.pop()
        total += 2
        if isinstance(part, str):
            total += len(part)
        elif isinstance(part, dict):
            total += sum(map(len, part))
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
    return total
