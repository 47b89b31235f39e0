"""Answers of servers that nobody vouches for: any part may be missing or of another type."""

from typing import Any

import msgspec

from service.judge.faults import Passing
from service.primitives.jsontext import NotJson, decode, mend_surrogates
from service.primitives.replies import contradicts_itself

NO_JSON = "answered with what cannot be read as JSON"
CONTRADICTION = "answered with JSON that has a key twice, with different values"
ERROR_INSTEAD = "answered with an error in place of a reply"


def value_of(body: bytes) -> Any:
    """The JSON value of a body. Passing where it is none, or where an object says two things under one key."""
    try:
        text = mend_surrogates(body.decode())[0]
        value = decode(text)
    except (UnicodeDecodeError, NotJson):
        raise Passing(NO_JSON) from None
    if contradicts_itself(text):
        raise Passing(CONTRADICTION)
    return value


def reply_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a body that is no report of an error. Passing where it is none, or is one."""
    value = value_of(body)
    if not isinstance(value, dict):
        raise Passing("answered with JSON that is no object")
    if value.get("error"):
        raise Passing(ERROR_INSTEAD)
    return value


def fields_of(value: Any) -> dict[str, Any] | None:
    """The object that a value is, or whose JSON text it is; None where the text says two things under one key."""
    if isinstance(value, str):
        try:
            text, value = value, decode(value)
        except NotJson:
            return None
        if contradicts_itself(text):
            return None
    return value if isinstance(value, dict) else None


def object_at(value: Any, key: str) -> dict[str, Any]:
    """The object under a key, empty where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def objects_at(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of the list under a key, empty where there is none."""
    found = value.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def text_at(value: dict[str, Any], key: str) -> str | None:
    """The text under a key, the texts of parts joined."""
    found = value.get(key)
    if isinstance(found, list):
        return "".join(part for one in objects_at(value, key) if isinstance(part := one.get("text"), str))
    return found if isinstance(found, str) else None


def count_at(value: dict[str, Any], key: str) -> int:
    """The count under a key, 0 where there is none."""
    found = value.get(key)
    return found if isinstance(found, int) and found is not True and 0 <= found < 2**53 else 0


def as_text(value: Any) -> str:
    """A value as its JSON text; a text as it is."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def several(arguments: list[Any]) -> str:
    """The arguments of several tool calls as one text, in which a reader finds as many objects."""
    return "\n".join(map(as_text, arguments))


def with_shape(text: str, schema: dict[str, Any]) -> str:
    """A message that says by itself what shape the reply must have."""
    shape = msgspec.json.encode(schema).decode()
    return f"{text}\n\nReply with one JSON object that fits this JSON Schema, and with nothing else:\n{shape}"
