"""Regular expressions of RFC 9485, which is what the functions match() and search() take."""

import re
from functools import lru_cache

from service.primitives import RuleFault
from service.primitives.patterns import Pattern, compile_pattern

_ESCAPE = r"\\[()*+\-.?\[\\\]^nrt{|}]"
_CATEGORY = r"\\[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}"
_MEMBER = rf"(?:[^\-\[\\\]\ud800-\udfff]|{_ESCAPE})"
_MEMBERS = rf"(?:{_MEMBER}(?:-{_MEMBER})?|{_CATEGORY})"
_TOKEN = re.compile(
    rf"(?P<atom>[^()*+.?\[\\\]{{|}}\ud800-\udfff]|\.|{_ESCAPE}|{_CATEGORY}|\[\^?(?:-|{_MEMBERS}){_MEMBERS}*-?\])"
    r"|(?P<quantifier>[*+?]|\{[0-9]+(?:,[0-9]*)?\})"
    r"|(?P<bar>\|)|(?P<open>\()|(?P<close>\))"
)
_TRANSLATED = {".": "[^\n\r]", "(": "(?:"}


@lru_cache(maxsize=512)
def compile_iregexp(text: str) -> Pattern | None:
    """The pattern of an I-Regexp, None if the text is not one."""
    translated = _translate(text)
    if translated is None:
        return None
    try:
        return compile_pattern(translated)
    except RuleFault as fault:
        if fault.code == "invalid_pattern":
            return None
        raise


def _translate(text: str) -> str | None:
    """The same pattern in the notation of Python (RFC 9485 5), None if the text is no I-Regexp."""
    parts: list[str] = []
    position = depth = 0
    repeatable = False
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or (token["quantifier"] and not repeatable):
            return None
        repeatable = bool(token["atom"] or token["close"])
        depth += bool(token["open"]) - bool(token["close"])
        if depth < 0:
            return None
        parts.append(_TRANSLATED.get(token[0], token[0]))
        position = token.end()
    return "".join(parts) if depth == 0 else None
