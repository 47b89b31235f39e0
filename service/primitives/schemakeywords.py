"""Where schemas stand inside a JSON Schema, in every draft from 4 to 2020-12."""

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
