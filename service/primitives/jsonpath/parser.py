"""The grammar of paths: RFC 9535 section 2, and what the dialect jayway adds to it."""

import re
from typing import Literal

from service.primitives.jsonpath import advice, literals
from service.primitives.jsonpath.filter_parser import FilterParser
from service.primitives.jsonpath.scanner import BLANKS, Scanner, spaced
from service.primitives.jsonpath.syntax import (
    Children,
    Descent,
    Filter,
    Index,
    Length,
    Name,
    Query,
    Scope,
    Segment,
    Selector,
    Slice,
    Wildcard,
)

_FIRST = r"A-Za-z_\x80-\ud7ff\ue000-\U0010ffff"
_DOTS = re.compile(rf"{BLANKS}(\.\.?)(?:(\*)|([{_FIRST}][{_FIRST}0-9]*))?")
_DOTS_JAYWAY = re.compile(rf"{BLANKS}(\.\.?)(?:(\*)|([{_FIRST}][{_FIRST}0-9-]*))?")
_OPENING = spaced(r"\[")
_CLOSING = re.compile(rf"{BLANKS}\]")
_COMMA = spaced(",")
_COLON = spaced(":")
_QUESTION = spaced(r"\?")

_NEXT_SEGMENT = "'.', '..', '[' or the end"


def parse(path: str, dialect: Literal["jayway", "rfc9535"]) -> Query:
    """The parts of a path. Raises RuleFault invalid_path, which says where the path is at fault and how to mend it."""
    return _PathParser(Scanner(path), jayway=dialect == "jayway").path()


class _PathParser:
    def __init__(self, scan: Scanner, *, jayway: bool) -> None:
        self._scan = scan
        self._jayway = jayway
        self._dots = _DOTS_JAYWAY if jayway else _DOTS
        self._filters = FilterParser(scan, self._query, jayway=jayway)

    def path(self) -> Query:
        scan = self._scan
        if self._jayway:
            scan.skip_blanks()
        if not scan.sees("$"):
            raise scan.fault("'$'", advice.ROOT)
        query = self._query()
        if self._jayway:
            scan.skip_blanks()
        if scan.position < len(scan.text):
            raise scan.fault(_NEXT_SEGMENT, advice.END)
        return query

    def _query(self) -> Query:
        """A path from the `$` or `@` that comes next."""
        scan = self._scan
        absolute = scan.sees("$")
        scan.position += 1
        segments: list[Segment] = []
        while True:
            if dots := scan.take(self._dots):
                segments += self._dotted(*dots.groups())
            elif scan.take(_OPENING):
                segments.append(self._bracketed("self"))
            else:
                return Query(absolute, tuple(segments))

    def _dotted(self, dots: str, star: str | None, name: str | None) -> list[Segment]:
        scan = self._scan
        descent: list[Segment] = [Descent()] if dots == ".." else []
        if name and scan.sees("("):
            return [self._method(name, is_child=not descent)]
        if name or star:
            return [*descent, Children((Name(name) if name else Wildcard(),))]
        if descent and scan.sees("[") and scan.take(_OPENING):
            return [*descent, self._bracketed("self_once")]
        raise scan.fault("a name, '*' or '['" if descent else "a name or '*'", advice.NAME)

    def _method(self, name: str, *, is_child: bool) -> Children:
        if self._jayway and is_child and name == "length" and self._scan.accept("()"):
            return Children((Length(),))
        raise self._scan.fault(_NEXT_SEGMENT, advice.METHOD)

    def _bracketed(self, object_scope: Scope) -> Children:
        """The selectors after the bracket that has been read, and the bracket at their end."""
        scan = self._scan
        scope = object_scope if self._jayway else "members"
        selectors = [self._selector(scope)]
        while scan.take(_COMMA):
            selectors.append(self._selector(scope))
        if not scan.take(_CLOSING):
            scan.skip_blanks()
            raise scan.fault("',' or ']'", advice.AFTER_SELECTOR)
        return Children(tuple(selectors))

    def _selector(self, scope: Scope) -> Selector:
        scan = self._scan
        if scan.accept("*"):
            return Wildcard()
        if scan.take(_QUESTION):
            with scan.nested():
                return Filter(self._filters.test(), scope)
        name = literals.text(scan)
        return self._index_or_slice() if name is None else Name(name)

    def _index_or_slice(self) -> Index | Slice:
        scan = self._scan
        start = literals.index(scan)
        if scan.take(_COLON):
            stop = literals.index(scan)
            return Slice(start, stop, literals.index(scan) if scan.take(_COLON) else None)
        if start is None:
            raise scan.fault("a quoted name, a number, '*', ':' or a filter", advice.SELECTOR)
        return Index(start)
