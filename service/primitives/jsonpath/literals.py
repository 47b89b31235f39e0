"""Texts, numbers and regular expressions as they are written in a path."""

import json
import math
import re

from service.primitives.jsonpath import advice
from service.primitives.jsonpath.scanner import Scanner

MAX_INDEX = 2**53 - 1
"""The largest number of an index or a slice, in either direction (RFC 9535 2.1)."""

_INDEX = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_REGEX = re.compile(r"/((?:[^/\\]|\\.)+)/([A-Za-z]*)", re.DOTALL)

_UTF16 = (
    r"u(?:[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}"
    r"|[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})"
)
_UNCLOSED_TEXTS = {
    quote: re.compile(rf"{quote}((?:[^{quote}\\\x00-\x1f\ud800-\udfff]|\\(?:[{quote}\\/bfnrt]|{_UTF16}))*)")
    for quote in ("'", '"')
}
_UNLIKE_JSON = re.compile(r'\\.|"')
_AS_JSON = {r"\'": "'", '"': r"\""}


def text(scan: Scanner) -> str | None:
    """The text in quotes that comes next, if one does."""
    for quote, unclosed in _UNCLOSED_TEXTS.items():
        if found := scan.take(unclosed):
            if not scan.accept(quote):
                raise scan.fault(f"more of the text or {quote} at its end", advice.TEXT)
            return _unescaped(found[1])
    return None


def _unescaped(content: str) -> str:
    if "\\" not in content:
        return content
    as_json = _UNLIKE_JSON.sub(lambda part: _AS_JSON.get(part[0], part[0]), content)
    return str(json.loads(f'"{as_json}"'))


def number(scan: Scanner) -> int | float | None:
    """The number that comes next, if one does: exact without a fraction and an exponent, else a double."""
    start = scan.position
    found = scan.take(_NUMBER)
    if found is None:
        return None
    if not found[1] and not found[2]:
        return int(found[0])
    value = float(found[0])
    if math.isinf(value):
        raise scan.fault("a number within the range of a double", at=start)
    return value


def index(scan: Scanner) -> int | None:
    """The number of an index or a slice that comes next, if one does."""
    start = scan.position
    found = scan.take(_INDEX)
    if found is None:
        return None
    value = int(found[0])
    if abs(value) > MAX_INDEX:
        raise scan.fault(f"a number from -{MAX_INDEX} to {MAX_INDEX}", at=start)
    return value


def regex(scan: Scanner) -> tuple[str, str] | None:
    """The pattern and the flags that come next, if they do, as `/pattern/flags` or as a text in quotes."""
    quoted = text(scan)
    if quoted is not None:
        return quoted, ""
    found = scan.take(_REGEX)
    if found is None:
        return None
    if not set(found[2]) <= set("ims"):
        raise scan.fault("no flags but i, m and s", at=found.start(2))
    return found[1].replace(r"\/", "/"), found[2]
