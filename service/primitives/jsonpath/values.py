"""JSON values as RFC 9535 measures and compares them: true is not 1, 1.0 is 1, and integers are exact."""

from typing import Any, Final

from service.primitives.jsonpath.run import Run

NOTHING: Final = object()
"""What stands for the value of a query that selects no node, or of a function that has no result."""

CONTAINERS: Final = (dict, list)

_CHARACTERS_PER_STEP = 1024


def length(value: Any) -> Any:
    """The code points of a text, the elements of an array or the members of an object, else NOTHING (2.4.4)."""
    return len(value) if isinstance(value, (dict, list, str)) else NOTHING


def equal(left: Any, right: Any, run: Run) -> bool:
    """Whether both are the same JSON value, or both NOTHING (2.3.5.2.2)."""
    if not isinstance(left, CONTAINERS):
        return _equal_scalars(left, right, run)
    pairs = [(left, right)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            run.spend(len(left))
            if left.keys() != right.keys():
                return False
            pairs.extend((member, right[name]) for name, member in left.items())
        elif isinstance(left, list) and isinstance(right, list):
            run.spend(len(left))
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif not _equal_scalars(left, right, run):
            return False
    return True


def _equal_scalars(left: Any, right: Any, run: Run) -> bool:
    if isinstance(left, str):
        run.spend(len(left) // _CHARACTERS_PER_STEP)
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def less(left: Any, right: Any, run: Run) -> bool:
    """Whether both are numbers or both texts (by code points) and the left one is lower; nothing else has an order."""
    if isinstance(left, str) and isinstance(right, str):
        run.spend(len(left) // _CHARACTERS_PER_STEP)
        return left < right
    return _is_number(left) and _is_number(right) and bool(left < right)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
