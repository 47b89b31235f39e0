r"""On which texts RE2 must find what `regex` finds, told from the pattern's own text.

The two differ in their Unicode tables, in a few spellings, and in loops that may go round on nothing. Where sets or
alternatives cover every character between them it is `regex` that errs (its `[^\s\S]` matches): those stay with RE2.
"""

import re
from typing import Final, NamedTuple

from service.primitives.pattern_shape import Shape
from service.primitives.pattern_syntax import Token

_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_REPEAT_IN_RE2: Final = re.compile(r"(?:[*+?]|\{(?:0|[1-9]\d{0,3})(?:,(?:0|[1-9]\d{0,3})?)?\})[?+]?")

_CLASSES: Final = frozenset("dDwWsSbBpP")
_REFERENCES: Final = frozenset("123456789")
_FOLDED_OTHERWISE: Final = _REFERENCES | frozenset("xpP")


class Agreement(NamedTuple):
    """`anywhere` is false if no text is safe. The rest make some unsafe: `class_escapes` those beyond ASCII or with a
    vertical tab, `final_dollar` those that end in a newline, `ignores_case` those with a Turkish I.
    """

    anywhere: bool
    class_escapes: bool
    final_dollar: bool
    ignores_case: bool

    def covers(self, text: str) -> bool:
        """True if RE2 must find in this text what `regex` finds."""
        if not self.anywhere or (self.final_dollar and text.endswith("\n")):
            return False
        if text.isascii():
            return not (self.class_escapes and "\v" in text)
        return not self.class_escapes and not (self.ignores_case and ("İ" in text or "ı" in text))


def agreement_on(found: list[Token], shape: Shape, flags: str) -> Agreement:
    """Where the engines agree on a pattern, given its tokens, its shape and its flags (out of i, m and s)."""
    switches = [token for token in found if token.lastgroup == "flags" and (token["on"] or token["off"])]
    ignores_case = "i" in flags or any("i" in switch["on"] for switch in switches)
    return Agreement(
        anywhere=shape.loops_agree and all(_reads_alike(token, ignores_case=ignores_case) for token in found),
        class_escapes=any(_has_class_escape(token) for token in found),
        final_dollar=any(token[0] == "$" for token in found) and not _is_multiline(found, switches, flags),
        ignores_case=ignores_case,
    )


def _reads_alike(token: Token, *, ignores_case: bool) -> bool:
    if token.lastgroup == "repeat":
        return _REPEAT_IN_RE2.fullmatch(token[0]) is not None
    unlike = _FOLDED_OTHERWISE if ignores_case else _REFERENCES
    if "-[:" in token[0] or not unlike.isdisjoint(_escapes(token)):
        return False
    return not ignores_case or (token[0].isascii() and "[:" not in token[0])


def _has_class_escape(token: Token) -> bool:
    return not _CLASSES.isdisjoint(_escapes(token)) or (token.lastgroup == "set" and "[:" in token[0])


def _escapes(token: Token) -> list[str]:
    return _ESCAPE.findall(token[0]) if token.lastgroup in {"set", "escape"} else []


def _is_multiline(found: list[Token], switches: list[Token], flags: str) -> bool:
    """True if flag m holds throughout: given from outside or by the first token, with no other switch to doubt it."""
    if not switches:
        return "m" in flags
    only = switches == found[:1] and switches[0]["end"] == ")" and not switches[0]["off"]
    return only and "m" in flags + switches[0]["on"]
