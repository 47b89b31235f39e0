"""Whether an object has the keys, and the kinds of values, that are asked for."""

from collections.abc import Callable, Iterator
from typing import Any

from service.primitives import RuleFault
from service.primitives.jsontext import dotted
from service.primitives.numbers import is_number
from service.primitives.pointer import nearest

TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
    "any": lambda value: True,  # noqa: ARG005
}

Steps = tuple[str | int, ...]


def check_keys(keys: dict[str, Any], steps: Steps = ()) -> None:
    """Raise RuleFault invalid_params if a key is given anything but the name of a type or nested keys."""
    for key, wanted in keys.items():
        place = (*steps, key)
        if isinstance(wanted, dict):
            check_keys(wanted, place)
        elif not isinstance(wanted, str) or wanted not in TYPES:
            hint = nearest(wanted, TYPES) if isinstance(wanted, str) else ""
            known = ", ".join(TYPES)
            raise RuleFault("invalid_params", f"keys: {dotted(place)} names no type{hint or f': known are {known}'}")


def shape_faults(value: Any, keys: dict[str, Any], check: str) -> list[str]:
    """A sentence for each key that is missing or, where `check` is `types`, of another type. Other keys are fine."""
    return list(_faults(value, keys, check == "types", ()))


def _faults(value: Any, keys: dict[str, Any], types: bool, steps: Steps) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{dotted(steps)} is {_kind(value)}, not an object"
        return
    for key, wanted in keys.items():
        place = (*steps, key)
        if key not in value:
            yield f"{dotted(place)} is missing"
        elif isinstance(wanted, dict):
            yield from _faults(value[key], wanted, types, place)
        elif types and not TYPES[wanted](value[key]):
            yield f"{dotted(place)} is {_kind(value[key])}, not {wanted}"


def _kind(value: Any) -> str:
    return next(name for name in ("null", "boolean", "number", "string", "array", "object") if TYPES[name](value))
