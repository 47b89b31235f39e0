"""How much of some passages a list of quotations covers."""

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Covered(NamedTuple):
    """Characters that quotations cover, out of how many, and which quotations stand nowhere."""

    characters: int
    total: int
    absent: list[str]


def covered(quotations: Collection[str], passages: Sequence[str]) -> Covered:
    """What quotations cover of passages: each character counts once, wherever and however often it is quoted.

    A quotation covers every place where it stands, character for character; white space around it does not count.
    """
    sought = dict.fromkeys(text for quotation in quotations if (text := quotation.strip()))
    characters, found = 0, set()
    for passage in passages:
        marks = bytearray(len(passage))
        found |= {text for text in sought if _mark(marks, text, passage)}
        characters += marks.count(1)
    return Covered(characters, sum(map(len, passages)), [text for text in sought if text not in found])


def _mark(marks: bytearray, text: str, passage: str) -> bool:
    """Mark where a text stands in a passage; whether it does."""
    ones = b"\1" * len(text)
    start = first = passage.find(text)
    while start >= 0:
        end = start + len(text)
        marks[start:end] = ones
        start = passage.find(text, end)
    return first >= 0
