"""Selectors compiled to closures: from a node to the keys and values of the nodes that are picked."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from service.primitives.jsonpath.filters import CompileQuery, Predicate, compile_test, cost
from service.primitives.jsonpath.run import Run
from service.primitives.jsonpath.singular import has_element
from service.primitives.jsonpath.syntax import Filter, Index, Length, Name, Scope, Selector, Slice
from service.primitives.jsonpath.values import CONTAINERS, NOTHING, length

Key = Any
"""The name of a member, the index of an element from the start, ITSELF or LENGTH."""

ITSELF: Final = object()
"""The key of an object that passed a filter of its own: its location stays what it was."""

LENGTH: Final = object()
"""The key of the length of a node."""

Pairs = Iterable[tuple[Key, Any]]

Select = Callable[[Any, Run], Pairs]
"""Takes one step of the run, and one more for each child it looks at, before it looks."""


def compile_selector(selector: Selector, compile_query: CompileQuery) -> Select:
    """What the selector picks; `compile_query` compiles the queries in filters."""
    match selector:
        case Name(name):
            return _member(name)
        case Index(index):
            return _element(index)
        case Slice(start, stop, step):
            return _elements(slice(start, stop, step))
        case Filter(test, scope):
            return _filter(compile_test(test, compile_query), 1 + cost(test), scope)
        case Length():
            return _length
        case _:
            return _children


def _children(value: Any, run: Run, price: int = 1) -> Pairs:
    """The keys and values of an object or array, for a step and the price of each child."""
    if not isinstance(value, CONTAINERS):
        run.spend(1)
        return ()
    run.spend(1 + price * len(value))
    return value.items() if isinstance(value, dict) else enumerate(value)


def _member(name: str) -> Select:
    def select(value: Any, run: Run) -> Pairs:
        run.spend(1)
        return ((name, value[name]),) if isinstance(value, dict) and name in value else ()

    return select


def _element(index: int) -> Select:
    def select(value: Any, run: Run) -> Pairs:
        run.spend(1)
        if isinstance(value, list) and has_element(value, index):
            return ((index % len(value), value[index]),)
        return ()

    return select


def _elements(span: slice) -> Select:
    def select(value: Any, run: Run) -> Pairs:
        indices = range(len(value))[span] if isinstance(value, list) and span.step != 0 else range(0)
        run.spend(1 + len(indices))
        return zip(indices, value[span], strict=True) if indices else ()

    return select


def _length(value: Any, run: Run) -> Pairs:
    run.spend(1)
    measured = length(value)
    return () if measured is NOTHING else ((LENGTH, measured),)


def _filter(passes: Predicate, price: int, scope: Scope) -> Select:
    if scope == "members":
        return _filter_children(passes, price)
    if scope == "self":
        return _filter_itself(passes, price, _filter_children(passes, price))
    return _filter_itself(
        passes, price, _filter_children(lambda node, run: not isinstance(node, dict) and passes(node, run), price)
    )


def _filter_children(passes: Predicate, price: int) -> Select:
    return lambda value, run: [(key, child) for key, child in _children(value, run, price) if passes(child, run)]


def _filter_itself(passes: Predicate, price: int, filter_array: Select) -> Select:
    def select(value: Any, run: Run) -> Pairs:
        if not isinstance(value, dict):
            return filter_array(value, run)
        run.spend(price)
        return ((ITSELF, value),) if passes(value, run) else ()

    return select
