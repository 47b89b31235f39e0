"""Lengths of texts."""

import re
from collections.abc import Callable
from typing import Final, Literal

import regex

Unit = Literal["characters", "words", "unicode_words", "graphemes", "bytes", "sentences"]

_GRAPHEME = regex.compile(r"\X")
_FLAG = regex.compile(r"\p{Regional_Indicator}{2}")
_WORD_EDGE = regex.compile(r"(?w)\b")
_WORD_CHARACTER = regex.compile(r"\w")

_LINE_END = re.compile(r"[\r\n\x85\u2028\u2029]+")
_IGNORED = regex.compile(r"[\p{SB=Extend}\p{SB=Format}]+")
_SENTENCE_END = regex.compile(
    r"""
    (?: \n
      | (?: \p{SB=STerm}
          | \p{SB=ATerm}
            (?! \p{SB=Numeric} | (?<= [\p{SB=Upper}\p{SB=Lower}]. ) \p{SB=Upper} )
            (?! \p{SB=Close}*+ \p{SB=Sp}*+
                [^\n\p{SB=OLetter}\p{SB=Upper}\p{SB=Lower}\p{SB=STerm}\p{SB=ATerm}]*+ \p{SB=Lower} ) )
        (?! [\p{SB=STerm}\p{SB=ATerm}] )
        \p{SB=Close}*+ \p{SB=Sp}*+
        (?! [\p{SB=SContinue}\p{SB=STerm}\p{SB=ATerm}] )
        \n? )
    (?= . )
    """,
    regex.VERBOSE | regex.DOTALL,
)


def count(text: str, unit: Unit) -> int:
    """How long a text is, in code points, runs between white space, UTF-8 bytes, or the units of UAX #29."""
    return COUNTERS[unit](text)


def _unicode_words(text: str) -> int:
    """Segments between word boundaries that hold a letter or digit."""
    segments = _WORD_EDGE.split(_FLAG.sub(" ", text))
    return sum(1 for segment in segments if _WORD_CHARACTER.search(segment))


def _graphemes(text: str) -> int:
    # before each regional indicator `regex` counts back over all those before it, so a run of flags is taken out first
    return sum(1 for _ in _GRAPHEME.finditer(_FLAG.sub("x", text)))


def _sentences(text: str) -> int:
    """Sentences that hold more than white space. Blank lines are dropped first and line ends made one newline."""
    lines = _LINE_END.split(_IGNORED.sub("", text))
    joined = "\n".join(line for line in map(str.strip, lines) if line)
    return 1 + sum(1 for _ in _SENTENCE_END.finditer(joined)) if joined else 0


COUNTERS: Final[dict[Unit, Callable[[str], int]]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "unicode_words": _unicode_words,
    "graphemes": _graphemes,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "sentences": _sentences,
}
