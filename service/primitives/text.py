"""Texts: normal forms, letter case, whole words, and how texts are shown in explanations."""

import unicodedata
from collections.abc import Callable, Collection
from typing import Literal

import regex

from service.primitives import RuleFault

MAX_MARKS = 128
"""Combining marks in a row: ordering them takes quadratic time. The stream-safe form of UAX #15 has at most 30."""

SHOWN_CHARS = 200
HINT_CHARS = 300

DIRECT_TRIES = 100

_MARKS = regex.compile(r"[\p{M}\uFF9E\uFF9F]++")
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_SPACED_WORD = rf"(?:(?!{_UNSPACED})\w)"
_START_SIGN, _END_SIGN = "\ud800", "\ud801"
_START = regex.compile(rf"(?!{_END_SIGN})(?:\A|(?={_UNSPACED})|(?<!{_SPACED_WORD}{_END_SIGN}?))")
_END = regex.compile(rf"(?!\p{{M}})(?:(?<={_UNSPACED})|(?!{_SPACED_WORD}))")
# All but a mark alone between two letters or digits, and a minus before a number.
_PUNCTUATION = regex.compile(
    r"(?! (?<=[\p{L}\p{N}]) . (?=[\p{L}\p{N}]) | (?<![\p{L}\p{N}]) - (?=\p{N}) ) \p{P}", regex.VERBOSE | regex.DOTALL
)


def nfc(text: str) -> str:
    """The text with accents composed (NFC). RuleFault limit_exceeded on a pile of combining marks."""
    return _normal("NFC", text)


def fold(text: str) -> str:
    """The text without distinctions of letter case: full case folding, so "STRASSE" and "straße" meet."""
    return text.casefold()


def caseless(text: str) -> str:
    """The text folded such that canonically equivalent texts agree (Unicode 3.13, D145)."""
    if text.isascii():
        return text.lower()
    return nfc(_normal("NFD", text).casefold())


def normalize(text: str, forms: Collection[str]) -> str:
    """The text in the forms named: nfc or nfkc, then without punctuation, then with single spaces and none at its ends.

    Punctuation stays where it stands alone between two letters or digits, as does a minus before a number: "(2.75)" is
    2.75, "don't" and "-5" are themselves.
    """
    if "nfkc" in forms:
        text = _normal("NFKC", text)
    elif "nfc" in forms:
        text = nfc(text)
    if "punctuation" in forms:
        text = _PUNCTUATION.sub("", text)
    return " ".join(text.split()) if "whitespace" in forms else text


def even(text: str, forms: Collection[str], *, trim: bool, case_sensitive: bool) -> str:
    """The text with what does not count in a comparison evened out."""
    text = normalize(text, forms) if forms else text
    text = text.strip() if trim else text
    return text if case_sensitive else fold(text)


def has_word(text: str, word: str) -> bool:
    """Whether the word stands in the text with no word character beside it.

    Scripts written without spaces have no edge to respect: a word is found inside running Chinese. A combining mark
    belongs to the character before it.
    """
    start = text.find(word) if word else -1
    for _ in range(DIRECT_TRIES):
        if start < 0 or (_START.match(text, start) and _END.match(text, start + len(word))):
            return start >= 0
        start = text.find(word, start + 1)
    return f"{_START_SIGN}{_signed(word).strip(_START_SIGN + _END_SIGN)}{_END_SIGN}" in _signed(text)


def _signed(text: str) -> str:
    """The text with a sign wherever a whole word may end or start: one search then finds it between two signs."""
    return _START.sub(_START_SIGN, _END.sub(_END_SIGN, text))


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of the text, the last of them … if it was longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def shown(text: str) -> str:
    """The text as an explanation shows it: one line, no control characters, cut at 200 characters."""
    short = cut(text, SHOWN_CHARS)
    return short if short.isprintable() else "".join(map(_visible, short))


def quote(text: str) -> str:
    """The text as an explanation quotes it."""
    return f"'{shown(text)}'"


def hint_of_difference(text: str, wanted: str, holds: Callable[[str, str], bool]) -> str:
    """What alone keeps two texts from agreeing, as the end of a sentence: letter case, white space or Unicode form."""
    if max(len(text), len(wanted)) > HINT_CHARS:
        return ""
    if holds(fold(text), fold(wanted)):
        return " (only letter case differs: see case_sensitive)"
    if holds(text.strip(), wanted.strip()):
        return " (only white space around them differs: see trim)"
    if not (text.isascii() and wanted.isascii()) and holds(normalize(text, ("nfc",)), normalize(wanted, ("nfc",))):
        return " (only the Unicode form differs: see normalize, nfc)"
    return ""


def _normal(form: Literal["NFC", "NFD", "NFKC"], text: str) -> str:
    if text.isascii():
        return text
    if len(text) > MAX_MARKS and any(len(run) > MAX_MARKS for run in _MARKS.findall(text)):
        detail = f"the text has over {MAX_MARKS} combining marks in a row, too many to bring them in order"
        raise RuleFault("limit_exceeded", detail)
    return unicodedata.normalize(form, text)


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]
