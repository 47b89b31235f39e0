"""Tables of settings as the structs they were meant to be, or what keeps them from it."""

import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, structs

from service.primitives.pointer import nearest
from service.primitives.text import cut

Table = TypeVar("Table", bound=Struct)

WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "array": "a list",
    "tuple": "a list",
    "object": "a table",
    "dict": "a table",
}


class Misfit(ValueError):
    """Names the key that is wrong, and says what it wants or what was probably meant.

    Repeats a text only where it had to be one of a few.
    """


def fitted(table: Mapping[str, Any], kind: type[Table], hints: Mapping[str, str] | None = None) -> Table:
    """A table as a struct, no type taken for another. Misfit names the first key that is wrong.

    `hints` says of keys that are missing, or that one may look for in vain, what is wanted in place of them.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as exc:
        raise Misfit(_struct_misfit(table, kind, "", hints or {}) or _without_place(exc)) from None


def from_text(text: str | list[str], kind: Any) -> Any:
    """A text, or the texts of a list, as the value that is meant. Misfit says what is wanted."""
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as exc:
        raise Misfit(_wanted(text, kind, exc)) from None


def fields_of(kind: type[Struct]) -> dict[str, Any]:
    """The type of each field, its bounds included."""
    return get_type_hints(kind, include_extras=True)


def is_table(kind: Any) -> bool:
    """Whether a type is a struct."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def takes_list(kind: Any) -> bool:
    """Whether a type is a tuple, or None in place of one."""
    return get_origin(_bare(kind)) is tuple


def _struct_misfit(table: Mapping[str, Any], kind: type[Struct], place: str, hints: Mapping[str, str]) -> str | None:
    fields = fields_of(kind)
    for name, value in table.items():
        if name not in fields:
            known = hints.get(name) or nearest(name, fields).lstrip(": ") or f"known are {', '.join(fields)}"
            return f"{place}{cut(name, 60)}: there is no such key; {known}"
        if found := _misfit(value, fields[name], f"{place}{name}"):
            return found
    missing = [field.name for field in structs.fields(kind) if field.required and field.name not in table]
    for name in missing:
        return f"{place}{name} is missing; {hints.get(name) or f'{_described(fields[name])} is wanted'}"
    return None


def _misfit(value: Any, kind: Any, place: str) -> str | None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as exc:
        inner = _inner_misfit(value, _bare(kind), place)
        return inner or f"{place}: {_wanted(value, kind, exc)}{_in_place_of(exc, kind)}"
    return None


def _inner_misfit(value: Any, kind: Any, place: str) -> str | None:
    """What is wrong within a table or a list; None where it is neither, or wrong as a whole."""
    origin = get_origin(kind)
    if isinstance(value, Mapping) and is_table(kind):
        return _struct_misfit(value, kind, f"{place}.", {})
    if isinstance(value, Mapping) and origin in (dict, Mapping):
        found = (_misfit(one, get_args(kind)[1], f"{place}.{name}") for name, one in value.items())
    elif isinstance(value, list) and origin is tuple:
        found = (_misfit(one, get_args(kind)[0], f"{place}[{index}]") for index, one in enumerate(value))
    else:
        return None
    return next(filter(None, found), None)


def _bare(kind: Any) -> Any:
    """A type without its bounds and without None."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return next(_bare(member) for member in get_args(kind) if member is not NoneType)
    return kind


def _wanted(value: Any, kind: Any, refusal: msgspec.ValidationError) -> str:
    """What a type wants in place of a value."""
    choices = _choices(kind)
    if choices and isinstance(value, str):
        return f"{cut(value, 60)!r} is none of {_listed(choices)}{nearest(value, choices)}"
    expected = _without_place(refusal).removeprefix("Expected ").replace(" | null", "").partition(", got ")[0]
    return f"{_described(kind) if choices else _in_words(expected)} is wanted"


def _in_place_of(refusal: msgspec.ValidationError, kind: Any) -> str:
    got = _without_place(refusal).partition(", got ")[2]
    return f", not {_in_words(got)}" if got and not _choices(kind) else ""


def _described(kind: Any) -> str:
    choices = _choices(kind)
    return f"one of {_listed(choices)}" if choices else WORDS[_bare(kind).__name__]


def _choices(kind: Any) -> tuple[str, ...]:
    """The texts that a type takes, none where it takes any."""
    bare = _bare(kind)
    return get_args(bare) if get_origin(bare) is Literal else ()


def _listed(choices: tuple[str, ...]) -> str:
    return ", ".join(map(repr, choices))


def _in_words(names: str) -> str:
    return re.sub(r"`(\w+)`", lambda quoted: WORDS.get(quoted[1], quoted[1]), names)


def _without_place(refusal: msgspec.ValidationError) -> str:
    return str(refusal).split(" - at ", 1)[0]
