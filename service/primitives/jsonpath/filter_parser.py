"""The grammar of filters: RFC 9535 section 2.3.5, and `=~` of the dialect jayway."""

import re
from collections.abc import Callable
from typing import cast

from service.primitives import RuleFault
from service.primitives.jsonpath import advice, literals
from service.primitives.jsonpath.functions import FUNCTIONS
from service.primitives.jsonpath.scanner import BLANKS, Scanner, spaced
from service.primitives.jsonpath.syntax import (
    Call,
    Comparison,
    Constant,
    Every,
    Exists,
    Holds,
    Matches,
    Not,
    Operand,
    Operator,
    Query,
    Some,
    Test,
)
from service.primitives.patterns import compile_pattern

_AND = spaced("&&")
_OR = spaced(r"\|\|")
_COMMA = spaced(",")
_COMPARISON = spaced("[=!<>]=|[<>]")
_MATCHES = spaced("=~")
_OPENING = spaced(r"\(")
_CLOSING = re.compile(rf"{BLANKS}\)")
_KEYWORD = re.compile(r"(?:true|false|null)\b")
_KEYWORDS = {"true": True, "false": False, "null": None}
_FUNCTION = re.compile(rf"({'|'.join(FUNCTIONS)})\({BLANKS}")


class FilterParser:
    """Reads the test of a filter; `query` reads the path that starts at the `$` or `@` that comes next."""

    def __init__(self, scan: Scanner, query: Callable[[], Query], *, jayway: bool) -> None:
        self._scan = scan
        self._query = query
        self._jayway = jayway

    def test(self) -> Test:
        """The test that comes next. Raises RuleFault if it is malformed or not well-typed."""
        tests = self._joined(self._conjunction, _OR)
        return tests[0] if len(tests) == 1 else Some(tests)

    def _conjunction(self) -> Test:
        tests = self._joined(self._basic, _AND)
        return tests[0] if len(tests) == 1 else Every(tests)

    def _joined(self, part: Callable[[], Test], mark: re.Pattern[str]) -> tuple[Test, ...]:
        tests = [part()]
        while self._scan.take(mark):
            tests.append(part())
        return tuple(tests)

    def _basic(self) -> Test:
        scan = self._scan
        if scan.accept("!"):
            scan.skip_blanks()
            return Not(self._parenthesised() if scan.sees("(") else self._uncompared(self._operand()))
        if scan.sees("("):
            return self._parenthesised()
        start = scan.position
        left = self._operand()
        if operator := scan.take(_COMPARISON):
            self._require_value(left, start)
            return self._comparison(left, cast(Operator, operator[1]))
        if self._jayway and scan.take(_MATCHES):
            self._require_value(left, start)
            return self._matches(left)
        return self._uncompared(left)

    def _parenthesised(self) -> Test:
        scan = self._scan
        with scan.nested():
            scan.take(_OPENING)
            test = self.test()
            if not scan.take(_CLOSING):
                scan.skip_blanks()
                raise scan.fault("'&&', '||' or ')'", advice.IN_PARENTHESES)
            return test

    def _comparison(self, left: Operand, operator: Operator) -> Comparison:
        start = self._scan.position
        right = self._operand()
        self._require_value(right, start)
        return Comparison(operator, left, right)

    def _matches(self, text: Operand) -> Matches:
        start = self._scan.position
        regex = literals.regex(self._scan)
        if regex is None:
            raise self._scan.fault("/pattern/ or a pattern in quotes")
        try:
            return Matches(text, compile_pattern(*regex))
        except RuleFault as fault:
            raise self._scan.fault("a regular expression", fault.detail, at=start) from None

    def _uncompared(self, operand: Operand) -> Test:
        """A test that is a path or a call and no comparison."""
        if isinstance(operand, Query):
            return Exists(operand)
        if isinstance(operand, Call) and FUNCTIONS[operand.function].result == "logical":
            return Holds(operand)
        self._scan.skip_blanks()
        raise self._scan.fault("a comparison", advice.UNCOMPARED)

    def _operand(self) -> Operand:
        scan = self._scan
        if scan.sees("@") or scan.sees("$"):
            return self._query()
        if (text := literals.text(scan)) is not None:
            return Constant(text)
        if (number := literals.number(scan)) is not None:
            return Constant(number)
        if keyword := scan.take(_KEYWORD):
            return Constant(_KEYWORDS[keyword[0]])
        if function := scan.take(_FUNCTION):
            with scan.nested():
                return self._call(function[1])
        raise scan.fault("a path, a value, a function, '!' or '('", advice.OPERAND)

    def _call(self, name: str) -> Call:
        """The arguments that come next and the parenthesis at their end."""
        scan = self._scan
        arguments: list[Operand] = []
        for kind in FUNCTIONS[name].parameters:
            if arguments and not scan.take(_COMMA):
                raise scan.fault(f"',' and one more argument of {name}()")
            arguments.append(self._argument(kind))
        if not scan.take(_CLOSING):
            raise scan.fault(f"')' after the arguments of {name}()")
        return Call(name, tuple(arguments))

    def _argument(self, kind: str) -> Operand:
        start = self._scan.position
        argument = self._operand()
        if kind == "value":
            self._require_value(argument, start)
        elif not isinstance(argument, Query):
            raise self._scan.fault("a path that starts with '@' or '$'", at=start)
        return argument

    def _require_value(self, operand: Operand, start: int) -> None:
        if isinstance(operand, Query) and not operand.singular:
            raise self._scan.fault("a path to one value", advice.MANY_NODES, at=start)
        if isinstance(operand, Call) and FUNCTIONS[operand.function].result != "value":
            raise self._scan.fault("a value", advice.LOGICAL_CALL, at=start)
