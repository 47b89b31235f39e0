"""Every fault of a body, found by walking it beside its type. Runs only after a strict decode has failed."""

import re
import types
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct, structs

from service.core.errors import MAX_FAULTS, Fault
from service.primitives.jsontext import render
from service.primitives.pointer import join, nearest
from service.primitives.text import cut


def explain(value: Any, kind: Any) -> list[Fault]:
    """At most 100 faults of a decoded value that does not fit a type, each with its JSON Pointer."""
    return list(islice(_faults(value, kind, ""), MAX_FAULTS))


def _faults(value: Any, kind: Any, pointer: str) -> Iterator[Fault]:
    own = _refusal(value, kind)
    if own is None:
        return
    inner = _meant(value, _bare(kind))
    found = False
    for fault in _inner_faults(value, inner, pointer):
        found = True
        yield fault
    if not found:
        yield _leaf(value, kind, pointer, own)


def _refusal(value: Any, kind: Any) -> str | None:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as exc:
        return str(exc).split(" - at ", 1)[0]
    return None


def _inner_faults(value: Any, kind: Any, pointer: str) -> Iterator[Fault]:
    origin = get_origin(kind)
    if isinstance(value, dict):
        if _is_struct(kind):
            yield from _struct_faults(value, kind, pointer)
        elif origin is dict:
            for key, one in value.items():
                yield from _faults(one, get_args(kind)[1], join(pointer, key))
    elif isinstance(value, list) and origin in (list, tuple):
        for index, one in enumerate(value):
            yield from _faults(one, get_args(kind)[0], join(pointer, index))


def _struct_faults(value: dict[str, Any], kind: type[Struct], pointer: str) -> Iterator[Fault]:
    hints = _hints(kind)
    config = kind.__struct_config__
    known = {one.encode_name: one for one in structs.fields(kind)}
    for name, one in known.items():
        if name in value:
            yield from _faults(value[name], hints[one.name], join(pointer, name))
        elif one.required:
            yield Fault(join(pointer, name), "missing_field", f"`{name}` is required")
    if config.forbid_unknown_fields:
        for name in [name for name in value if name not in known and name != config.tag_field]:
            hint = _deeper(name, kind) or nearest(name, known)
            detail = f"There is no field {cut(name, 100)!r} here{hint}"
            yield Fault(join(pointer, cut(name, 200)), "unknown_field", detail)


def _deeper(name: str, kind: type[Struct]) -> str:
    """A hint to end a sentence with: the field whose value, an object, has a field of this name; else nothing."""
    for field in structs.fields(kind):
        for one in filter(_is_struct, _members(_bare(_hints(kind)[field.name]))):
            if name in {inner.encode_name for inner in structs.fields(one)}:
                return f": `{name}` is a field of `{field.encode_name}`"
    return ""


_hints = cache(lambda kind: get_type_hints(kind, include_extras=True))


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _members(kind: Any) -> list[Any]:
    if get_origin(kind) in (Union, types.UnionType):
        return [one for member in get_args(kind) for one in _members(_bare(member))]
    return [kind]


def _meant(value: Any, kind: Any) -> Any:
    """The member of a union that a value was meant to be: by its tag, else by its shape."""
    members = _members(kind)
    if len(members) == 1:
        return kind
    if isinstance(value, dict):
        known = list(filter(_is_struct, members))
        for one in known:
            config = one.__struct_config__
            if config.tag is None or value.get(config.tag_field) == config.tag:
                return one
        return next((one for one in members if get_origin(one) is dict), None if known else kind)
    if isinstance(value, list):
        return next((one for one in members if get_origin(one) in (list, tuple)), kind)
    return kind


def _leaf(value: Any, kind: Any, pointer: str, refusal: str) -> Fault:
    tags = {str(one.__struct_config__.tag) for one in _members(_bare(kind)) if _is_tagged(one)}
    if tags and isinstance(value, dict):
        return _type_fault(value.get("type"), "type" in value, sorted(tags), pointer)
    choices = [text for one in _members(_bare(kind)) if get_origin(one) is Literal for text in get_args(one)]
    if choices and isinstance(value, str):
        listed = ", ".join(map(repr, choices))
        return Fault(pointer, "not_allowed", f"{cut(value, 100)!r} is none of {listed}{nearest(value, choices)}")
    hint = f': did you mean {{"type": "{value}"}}?' if isinstance(value, str) and value in _types(kind) else ""
    return Fault(pointer, _code(refusal), _told(refusal, value) + hint)


def _types(kind: Any) -> Iterator[str]:
    """The types that an object of this kind may have, where `type` says which."""
    for one in filter(_is_struct, _members(_bare(kind))):
        yield from [str(one.__struct_config__.tag)] if _is_tagged(one) else get_args(_bare(_hints(one).get("type")))


def _is_tagged(kind: Any) -> bool:
    return _is_struct(kind) and kind.__struct_config__.tag is not None


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _type_fault(name: Any, given: bool, tags: list[str], pointer: str) -> Fault:
    known = ", ".join(tags)
    if not given:
        return Fault(join(pointer, "type"), "missing_field", f"`type` is required: one of {known}")
    if not isinstance(name, str):
        return Fault(join(pointer, "type"), "wrong_type", f"`type` is a text: one of {known}")
    detail = f"There is no evaluator {cut(name, 100)!r}{nearest(name, tags) or f': known are {known}'}"
    return Fault(join(pointer, "type"), "unknown_type", detail)


_JSON_NAMES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


def _told(refusal: str, value: Any) -> str:
    """A refusal in the names of JSON Schema, with the value if it is a short one."""
    told = re.sub(
        r"`[^`]*`", lambda quoted: re.sub(r"\w+", lambda name: _JSON_NAMES.get(name[0], name[0]), quoted[0]), refusal
    )
    return told if isinstance(value, dict | list) else f"{told}: {cut(render(value), 100)}"


def _code(refusal: str) -> str:
    if refusal.startswith(("Expected `array` of length", "Expected `str` of length", "Expected `object` of length")):
        return "too_short_or_long"
    if "=" in refusal or "<" in refusal or ">" in refusal:
        return "out_of_range"
    return "wrong_type"
