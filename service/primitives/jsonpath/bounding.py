"""Paths of jsonpath-ng made safe to run: all operators count, and what could do much within one call is changed."""

import math
import re
import sys
from collections.abc import Callable
from functools import partial
from operator import mul
from typing import Any

import regex
from jsonpath_ng import DatumInContext, JSONPath, Root

from service.primitives import RuleFault
from service.primitives.jsonpath.metering import RUN, counted, kind, operators, parts, weighed
from service.primitives.patterns import BACKTRACKING_SECONDS, MAX_BACKTRACKING_CHARS, Pattern, compile_pattern

MAX_DEPTH = 100
"""Operators inside one another; every segment is one, since the library nests them to the left."""

MAX_REPLACED_CHARS = 1_000_000
"""The length, estimated from above, that `sub` may give a text."""


def bound(operator: Any, depth: int = 1) -> None:
    """Make an operator and all that it is made of count for RUN.

    Raises RuleFault invalid_path for what cannot be bounded, such as a pattern that RE2 does not take.
    """
    if depth > MAX_DEPTH:
        raise RuleFault("invalid_path", f"The path has over {MAX_DEPTH} segments or operators; shorten it.")
    for part in parts(operator):
        bound(part, depth + 1)
    name = kind(operator)
    if change := _CHANGES.get(name):
        change(operator)
    # A filter looks through all that it is made of at every call.
    operator.find = counted(operator.find, sum(1 for _ in operators(operator)) if name == "Filter" else 1)
    if name in _MAKERS:
        operator.find = weighed(operator.find)


def _root(operator: Any) -> None:
    """The library goes up by recursion."""

    def find(datum: Any) -> list[DatumInContext]:
        datum = DatumInContext.wrap(datum)
        while datum.context is not None:
            RUN.get().spend(1)
            datum = datum.context
        return [DatumInContext(datum.value, path=Root())]

    operator.find = find


def _expression(operator: Any) -> None:
    if isinstance(operator.value, JSONPath):
        operator.target.find = weighed(operator.target.find)
    if operator.op == "=~":
        operator.find = _matching(operator.target, _linear_pattern(operator.value))


def _matching(target: JSONPath, pattern: Pattern) -> Callable[[Any], list[DatumInContext]]:
    def matches(text: Any) -> bool:
        return isinstance(text, str) and RUN.get().timed(lambda: pattern.find(text) is not None)

    return lambda datum: [match for match in target.find(DatumInContext.wrap(datum)) if matches(match.value)]


def _linear_pattern(text: Any) -> Pattern:
    if not isinstance(text, str):
        raise RuleFault("invalid_path", "The pattern on the right of =~ must be a text in quotes.")
    try:
        pattern = compile_pattern(text)
    except RuleFault as fault:
        raise RuleFault("invalid_path", f"The path has a pattern that is at fault. {fault.detail}") from None
    if pattern.engine_for("") != "re2":
        raise RuleFault("invalid_path", f"The path has a pattern that RE2 does not take: {text[:100]!r}. Rewrite it.")
    return pattern


def _substitution(operator: Any) -> None:
    _linear_pattern(operator.expr)
    try:
        operator.regex.sub(operator.repl, "")
    except (re.error, IndexError) as error:
        raise RuleFault("invalid_path", f"The replacement of sub() is at fault: {error}.") from None
    pattern = regex.compile(operator.expr, regex.VERSION0, cache_pattern=False)

    def find(datum: Any) -> list[DatumInContext]:
        text = DatumInContext.wrap(datum).value
        replaced = _replaced(pattern, operator.repl, text) if isinstance(text, str) else text
        return [] if replaced == text else [DatumInContext(replaced)]

    operator.find = find


def _replaced(pattern: "regex.Pattern[str]", replacement: str, text: str) -> str:
    if len(text) > MAX_BACKTRACKING_CHARS or len(replacement) * len(text) > MAX_REPLACED_CHARS:
        raise RuleFault(
            "path_too_costly", f"The path uses sub() on a text of {len(text):,} characters; shorten the text."
        )
    try:
        return RUN.get().timed(lambda: pattern.sub(replacement, text, timeout=BACKTRACKING_SECONDS))
    except TimeoutError:
        raise RuleFault(
            "regex_timeout", f"sub() took over {BACKTRACKING_SECONDS * 1000:.0f} ms on a text; simplify its pattern."
        ) from None


def _arithmetic(operator: Any) -> None:
    operator.op = partial(_calculated, operator.op)


def _calculated(calculate: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """A number, or two texts or lists joined; at a TypeError the library selects nothing."""
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        if calculate is mul:
            raise RuleFault("invalid_path", "The path multiplies something that is not a number on this document.")
        return calculate(left, right)
    try:
        result = calculate(left, right)
    except ArithmeticError:
        result = math.inf
    if not abs(result) <= sys.float_info.max:
        raise RuleFault("non_finite", "The path calculates a number beyond the range of a double on this document.")
    return result


def _refuse(_operator: Any) -> None:
    raise RuleFault("invalid_path", "jsonpath-ng reads '&' between paths but cannot evaluate it; leave it out.")


_CHANGES: dict[str, Callable[[Any], None]] = {
    "Expression": _expression,
    "Intersect": _refuse,
    "Operation": _arithmetic,
    "Root": _root,
    "Sub": _substitution,
}
_MAKERS = {"Operation", "SortedThis", "Split", "Str", "Sub"}
