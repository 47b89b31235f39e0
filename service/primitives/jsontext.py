"""Strict JSON in (RFC 8259, never repaired) and JSON text out."""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET

MAX_DEPTH = 200
"""Containers inside containers that a JSON text may have; a scalar has depth 0, `[]` depth 1."""

_DECODER = msgspec.json.Decoder()
_RENDER = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False).encode
_COMPACT = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"), sort_keys=True
).encode

_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# An escape starts after an even number of backslashes; whole pairs are matched too, to be kept.
_SURROGATE = re.compile(rf"(?<!\\)((?:\\\\)*+)(?:({_HIGH}{_LOW})|{_HIGH}|{_LOW})")

_BLANK = " \t\r\n"
_FIRST = '{["-0123456789tfn'

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NotJson(Exception):
    """A text is no JSON, or JSON that is not accepted here.

    `code` is `no_json`, `too_deep` (over MAX_DEPTH), `number_out_of_range` (no double holds it), `integer_too_long`
    (over 4,300 digits) or `lone_surrogate` (half of a surrogate pair); `detail` is a sentence, with the UTF-8 byte
    where reading stopped if that is known.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def decode(text: str) -> Any:
    """Value of a JSON text; white space around it is fine, a byte order mark is not, the last of equal keys counts.

    Integers are exact, other numbers are doubles. Raises NotJson.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeEncodeError as fault:
        raise NotJson("lone_surrogate", f"Character {fault.start} of the text is half of a surrogate pair.") from None
    except msgspec.ValidationError as fault:
        raise _number_fault(str(fault)) from None
    except msgspec.DecodeError as fault:
        raise _syntax_fault(text, str(fault)) from None
    if _is_too_deep(text, value):
        raise _too_deep()
    return value


def decode_or_unset(text: str) -> Any:
    """The value, or UNSET where `decode` would raise: it spends no time on why."""
    if text.lstrip(_BLANK)[:1] not in _FIRST:
        return UNSET  # prose, mostly
    try:
        value = _DECODER.decode(text)
    except (RecursionError, UnicodeEncodeError, msgspec.DecodeError):
        return UNSET
    return UNSET if _is_too_deep(text, value) else value


def mend_surrogates(text: str) -> tuple[str, int]:
    r"""A JSON text with every escape of half a surrogate pair turned into `\ufffd`, and the number of those escapes."""
    if "\\u" not in text:
        return text, 0
    count = 0

    def mended(escape: re.Match[str]) -> str:
        nonlocal count
        if escape[2]:
            return escape[0]
        count += 1
        return escape[1] + r"\ufffd"

    return _SURROGATE.sub(mended, text), count


def is_json(text: str) -> bool:
    """Whether a text is JSON by `decode`."""
    return decode_or_unset(text) is not UNSET


def depth_exceeds(value: Any, limit: int) -> bool:
    """Whether more than `limit` containers lie inside one another; never recurses, whatever the depth."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        level = [child for node in level for child in _children(node) if isinstance(child, (dict, list))]
        if not level:
            return False
    return bool(level)


def render(value: Any) -> str:
    """JSON text with keys in the order given, `, ` and `: ` between, characters unescaped, `10.0` kept as `10.0`."""
    return _RENDER(value)


def compact(value: Any) -> str:
    """JSON text with sorted keys, no white space and characters unescaped: one text for equal key sets."""
    return _COMPACT(value)


def as_text(value: Any) -> str:
    """A text as it is, any other value as its JSON text."""
    return value if isinstance(value, str) else render(value)


def kind_of(value: Any) -> str:
    """The JSON type of a value, with its article."""
    if value is None:
        return "null"
    kinds = {str: "a text", bool: "a boolean", dict: "an object", list: "an array", int: "a number", float: "a number"}
    return kinds[type(value)]


def pointer(steps: Iterable[str | int]) -> str:
    """JSON Pointer (RFC 6901) of keys and indices from the root; the root itself is the empty text."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def dotted(steps: Iterable[str | int]) -> str:
    """JSONPath of keys and indices from the root, such as `$.address.lines[0]['post code']`."""
    return "$" + "".join(_dotted_step(step) for step in steps)


def _dotted_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_NAME.fullmatch(step):
        return f".{step}"
    return "['" + render(step)[1:-1].replace('\\"', '"').replace("'", "\\'") + "']"


def _is_too_deep(text: str, value: Any) -> bool:
    return text.count("[") + text.count("{") > MAX_DEPTH and depth_exceeds(value, MAX_DEPTH)


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def _too_deep() -> NotJson:
    return NotJson("too_deep", f"The JSON nests more than {MAX_DEPTH} arrays or objects.")


def _number_fault(message: str) -> NotJson:
    place = message.partition(" - at ")[2]
    where = f" at {place}" if 0 < len(place) <= 80 else ""
    if message.startswith("Integer"):
        return NotJson("integer_too_long", f"The integer{where} has more than 4,300 digits.")
    return NotJson("number_out_of_range", f"The number{where} is too large for a double.")


def _syntax_fault(text: str, message: str) -> NotJson:
    # msgspec reports half a pair near the end of a text as a truncation, so only a second reading tells them apart.
    mended, count = mend_surrogates(text)
    if count:
        try:
            decode(mended)
        except NotJson as fault:
            return fault
        return NotJson("lone_surrogate", "A text in the JSON has an escape that is half of a surrogate pair.")
    if not text.strip(_BLANK):
        return NotJson("no_json", "The text is empty.")
    if message == "Input data was truncated":
        return NotJson("no_json", "The text is no JSON: it ends before the JSON is complete.")
    return NotJson("no_json", f"The text is no JSON: {message.removeprefix('JSON is malformed: ')}.")
