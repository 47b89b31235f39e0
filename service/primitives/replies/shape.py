"""Whether an object has the shape that a JSON Schema asks of a reply, and what it then says.

Of JSON Schema this reads what prompts use: type, enum, properties, required, additionalProperties, items, and the four
bounds of numbers. Keys are found without regard to case; a key that nobody asked for is left out.
"""

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

from service.primitives.equality import equal
from service.primitives.jsontext import as_text, render
from service.primitives.numbers import is_number
from service.primitives.replies.faults import Reason, ReplyFault, described
from service.primitives.replies.labels import read_choice, read_verdict
from service.primitives.replies.lenient import number_of

COMMENTARY = frozenset({"reason", "reasons", "reasoning", "rationale", "explanation"})
"""Keys that explain a verdict. They may be missing, may be a list of texts, and never make two verdicts of one."""

_BOUNDS = {
    "minimum": operator.ge,
    "maximum": operator.le,
    "exclusiveMinimum": operator.gt,
    "exclusiveMaximum": operator.lt,
}
_KINDS: dict[type, tuple[str, ...]] = {
    type(None): ("null",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number", "integer"),
    str: ("string",),
    list: ("array",),
    dict: ("object",),
}
_READ_KEYWORDS = frozenset({"type", "enum", "properties", "additionalProperties", "items", *_BOUNDS})


class Misfit(Exception):
    """An object is not of the shape; `detail` is a sentence that says where."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Fitted(NamedTuple):
    """An object of the shape: what it says, whether it had to be mended, and why it is no verdict all the same."""

    value: dict[str, Any]
    mended: bool
    faults: tuple[ReplyFault, ...]


def fit(value: dict[str, Any], schema: Mapping[str, Any]) -> Fitted:
    """The object read by its schema. Raises Misfit; an unknown label or a number out of bounds is a fault of it."""
    fitting = _Fitting()
    read = fitting.members(value, schema, "The judge's reply")
    return Fitted(read, fitting.mended, tuple(fitting.faults))


def verdict_of(value: Any) -> Any:
    """A value without its commentary: what makes two replies differ."""
    if isinstance(value, dict):
        return {key: verdict_of(item) for key, item in value.items() if key not in COMMENTARY}
    return [verdict_of(item) for item in value] if isinstance(value, list) else value


class _Fitting:
    """One object on its way into its shape."""

    def __init__(self) -> None:
        self.mended = False
        self.faults: list[ReplyFault] = []

    def members(self, value: dict[str, Any], schema: Mapping[str, Any], name: str) -> dict[str, Any]:
        properties = schema.get("properties", {})
        names = {key.casefold(): key for key in properties} | {key: key for key in properties}
        result: dict[str, Any] = {}
        for key, item in value.items():
            known = key if key in properties else names.get(key.strip().casefold())
            if known is not None:
                self.mended = self.mended or known != key
                self._put(result, known, item, properties[known])
            elif not properties or isinstance(schema.get("additionalProperties"), Mapping):
                result[key] = self._part(item, schema.get("additionalProperties"), key)
        _check_complete(result, schema, name)
        return result

    def _put(self, result: dict[str, Any], key: str, item: Any, schema: Any) -> None:
        part = _commentary(item, schema) if key in COMMENTARY else self._part(item, schema, key)
        if key in result and not equal(result[key], part):
            self._fault("judge_ambiguous", f"The judge's reply gives {key} twice, with different values.")
        result[key] = part

    def _part(self, value: Any, schema: Any, name: str) -> Any:
        if not isinstance(schema, Mapping) or not (schema.keys() & _READ_KEYWORDS):
            return value
        kind = _kind(value, schema)
        if isinstance(value, dict | list) or kind in ("object", "array"):
            if kind != _KINDS[type(value)][0]:
                raise Misfit(f"In {name}, {described(value)} is no {kind}.")
            return self._container(value, schema, name)
        try:
            return self._scalar(value, kind, schema)
        except ReplyFault as fault:
            self._fault(fault.reason, f"In {name}: {fault.detail}")
            return value

    def _container(self, value: Any, schema: Mapping[str, Any], name: str) -> Any:
        if isinstance(value, dict):
            return self.members(value, schema, name)
        return [self._part(item, schema.get("items"), name) for item in value]

    def _scalar(self, value: Any, kind: str, schema: Mapping[str, Any]) -> Any:
        if kind == "null" and value is None:
            return None
        if "enum" in schema:
            return self._member(value, schema["enum"])
        self.mended = self.mended or isinstance(value, str) != (kind == "string")
        if kind == "boolean":
            return read_verdict(value)
        if kind in ("integer", "number"):
            return _number(value, kind, schema)
        if kind == "string" and isinstance(value, str):
            return value
        if kind == "string" and is_number(value):
            return render(value)
        raise ReplyFault("judge_unparseable", f"{described(value)} is no {kind}.")

    def _member(self, value: Any, enum: list[Any]) -> Any:
        """The member of an enumeration that a scalar names: one of its texts, else one of 0, 1, false and true."""
        labels = [label for label in enum if isinstance(label, str)]
        named = read_choice(value, labels) if labels else read_verdict(value)
        self.mended = self.mended or (isinstance(value, str) and value != named)
        return next((member for member in enum if member == named), named)

    def _fault(self, reason: Reason, detail: str) -> None:
        self.faults.append(ReplyFault(reason, detail))


def _kind(value: Any, schema: Mapping[str, Any]) -> str:
    """The JSON type that a value is read as: its own where the schema allows that, else the schema's first."""
    own = _KINDS[type(value)]
    allowed = schema.get("type", _implied(schema, own))
    kinds = [allowed] if isinstance(allowed, str) else allowed
    return next((kind for kind in own if kind in kinds), kinds[0])


def _implied(schema: Mapping[str, Any], own: tuple[str, ...]) -> tuple[str, ...]:
    if "properties" in schema:
        return ("object",)
    if "enum" in schema:
        return tuple(kind for member in schema["enum"] for kind in _KINDS[type(member)])
    return own


def _check_complete(result: dict[str, Any], schema: Mapping[str, Any], name: str) -> None:
    """Raises Misfit where a key that must be there is missing, or where none is there that is asked for."""
    properties = schema.get("properties", {})
    required = [key for key in schema.get("required", ()) if key not in COMMENTARY]
    missing = [key for key in required if key not in result]
    if properties and not (required or result):
        missing = list(properties)
    if missing:
        enum = properties.get(missing[0], {}).get("enum")
        labels = f" (one of {', '.join(map(as_text, enum))})" if enum else ""
        raise Misfit(f"{name} has no {missing[0]}{labels}.")


def _commentary(value: Any, schema: Any) -> Any:
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    wants_list = isinstance(schema, Mapping) and schema.get("type") == "array"
    return texts if wants_list else "\n".join(texts)


def _number(value: Any, kind: str, schema: Mapping[str, Any]) -> int | float:
    number = number_of(value) if isinstance(value, str) else value
    if not is_number(number) or (kind == "integer" and number != int(number)):
        raise ReplyFault("judge_unparseable", f"{described(value)} is no {kind}.")
    for keyword, holds in _BOUNDS.items():
        if keyword in schema and not holds(number, schema[keyword]):
            raise ReplyFault("judge_out_of_range", f"{described(value)} breaks the {keyword} of {schema[keyword]}.")
    return int(number) if kind == "integer" else number
