"""Where schemas stand inside a JSON Schema, in every draft from 4 to 2020-12, and what each asks by itself."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from service.primitives import RuleFault
from service.primitives.jsontext import MAX_DEPTH, decode, depth_exceeds, render

_SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})

# What stands here is tested, or speaks of names: a key that it mentions is not one that a value is said to have.
_CONDITIONS = frozenset({"if", "not", "propertyNames"})

_NAMES = frozenset({"dependencies", "dependentRequired", "required"})
_OPTIONS = frozenset({"const", "enum"})
_BOUNDS = frozenset({"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"})
_NOTES = frozenset({"$comment", "$defs", "default", "definitions", "description", "examples", "title"})
_SEVERAL = (_LISTS | _MAPS) - _NOTES
_SLOW_FORMATS = frozenset({"idn-email", "idn-hostname"})
_READING = {"contentEncoding": 8, "contentMediaType": 8, "format": 1}


class Checks(NamedTuple):
    """What the keywords of one schema ask, without the schemas inside it.

    `steps` are checks of a value, of about 15 ns each, and `deep` those of every value inside it; `numbers` counts the
    numbers a value is compared with and `digits` is their weight. `reads` are steps for each character of a text,
    `complaints` the errors that one value can cause and `bars` those that each value in it can, each of which repeats
    `told` values of the schema.
    """

    steps: int
    deep: int
    numbers: int
    digits: int
    reads: int
    complaints: int
    bars: int
    told: int


class Subschema(NamedTuple):
    """A schema inside another: the keyword that holds it, and its name there if the keyword holds several by name."""

    keyword: str
    name: str | None
    schema: dict[str, Any]


def subschemas(schema: dict[str, Any]) -> Iterator[Subschema]:
    """The object schemas directly inside a schema; what is data (enum, const, default, examples) is left alone."""
    for keyword, value in schema.items():
        if keyword in _MAPS and isinstance(value, dict):
            yield from (Subschema(keyword, name, sub) for name, sub in value.items() if isinstance(sub, dict))
        elif keyword in _LISTS and isinstance(value, list):
            yield from (Subschema(keyword, None, sub) for sub in value if isinstance(sub, dict))
        elif keyword in _SINGLE and isinstance(value, dict):
            yield Subschema(keyword, None, value)


def checks(schema: dict[str, Any]) -> Checks:
    """What a schema that its meta-schema accepts asks by itself."""
    compared = [part for key in _OPTIONS & schema.keys() for part in _parts(schema[key])]
    nested = any(isinstance(option, (dict, list)) for option in (schema.get("const"), *schema.get("enum", ())))
    bounds = [schema[key] for key in _BOUNDS & schema.keys()]
    numbers = bounds + [part for part in compared if is_number(part)]
    names = [name for key in _NAMES & schema.keys() for name in _parts(schema[key]) if isinstance(name, str)]
    refusals = sum(_refusals(schema[key]) for key in _SEVERAL & schema.keys())
    slow = 60 * (schema.get("format") in _SLOW_FORMATS)
    unique = schema.get("uniqueItems") is True
    return Checks(
        steps=1 + len(schema.keys() - _NOTES) + len(names) + refusals + _search(schema.get("enum", [])) + slow,
        deep=10 * (unique + nested * len(compared)),
        numbers=len(numbers) + 2 * unique,
        digits=sum(map(number_weight, numbers)),
        reads=sum(_READING[key] for key in _READING.keys() & schema.keys()),
        complaints=1 + len(bounds) + len(names) + refusals,
        bars=(schema.get("items") is False) + _refusals(schema.get("patternProperties")),
        told=sum(map(text_weight, [*compared, schema.get("pattern")])) + max(map(text_weight, names), default=0),
    )


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number_weight(number: float) -> int:
    """Steps that comparing a number adds: exact arithmetic, unless it is an integer of 64 bits."""
    bits = number.bit_length() if isinstance(number, int) else abs(math.frexp(number)[1])
    return 0 if isinstance(number, int) and bits < 64 else 60 + bits * bits // 1500


def text_weight(scalar: Any) -> int:
    """What a copy of a scalar takes, where a number takes 1."""
    return 1 + len(scalar) // 16 if isinstance(scalar, str) else 1


def check_depth(schema: Any) -> None:
    """Raise RuleFault `limit_exceeded` for a schema nested deeper than any JSON may be."""
    if depth_exceeds(schema, MAX_DEPTH):
        raise RuleFault("limit_exceeded", f"The schema nests more than {MAX_DEPTH} arrays or objects; flatten it.")


def require_all(schema: Any) -> Any:
    """A copy of the schema in which every name in `properties` is required too, wherever a schema stands.

    Conditions (`if`, `not`) keep their meaning and are left as they are. Raises RuleFault `limit_exceeded` over depth.
    """
    check_depth(schema)
    copy = decode(render(schema))
    pending = [copy] if isinstance(copy, dict) else []
    while pending:
        node = pending.pop()
        _require_properties(node)
        pending.extend(sub.schema for sub in subschemas(node) if sub.keyword not in _CONDITIONS)
    return copy


def _require_properties(schema: dict[str, Any]) -> None:
    properties, required = schema.get("properties"), schema.get("required", [])
    if isinstance(properties, dict) and properties and isinstance(required, list):
        known = {name for name in required if isinstance(name, str)}
        schema["required"] = required + [name for name in properties if name not in known]


def _parts(value: Any) -> list[Any]:
    """A value and all values inside it, keys of objects included."""
    parts = [value]
    for part in parts:
        if isinstance(part, dict):
            parts.extend(part)
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return parts


def _search(options: list[Any]) -> int:
    """Steps of finding a scalar among options: those of one kind are hashed, else they are compared one by one."""
    if len(set(map(type, options))) <= 1:
        return 0
    return len(options) * (10 if any(map(is_number, options)) else 1)


def _refusals(schemas: Any) -> int:
    """How many of a keyword's schemas are `false`, which complain without being object schemas."""
    inner = schemas.values() if isinstance(schemas, dict) else schemas if isinstance(schemas, list) else ()
    return sum(schema is False for schema in inner)
