"""When two JSON values are equal, and where they first differ."""

from collections.abc import Callable
from typing import Any, NamedTuple

from service.primitives.jsontext import NotJson, decode, pointer, render

ABSENT = "(absent)"


class Difference(NamedTuple):
    """A place, as JSON Pointer, and what stands there on either side, as JSON text or `(absent)`."""

    pointer: str
    one: str
    other: str


def equal(one: Any, other: Any) -> bool:
    """JSON equality: key order never matters, 1 is 1.0 at any size, and true is not 1."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict) and one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def equal_as_values(output: Any, expected: Any, *, texts_equal: Callable[[str, str], bool]) -> bool:
    """Equality across kinds.

    Texts by `texts_equal`, a number and a text by the number's JSON text, a container and a text by parsing the text. A
    boolean or null never equals a text; all else is JSON equality.
    """
    if isinstance(output, str) == isinstance(expected, str):
        return texts_equal(output, expected) if isinstance(output, str) else equal(output, expected)
    text, value = (output, expected) if isinstance(output, str) else (expected, output)
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return texts_equal(render(value), text)
    try:
        return equal(decode(text), value)
    except NotJson:
        return False


def first_difference(one: Any, other: Any) -> Difference | None:
    """The first place where two values differ, in the order of the first one's keys; None if they are equal."""
    found = _first_difference(one, other)
    return Difference(pointer(found[0]), found[1], found[2]) if found else None


def _first_difference(one: Any, other: Any) -> tuple[list[str | int], str, str] | None:
    if isinstance(one, dict) and isinstance(other, dict):
        keys: list[Any] = [*one, *(key for key in other if key not in one)]
        return _first_inside(keys, lambda side, key: key in side, one, other)
    if isinstance(one, list) and isinstance(other, list):
        return _first_inside(list(range(max(len(one), len(other)))), lambda side, index: index < len(side), one, other)
    return None if equal(one, other) else ([], render(one), render(other))


def _first_inside(
    steps: list[Any], has: Callable[[Any, Any], bool], one: Any, other: Any
) -> tuple[list[str | int], str, str] | None:
    for step in steps:
        if not (has(one, step) and has(other, step)):
            return [step], *(render(side[step]) if has(side, step) else ABSENT for side in (one, other))  # type: ignore[return-value]
        found = _first_difference(one[step], other[step])
        if found:
            return [step, *found[0]], found[1], found[2]
    return None
