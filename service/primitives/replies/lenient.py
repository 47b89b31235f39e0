"""Objects as models write them: JSON, and the slips that leave no doubt about what is meant.

Read as if it were JSON, and told as `mended`: comments, trailing commas, raw control characters in texts, escapes that
JSON does not have, `True`, `False` and `None`, single or typographic quotes around texts, and numbers such as `.5`.
Brackets are never closed and commas, keys or quotes never added.
"""

import re
from typing import Any, NamedTuple

from service.primitives.equality import equal
from service.primitives.numbers import read_number
from service.primitives.replies.faults import ReplyFault

MAX_DEPTH = 100
MAX_VALUES = 50_000
"""Values of all objects of one reply together."""

_JSON_BLANKS = " \t\r\n"
_BLANKS = re.compile(r"(?:\s++|//[^\n]*+|\#[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))*+")
_TEXTS = {
    '"': re.compile(r'"((?:[^"\\]|\\.)*+)(")?', re.DOTALL),
    "'": re.compile(r"'((?:[^'\\]|\\.)*+)(')?", re.DOTALL),
    "“": re.compile(r"“((?:[^”\\]|\\.)*+)(”)?", re.DOTALL),
}
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORD = re.compile(r"[\w.+-]*+")
_BARE_KEY = re.compile(r"[A-Za-z_]\w*+\s*+:")
_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS = {"True": True, "False": False, "None": None}


class Cut(Exception):
    """The text ends inside an object."""


class Broken(Exception):
    """What begins like an object is none."""


class Piece(NamedTuple):
    """An object of a text, where it stands, and whether its text is other than strict JSON.

    `repeated` are keys that one object in it gives twice, with different values.
    """

    value: dict[str, Any]
    start: int
    end: int
    mended: bool
    repeated: frozenset[str]


class Lenient:
    """Reads objects of one text, one after the other.

    After Broken, `keyed` tells whether a key was met, `position` is where reading stopped, and `text_start` is where
    the last text began.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._values = 0
        self._begin(0)

    def read(self, start: int) -> Piece:
        """The object that opens at `start`. Raises Cut, Broken, or ReplyFault where reading on would cost too much."""
        self._begin(start)
        value = self._object(1)
        return Piece(value, start, self.position, self._mended, frozenset(self._repeated))

    def _begin(self, start: int) -> None:
        self.position = self.text_start = start
        self.keyed = False
        self._mended = False
        self._repeated: set[str] = set()

    def _value(self, depth: int) -> Any:
        self._values += 1
        if self._values > MAX_VALUES or depth > MAX_DEPTH:
            raise ReplyFault("judge_unparseable", "The JSON of the judge's reply is too large or nests too deep.")
        mark = self._next()
        if mark == "{":
            return self._object(depth + 1)
        if mark == "[":
            return self._array(depth + 1)
        return self._string(mark) if mark in _TEXTS else self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.position += 1
        more = self._opens("}")
        while more:
            key = self._key()
            value = self._value(depth)
            if key in members and not equal(members[key], value):
                self._repeated.add(key)
            members[key] = value
            more = self._continues("}")
        return members

    def _array(self, depth: int) -> list[Any]:
        elements: list[Any] = []
        self.position += 1
        more = self._opens("]")
        while more:
            elements.append(self._value(depth))
            more = self._continues("]")
        return elements

    def _key(self) -> str:
        """The key, and its colon passed."""
        mark = self._next()
        if mark not in _TEXTS:
            self.keyed = self.keyed or _BARE_KEY.match(self._text, self.position) is not None
            raise Broken
        key = self._string(mark)
        if self._next() != ":":
            raise Broken
        self.keyed = True
        self.position += 1
        return key

    def _opens(self, closing: str) -> bool:
        """Whether anything follows the bracket but the one that closes it, which is passed."""
        if self._next() != closing:
            return True
        self.position += 1
        return False

    def _continues(self, closing: str) -> bool:
        """Whether another member or element follows; a comma or the closing bracket is passed."""
        if not self._opens(closing):
            return False
        if self._next() != ",":
            raise Broken
        self.position += 1
        if self._opens(closing):
            return True
        self._mended = True
        return False

    def _next(self) -> str:
        """The character after blanks and comments."""
        blanks = _BLANKS.match(self._text, self.position)
        if blanks and blanks.end() > self.position:
            self.position = blanks.end()
            self._mended = self._mended or bool(blanks[0].strip(_JSON_BLANKS))
        if self.position == len(self._text):
            raise Cut
        return self._text[self.position]

    def _string(self, mark: str) -> str:
        found = _TEXTS[mark].match(self._text, self.position)
        if found is None or not found[2]:
            raise Cut
        self.text_start, self.position = self.position, found.end()
        body = found[1]
        self._mended = self._mended or mark != '"' or bool(_CONTROL.search(body))
        body = _ESCAPE.sub(self._unescaped, body) if "\\" in body else body
        if not _SURROGATE.search(body):
            return body
        whole = body.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._mended = self._mended or "\ufffd" in whole
        return whole

    def _unescaped(self, escape: re.Match[str]) -> str:
        code = escape[1]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        if code in _ESCAPED:
            return _ESCAPED[code]
        self._mended = True
        return "'" if code == "'" else escape[0]

    def _scalar(self) -> Any:
        word = _WORD.match(self._text, self.position)
        if word is None or word.end() == len(self._text):
            raise Cut
        self.position = word.end()
        if word[0] in _LITERALS:
            return _LITERALS[word[0]]
        number = read_number(word[0])
        if number is not None:
            return number
        self._mended = True
        if word[0] in _PYTHON_LITERALS:
            return _PYTHON_LITERALS[word[0]]
        number = number_of(word[0])
        if number is None:
            raise Broken
        return number


def number_of(text: str) -> int | float | None:
    """The number that a text is, by JSON's grammar but for a leading `+` or point; None if it is none."""
    plain = text.strip().removeprefix("+")
    sign = "-" if plain.startswith("-.") else ""
    digits = plain.removeprefix(sign)
    return read_number(f"{sign}0{digits}" if digits.startswith(".") else plain)
