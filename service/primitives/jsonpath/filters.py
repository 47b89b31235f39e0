"""Tests of filters compiled to predicates on the current node."""

from collections.abc import Callable
from typing import Any

from service.primitives.jsonpath.functions import FUNCTIONS
from service.primitives.jsonpath.run import Run
from service.primitives.jsonpath.singular import compile_singular
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
    Query,
    Some,
    Test,
)
from service.primitives.jsonpath.values import NOTHING, equal, less
from service.primitives.patterns import Pattern

Predicate = Callable[[Any, Run], bool]
Evaluate = Callable[[Any, Run], Any]
CompileQuery = Callable[[Query], Callable[[Any, Run], list[Any]]]

_COMPARE: dict[str, Callable[[Any, Any, Run], bool]] = {
    "==": equal,
    "!=": lambda left, right, run: not equal(left, right, run),
    "<": less,
    ">": lambda left, right, run: less(right, left, run),
    "<=": lambda left, right, run: less(left, right, run) or equal(left, right, run),
    ">=": lambda left, right, run: less(right, left, run) or equal(left, right, run),
}


def compile_test(test: Test, compile_query: CompileQuery) -> Predicate:
    """Whether the current node passes. The caller takes the `cost` of the test from the run."""
    match test:
        case Comparison("==", other, Constant(str(text))) | Comparison("==", Constant(str(text)), other):
            return _is_text(_operand(other, compile_query), text)
        case Comparison(operator, left, right):
            return _comparison(_operand(left, compile_query), _COMPARE[operator], _operand(right, compile_query))
        case Matches(text, pattern):
            return _matches(_operand(text, compile_query), pattern)
        case Exists(query):
            return _exists(query, compile_query)
        case Holds(call):
            return _call(call, compile_query)
        case Not(inner):
            passes = compile_test(inner, compile_query)
            return lambda node, run: not passes(node, run)
        case Every(tests):
            return _every([compile_test(inner, compile_query) for inner in tests])
        case Some(tests):
            return _some([compile_test(inner, compile_query) for inner in tests])


def cost(part: Test | Operand) -> int:
    """The steps that evaluating a test takes at most, but for those that its queries of many nodes take themselves."""
    match part:
        case Constant():
            return 0
        case Query(_, segments):
            return 1 + len(segments)
        case Call(_, parts) | Every(parts) | Some(parts):
            return 1 + sum(map(cost, parts))
        case Comparison(_, left, right):
            return 1 + cost(left) + cost(right)
        case Matches(inner) | Exists(inner) | Holds(inner) | Not(inner):
            return 1 + cost(inner)


def _is_text(operand: Evaluate, text: str) -> Predicate:
    return lambda node, run: bool(operand(node, run) == text)


def _comparison(left: Evaluate, compare: Callable[[Any, Any, Run], bool], right: Evaluate) -> Predicate:
    return lambda node, run: compare(left(node, run), right(node, run), run)


def _matches(operand: Evaluate, pattern: Pattern) -> Predicate:
    def predicate(node: Any, run: Run) -> bool:
        text = operand(node, run)
        return isinstance(text, str) and run.timed(lambda: pattern.find(text, whole=True) is not None)

    return predicate


def _exists(query: Query, compile_query: CompileQuery) -> Predicate:
    if query.singular:
        follow = _operand(query, compile_query)
        return lambda node, run: follow(node, run) is not NOTHING
    find = compile_query(query)
    return lambda node, run: bool(find(node, run))


def _every(tests: list[Predicate]) -> Predicate:
    return lambda node, run: all(passes(node, run) for passes in tests)


def _some(tests: list[Predicate]) -> Predicate:
    return lambda node, run: any(passes(node, run) for passes in tests)


def _operand(operand: Operand, compile_query: CompileQuery) -> Evaluate:
    match operand:
        case Constant(value):
            return lambda _node, _run: value
        case Query(absolute, segments):
            follow = compile_singular(segments)
            return (lambda _node, run: follow(run.root)) if absolute else (lambda node, _run: follow(node))
        case Call():
            return _call(operand, compile_query)


def _call(call: Call, compile_query: CompileQuery) -> Evaluate:
    function = FUNCTIONS[call.function]
    arguments = [
        compile_query(argument)
        if kind == "nodes" and isinstance(argument, Query)
        else _operand(argument, compile_query)
        for kind, argument in zip(function.parameters, call.arguments, strict=True)
    ]
    return lambda node, run: function.call(run, *[argument(node, run) for argument in arguments])
