"""Regular expressions with one meaning and two engines.

The meaning is Python's, Unicode-aware, as `regex` implements it. RE2 answers in linear time wherever it is known to
find the same match; otherwise `regex` answers, within a time limit. Both let other threads run meanwhile.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import re2
import regex
from re2 import _re2  # the public wrapper takes as long as the search itself

from service.primitives import RuleFault
from service.primitives.agreement import Agreement, agreement_on
from service.primitives.pattern_shape import shape_of
from service.primitives.pattern_syntax import Token, original_position, tokens, with_literal_braces

MAX_PATTERN_CHARS: Final = 10_000
MAX_PATTERN_SIZE: Final = 3_000
BACKTRACKING_SECONDS: Final = 0.05
MAX_BACKTRACKING_CHARS: Final = 100_000
MAX_RE2_WORK: Final = 100_000_000
RE2_MEMORY_BYTES: Final = 2 << 20

_ANYWHERE: Final = _re2.RE2.Anchor.UNANCHORED
_WHOLE: Final = _re2.RE2.Anchor.ANCHOR_BOTH
_FLAGS: Final = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}


Engine = Literal["re2", "backtracking"]


class Match(NamedTuple):
    """Where a pattern matched: `text` is what stands between the code points `start` and `end`."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, flags: str = "") -> "Pattern":
    """The pattern under flags out of i (ignore case), m (^ and $ at every line) and s (dot takes newlines).

    Faults with `invalid_pattern` where it is not well-formed, with `limit_exceeded` over 10,000 characters or where its
    counts, multiplied out, or its groups go too deep.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        fix = f"shorten it to {MAX_PATTERN_CHARS:,}"
        raise RuleFault("limit_exceeded", f"The pattern has {len(pattern):,} characters; {fix}.")
    return _compiled(pattern, "".join(sorted(set(flags))))


def escape(text: str) -> str:
    """A pattern that matches exactly this text, also inside a longer pattern."""
    return re.escape(text)


class Pattern:
    """A compiled pattern. Threads may share it."""

    __slots__ = ("_agreement", "_re2", "_regex", "_size")

    def __init__(self, backtracking: "regex.Pattern[str]", linear: Any | None, agreement: Agreement) -> None:
        self._regex = backtracking
        self._re2 = linear
        self._size: int = linear.ProgramSize() if linear else 0
        self._agreement = agreement

    def find(self, text: str, *, whole: bool = False) -> Match | None:
        """The first match in a text, or with `whole` the match of all of it.

        Faults with `limit_exceeded` where the text is too long for the pattern, with `regex_timeout` where backtracking
        would take over 50 ms.
        """
        return self.search(text, whole=whole)[0]

    def search(self, text: str, *, whole: bool = False) -> tuple[Match | None, Engine]:
        """What `find` finds, and the engine that found it."""
        data = self._for_re2(text)
        if data is None:
            return self._find_by_regex(text, whole=whole), "backtracking"
        return self._find_by_re2(text, data, whole=whole), "re2"

    def matcher(self, *, whole: bool = False) -> Callable[[str], bool]:
        """Tells whether `find` finds something in a text; it faults alike."""
        if self._re2 is None:
            return lambda text: self._find_by_regex(text, whole=whole) is not None
        search, anchor, most = self._re2.Match, _WHOLE if whole else _ANYWHERE, MAX_RE2_WORK // self._size
        covers = self._agreement.covers

        def matches(text: str) -> bool:
            if not covers(text):
                return self._find_by_regex(text, whole=whole) is not None
            if len(text) > most or not text.isascii():
                return self.find(text, whole=whole) is not None
            found: bool = search(anchor, text.encode(), 0, len(text))[0][0] >= 0
            return found

        return matches

    def engine_for(self, text: str) -> Engine:
        """The engine that answers for a text."""
        return "backtracking" if self._for_re2(text) is None else "re2"

    def is_linear(self, *, plain: bool) -> bool:
        """Whether RE2 answers for every text, or for every text that is `plain`: ASCII without control characters."""
        if self._re2 is None or self._agreement.final_dollar:
            return False
        return plain or not (self._agreement.class_escapes or self._agreement.ignores_case)

    def _for_re2(self, text: str) -> bytes | None:
        """The text in UTF-8, if RE2 may answer for it."""
        if self._re2 is None or not self._agreement.covers(text):
            return None
        try:
            return text.encode()
        except UnicodeEncodeError:
            return None

    def _find_by_re2(self, text: str, data: bytes, *, whole: bool) -> Match | None:
        assert self._re2 is not None
        if len(data) * self._size > MAX_RE2_WORK:
            most = MAX_RE2_WORK // self._size
            fix = f"a pattern of this size may search {most:,}. Shorten either"
            raise RuleFault("limit_exceeded", f"The text has {len(data):,} bytes; {fix}.")
        start, end = self._re2.Match(_WHOLE if whole else _ANYWHERE, data, 0, len(data))[0]
        if start < 0:
            return None
        if len(data) == len(text):
            return Match(text[start:end], start, end)
        matched = data[start:end].decode()
        start = len(data[:start].decode())
        return Match(matched, start, start + len(matched))

    def _find_by_regex(self, text: str, *, whole: bool) -> Match | None:
        if len(text) > MAX_BACKTRACKING_CHARS:
            fix = f"this pattern needs backtracking, which is limited to {MAX_BACKTRACKING_CHARS:,}. Shorten the text"
            raise RuleFault("limit_exceeded", f"The text has {len(text):,} characters; {fix}.")
        search = self._regex.fullmatch if whole else self._regex.search
        try:
            found = search(text, timeout=BACKTRACKING_SECONDS)
        except TimeoutError:
            fix = "anchor it, or take apart its nested or overlapping repeats"
            detail = f"The pattern took over {BACKTRACKING_SECONDS * 1000:.0f} ms on this text; {fix}."
            raise RuleFault("regex_timeout", detail) from None
        return Match(found[0], found.start(), found.end()) if found else None


@lru_cache(maxsize=512)
def _compiled(pattern: str, flags: str) -> Pattern:
    found = list(tokens(pattern))
    shape = shape_of(found)
    if shape.size > MAX_PATTERN_SIZE:
        fix = f"counts inside counts multiply; they may come to {MAX_PATTERN_SIZE:,} items"
        raise RuleFault("limit_exceeded", f"The pattern repeats too much: {fix}.")
    text = with_literal_braces(pattern, found)
    backtracking = _compiled_by_regex(text, flags, found)
    agreement = agreement_on(found, shape, flags)
    return Pattern(backtracking, _compiled_by_re2(text, flags) if agreement.anywhere else None, agreement)


def _compiled_by_regex(text: str, flags: str, found: list[Token]) -> "regex.Pattern[str]":
    options = regex.VERSION0
    for flag in flags:
        options |= _FLAGS[flag]
    try:
        return regex.compile(text, options, cache_pattern=False)
    except regex.error as fault:
        raise RuleFault("invalid_pattern", f"The pattern is not well-formed: {_explained(fault, found)}.") from None
    except ValueError as fault:
        raise RuleFault("invalid_pattern", f"The pattern is not well-formed: {fault}.") from None
    finally:
        regex.purge()  # it keeps every text ever compiled, even when told not to cache


def _explained(fault: Any, found: list[Token]) -> str:
    message: str = fault.msg
    return message if fault.pos is None else f"{message} at position {original_position(fault.pos, found)}"


def _compiled_by_re2(text: str, flags: str) -> Any | None:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = RE2_MEMORY_BYTES
    try:
        compiled = _re2.RE2((f"(?{flags}){text}" if flags else text).encode(), options)
    except UnicodeEncodeError:
        return None
    return compiled if compiled.ok() else None
