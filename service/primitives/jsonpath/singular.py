"""Segments that pick one node at most, followed without building lists."""

from collections.abc import Callable, Iterable
from typing import Any

from service.primitives.jsonpath.syntax import Children, Index, Name, Segment, Selector
from service.primitives.jsonpath.values import NOTHING, length

Follow = Callable[[Any], Any]
"""From a value to the one that is picked below it, or NOTHING."""


def compile_singular(segments: Iterable[Segment]) -> Follow:
    """From a node to the one that singular segments lead to, or NOTHING."""
    path = [selector for segment in segments if isinstance(segment, Children) for selector in segment.selectors]
    names = [selector.name for selector in path if isinstance(selector, Name)]
    return _follow_names(names) if len(names) == len(path) else _follow_each([_follow(selector) for selector in path])


def has_element(array: list[Any], index: int) -> bool:
    """Whether an index, from the start or from the end, is within the array."""
    return -len(array) <= index < len(array)


def _follow_names(names: list[str]) -> Follow:
    # Nearly all singular queries are names only, and one loop takes half the time of a closure for each.
    def follow(value: Any) -> Any:
        for name in names:
            if not isinstance(value, dict):
                return NOTHING
            value = value.get(name, NOTHING)
        return value

    return follow


def _follow_each(path: list[Follow]) -> Follow:
    def follow(value: Any) -> Any:
        for follow_one in path:
            value = follow_one(value)
        return value

    return follow


def _follow(selector: Selector) -> Follow:
    match selector:
        case Name(name):
            return _follow_names([name])
        case Index(index):
            return lambda value: value[index] if isinstance(value, list) and has_element(value, index) else NOTHING
        case _:
            return length
