"""Operators of jsonpath-ng made to count their calls and results.

An operator finds by calling `find` of the operators it is made of. So a path is bounded once all of them count, if none
can do much within one call.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from jsonpath_ng import DatumInContext, JSONPath

from service.primitives.jsonpath.run import Run

RUN: ContextVar[Run] = ContextVar("RUN")
"""The evaluation for which operators count; a parsed path is shared by all."""

Find = Callable[[Any], list[DatumInContext]]

_CHARACTERS_PER_STEP = 32


def counted(find: Find, price: int = 1) -> Find:
    """The same, at a step for each result and for the price at least."""

    def find_counted(datum: Any) -> list[DatumInContext]:
        found = find(datum)
        # The library gives a bare datum in some places.
        matches = found if isinstance(found, list) else [found]
        RUN.get().spend(max(price, len(matches)))
        return matches

    return find_counted


def weighed(find: Find) -> Find:
    """The same, at a step for each value within a result and for 32 characters of a text."""

    def find_weighed(datum: Any) -> list[DatumInContext]:
        matches = find(datum)
        for match in matches:
            RUN.get().spend(sum(map(_weight, values(match.value))))
        return matches

    return find_weighed


def _weight(value: Any) -> int:
    return 1 + len(value) // _CHARACTERS_PER_STEP if isinstance(value, str) else 1


def values(document: Any) -> Iterator[Any]:
    """A value and all below it."""
    pending = [document]
    while pending:
        value = pending.pop()
        yield value
        if isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def kind(operator: JSONPath) -> str:
    """The name of an operator, which some versions of the library write with an underscore in front."""
    return type(operator).__name__.lstrip("_")


def operators(tree: JSONPath) -> Iterator[JSONPath]:
    """An operator and all that it is made of."""
    pending = [tree]
    while pending:
        operator = pending.pop()
        yield operator
        pending.extend(parts(operator))


def parts(operator: JSONPath) -> list[JSONPath]:
    """The operators that an operator holds, as attributes or in lists and pairs."""
    found = []
    pending = [*vars(operator).values()]
    while pending:
        value = pending.pop()
        if isinstance(value, JSONPath):
            found.append(value)
        elif isinstance(value, list | tuple):
            pending.extend(value)
    return found
