"""Lengths of texts."""

from collections.abc import Callable
from typing import Literal

import regex

from service.primitives import RuleFault

Unit = Literal["characters", "words", "unicode_words", "graphemes", "bytes", "sentences"]

MAX_SENTENCE_CHARS = 10_000
"""Finding sentences takes some 50 microseconds a character."""

_GRAPHEME = regex.compile(r"\X")
_WORD_EDGE = regex.compile(r"(?w)\b")
_WORD_CHARACTER = regex.compile(r"\w")


def count(text: str, unit: Unit) -> int:
    """How long a text is, in code points, runs between white space, UTF-8 bytes, or the units of UAX #29.

    RuleFault limit_exceeded for the sentences of a text over 10,000 characters.
    """
    return _COUNT[unit](text)


def _unicode_words(text: str) -> int:
    """Segments between word boundaries that hold a letter or digit."""
    return sum(1 for segment in _WORD_EDGE.split(text) if _WORD_CHARACTER.search(segment))


def _sentences(text: str) -> int:
    from uniseg.sentencebreak import sentences  # noqa: PLC0415 - few need it, and it loads slowly

    if len(text) > MAX_SENTENCE_CHARS:
        allowed = f"{MAX_SENTENCE_CHARS:,} characters"
        raise RuleFault(
            "limit_exceeded", f"the text has {len(text):,} characters; sentences are counted in up to {allowed}"
        )
    return sum(1 for sentence in sentences(text) if sentence.strip())


_COUNT: dict[Unit, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "unicode_words": _unicode_words,
    "graphemes": lambda text: len(_GRAPHEME.findall(text)),
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "sentences": _sentences,
}
