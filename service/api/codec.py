"""Bytes to Structs, strictly; Structs to bytes."""

import re
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from service.api.explain import explain
from service.core.errors import Fault, Invalid, NotJsonBody
from service.primitives.jsontext import depth_exceeds, mend_surrogates
from service.primitives.pointer import join

T = TypeVar("T")

encode = msgspec.json.Encoder().encode

_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decode(body: bytes, kind: type[T], max_depth: int) -> tuple[T, int]:
    """The Struct in a body, and how many lone surrogate escapes in it were read as U+FFFD.

    NotJsonBody where it is no JSON; Invalid, with every fault, where it is JSON of another shape or nested too deep.
    """
    replaced = 0
    try:
        value = _decode(body, kind)
    except msgspec.DecodeError:
        body, replaced = _mended(body)
        value = _decode_or_explain(body, kind)
    except RecursionError:
        raise _too_deep("", max_depth) from None
    if _opens_more(body, max_depth):
        _refuse_depth(value, max_depth)
    return value, replaced


def _opens_more(body: bytes, limit: int) -> bool:
    """Whether more lists and objects begin in a body than a limit: else it cannot be nested deeper than that."""
    left = limit
    for bracket in (b"[", b"{"):
        # finding leaps from bracket to bracket, where counting looks at every byte
        place = body.find(bracket)
        while place >= 0:
            left -= 1
            if left < 0:
                return True
            place = body.find(bracket, place + 1)
    return False


def _mended(body: bytes) -> tuple[bytes, int]:
    """The body with every escape of half a surrogate pair read as U+FFFD, and their count."""
    try:
        text, count = mend_surrogates(body.decode())
    except UnicodeDecodeError:
        return body, 0
    return text.encode(), count


def _decode(body: bytes, kind: type[T]) -> T:
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind)
    return decoder.decode(body)  # type: ignore[no-any-return]


def _decode_or_explain(body: bytes, kind: type[T]) -> T:
    try:
        return _decode(body, kind)
    except msgspec.DecodeError as exc:
        reason = str(exc)
    except RecursionError:
        raise _too_deep("", 0) from None
    plain = _plain(body)
    raise Invalid(explain(plain, kind) or [Fault("", "wrong_type", reason)])


def _plain(body: bytes) -> Any:
    """The body as plain values; NotJsonBody if it is no JSON at all."""
    if not body.strip():
        raise NotJsonBody("The body is empty: send a JSON object")
    try:
        return msgspec.json.decode(body)
    except msgspec.ValidationError as exc:
        raise NotJsonBody(f"The body has a number that cannot be held: {exc}") from None
    except UnicodeDecodeError:
        raise NotJsonBody("The body is not UTF-8") from None
    except msgspec.DecodeError as exc:
        hint = _non_finite(body)
        raise NotJsonBody(f"The body is not JSON: {exc}{hint}") from None
    except RecursionError:
        raise _too_deep("", 0) from None


def _non_finite(body: bytes) -> str:
    token = re.search(rb"[:\[,]\s*(NaN|-?Infinity)\b", body)
    return f"; {token[1].decode()} is no JSON number" if token else ""


def _too_deep(pointer: str, limit: int) -> Invalid:
    than = f" than {limit}" if limit else ""
    return Invalid([Fault(pointer, "limit_exceeded", f"Nested deeper{than} (json_depth at /v1/limits)")])


def _refuse_depth(value: Any, max_depth: int) -> None:
    """Of typed values only those of type Any can be deep: they are found in the fields of Structs."""
    for pointer, one in _free_parts(value, ""):
        if depth_exceeds(one, max_depth):
            raise _too_deep(pointer, max_depth)


def _free_parts(value: Any, pointer: str) -> Any:
    if isinstance(value, msgspec.Struct):
        for name, wire in _free_fields(type(value)):
            one = getattr(value, name)
            if isinstance(one, dict | list | msgspec.Struct):
                yield from _free_parts(one, join(pointer, wire))
    elif isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        for index, one in enumerate(value):
            yield from _free_parts(one, join(pointer, index))
    else:
        yield pointer, value


@cache
def _free_fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    """The fields, each with its name on the wire, of which the type does not say how deep they are."""
    told = inspect.type_info(kind)
    assert isinstance(told, inspect.StructType)
    return tuple((field.name, field.encode_name) for field in told.fields if _is_free(field.type))


def _is_free(kind: Any) -> bool:
    one = [getattr(kind, name) for name in ("type", "item_type", "value_type") if hasattr(kind, name)]
    inner = (*one, *getattr(kind, "types", ()), *getattr(kind, "item_types", ()))
    return isinstance(kind, inspect.AnyType | inspect.StructType) or any(map(_is_free, inner))
