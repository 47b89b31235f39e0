"""Places in a JSON document, and what a wrong name was probably meant to be."""

from collections.abc import Iterable
from itertools import islice

from rapidfuzz import fuzz, process

MAX_KEY_CHARS = 200


def escape(key: str) -> str:
    """A key as a token of a JSON Pointer (RFC 6901); a very long one is cut, which an ellipsis shows."""
    short = key if len(key) <= MAX_KEY_CHARS else f"{key[:MAX_KEY_CHARS]}…"
    return short.replace("~", "~0").replace("/", "~1")


def join(pointer: str, key: str | int) -> str:
    """The pointer to a member or element."""
    return f"{pointer}/{escape(key) if isinstance(key, str) else key}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint to end a sentence with: the known name that is nearest, else nothing."""
    close = process.extractOne(name[:100], islice(known, 1000), scorer=fuzz.ratio, score_cutoff=60)
    return f": did you mean {close[0]!r}?" if close else ""
