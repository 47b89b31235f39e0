"""The objects that stand in a reply, whatever is around them."""

import re

from service.primitives.replies.faults import ReplyFault, seen
from service.primitives.replies.lenient import Broken, Cut, Lenient, Piece

MAX_CHARACTERS = 1_000_000
MAX_OPENINGS = 1_000
"""Places that could begin an object, of which each is tried."""

_OPENING = re.compile(r"\{(?=\s*+(?:[\"'“#]|//|/\*|[A-Za-z_]\w*+\s*+:))")
_BRACE = re.compile(r"[{}]")
_REASONING = re.compile(r"\s*<(think|thinking|reasoning|thought)>(.*?</\1>)?", re.IGNORECASE | re.DOTALL)


def answer_of(text: str) -> str:
    """A reply without the reasoning in tags before its answer. Raises ReplyFault where the reasoning has no end.

    A closing tag alone takes nothing away: what stands before it might be the verdict, and the tag a quotation.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReplyFault("judge_unparseable", f"The judge's reply has more than {MAX_CHARACTERS:,} characters.")
    position = 0
    while block := _REASONING.match(text, position):
        if block[2] is None:
            raise ReplyFault("judge_truncated", f"The judge's reply ends inside <{block[1]}>.")
        position = block.end()
    return text[position:]


def objects(text: str) -> list[Piece]:
    """The outermost objects of a text, in order; one that cannot be read is passed over with all that is in it.

    Raises ReplyFault where the text ends inside an object, and where there are too many.
    """
    reader = Lenient(text)
    found: list[Piece] = []
    position = openings = 0
    while opening := _OPENING.search(text, position):
        openings += 1
        if openings > MAX_OPENINGS:
            raise ReplyFault("judge_unparseable", f"The judge's reply has more than {MAX_OPENINGS:,} objects.")
        start = opening.start()
        try:
            found.append(reader.read(start))
            position = found[-1].end
        except Cut:
            raise ReplyFault("judge_truncated", f"The judge's reply ends inside {seen(text[start:])}.") from None
        except Broken:
            position = _closing(text, start) if reader.keyed else _resumption(reader, start)
    return found


def without(text: str, pieces: list[Piece]) -> str:
    """A text with each of the pieces replaced by `{}`."""
    parts, position = [], 0
    for piece in pieces:
        parts.append(text[position : piece.start])
        position = piece.end
    return "{}".join([*parts, text[position:]])


def _closing(text: str, start: int) -> int:
    """The end of an object that cannot be read, by its braces alone. Raises ReplyFault where it has none."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    raise ReplyFault("judge_unparseable", f"An object of the judge's reply is no JSON: {seen(text[start:])}")


def _resumption(reader: Lenient, start: int) -> int:
    """Where to search on behind a brace that begins no object: a stray quote can have made a text of the next one."""
    return reader.text_start + 1 if reader.text_start > start else max(reader.position, start + 1)
