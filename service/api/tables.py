"""JSON Schemas as tables of HTML."""

import json
import re
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

Schema = dict[str, Any]


def structures(schema: Schema, schemas: Schema, *, sent: bool) -> str:
    """A heading and a table for each structure within reach of a schema, evaluators aside.

    `sent` structures come from the caller: what a field is without a value is told, not whether an answer has it.
    """
    found: dict[str, Schema] = {}
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += reversed(node)
        elif isinstance(node, dict) and "discriminator" not in node:
            pending += reversed(node.values())
            if "$ref" in node and (name := _name(node)) not in found:
                found[name] = schemas[name]
                pending.append(schemas[name])
    return "".join(
        f"<h4>{escape(name)}</h4>{paragraphs(one.get('description', ''))}{table(one, sent=sent)}"
        for name, one in found.items()
    )


def table(structure: Schema, shown: Callable[[str], bool] = bool, *, sent: bool = True) -> str:
    """The fields of a structure whose names are to be shown; a column without content is left out."""
    required = structure.get("required", ())
    fields = [(name, field, name in required) for name, field in structure["properties"].items() if shown(name)]
    columns = {
        "Name": [f"<code>{escape(name)}</code>" for name, _, _ in fields],
        "Kind": [escape(kind_of(field)) for _, field, _ in fields],
        "Default" if sent else "Present": [(_default if sent else _presence)(*one) for _, *one in fields],
        "Meaning": [inline(field.get("description", "")) for _, field, _ in fields],
    }
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    rows = [_row("th", filled), *(_row("td", cells) for cells in zip(*filled.values(), strict=True))]
    return f"<table>{''.join(rows)}</table>" if fields else ""


def kind_of(schema: Schema) -> str:
    """A JSON Schema in a few words."""
    if "$ref" in schema:
        return _name(schema)
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "discriminator" in schema:
        return "evaluator"
    if "anyOf" in schema:
        return " | ".join(map(kind_of, schema["anyOf"]))
    if "prefixItems" in schema:
        return f"[{', '.join(map(kind_of, schema['prefixItems']))}]"
    kind = str(schema.get("type", "any"))
    word = "list" if kind == "array" else kind
    inner = schema.get("items") or schema.get("additionalProperties")
    return f"{word} of {kind_of(inner)}" if inner else word


def paragraphs(text: str) -> str:
    """A text with its paragraphs marked as such."""
    return "".join(f"<p>{inline(part)}</p>" for part in text.split("\n\n") if part)


def inline(text: str) -> str:
    """A text with `code` marked as such."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _default(field: Schema, required: bool) -> str:
    if required:
        return "required"
    return f"<code>{escape(json.dumps(field['default'], ensure_ascii=False))}</code>" if "default" in field else ""


def _presence(field: Schema, required: bool) -> str:
    return "" if required or "default" in field else "if it applies"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
