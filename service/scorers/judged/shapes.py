"""JSON Schemas of the replies that judges are asked for."""

from typing import Any

TEXT = {"type": "string"}
VERDICT = {"type": "integer", "enum": [0, 1]}


def said(description: str, kind: str = "string") -> dict[str, Any]:
    """A property that says what is meant by it."""
    return {"type": kind, "description": description}


def listed(items: dict[str, Any]) -> dict[str, Any]:
    """A list of such items."""
    return {"type": "array", "items": items}


def shape(**properties: dict[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
