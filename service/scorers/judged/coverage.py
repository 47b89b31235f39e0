"""How much of some passages a list of quotations covers."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

MAX_STEPS = 200_000_000
"""Characters that may be looked through, summed over the quotations; a place found counts as STEPS_PER_PLACE."""
STEPS_PER_PLACE = 1_000
MAX_QUOTATIONS = 1_000


class TooCostly(Exception):
    """Quotations and passages are too many, or too long, to be held against each other."""


class Covered(NamedTuple):
    """Characters that quotations cover, out of how many, and which quotations stand nowhere."""

    characters: int
    total: int
    absent: list[str]


def covered(quotations: Collection[str], passages: Sequence[str]) -> Covered:
    """What quotations cover of passages: each character counts once, wherever and however often it is quoted.

    A quotation covers every place where it stands, character for character; white space around it does not count.
    Raises TooCostly.
    """
    sought = dict.fromkeys(text for quotation in quotations if (text := quotation.strip()))
    total = sum(map(len, passages))
    steps = len(sought) * total
    if len(quotations) > MAX_QUOTATIONS:
        raise TooCostly
    characters, found = 0, set()
    for passage in passages:
        marks = bytearray(len(passage))
        for text in sought:
            if steps > MAX_STEPS:
                raise TooCostly
            places = _mark(marks, text, passage, (MAX_STEPS - steps) // STEPS_PER_PLACE + 1)
            steps += places * STEPS_PER_PLACE
            found |= {text} if places else set()
        characters += marks.count(1)
    return Covered(characters, total, [text for text in sought if text not in found])


def _mark(marks: bytearray, text: str, passage: str, most: int) -> int:
    """Mark where a text stands in a passage, in so many places at most; the number of places."""
    ones = b"\1" * len(text)
    places = 0
    start = passage.find(text)
    while start >= 0 and places < most:
        places += 1
        end = start + len(text)
        marks[start:end] = ones
        start = passage.find(text, end)
    return places
