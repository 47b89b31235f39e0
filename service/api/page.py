"""The API's description as one page without script or outside resource."""

from html import escape
from typing import Any

from service.catalogue import Entry

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: .4rem; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884; }
h3 { margin-top: 2rem; } summary { cursor: pointer; }
.method { display: inline-block; min-width: 3.5rem; font-weight: 600; }
"""


def page(document: dict[str, Any], entries: list[Entry]) -> bytes:
    """The page for an OpenAPI document and the catalogue."""
    info = document["info"]
    body = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        *(f"<p>{escape(part)}</p>" for part in info["description"].split("\n\n")),
        '<p>Machine-readable: <a href="/openapi.json">/openapi.json</a></p>',
        "<h2>Endpoints</h2>",
        *(_operation(path, method, one) for path, of in document["paths"].items() for method, one in of.items()),
        "<h2>Evaluators</h2>",
        *map(_entry, entries),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    title = f"<title>{escape(info['title'])}</title><style>{STYLE}</style>"
    text = "".join(body)
    return f'<!doctype html><html lang="en"><head>{head}{title}</head><body>{text}</body></html>'.encode()


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    codes = ", ".join(f"{code} {escape(one['description'])}" for code, one in operation["responses"].items())
    return (
        f'<h3><span class="method">{method.upper()}</span> <code>{escape(path)}</code></h3>'
        f"<p>{escape(operation['summary'])}</p><p><small>{codes}</small></p>"
    )


def _entry(entry: Entry) -> str:
    rows = "".join(_parameter(name, schema, entry) for name, schema in entry.parameters["properties"].items())
    return (
        f'<h3 id="{escape(entry.type)}"><code>{escape(entry.type)}</code></h3>'
        f"<p>{escape(entry.purpose)}</p><p>{escape(entry.description)}</p>"
        f"<details><summary>Parameters</summary><table><tr><th>Name</th><th>Kind</th><th>Default</th><th>Meaning</th></tr>"
        f"{rows}</table></details>"
    )


def _parameter(name: str, schema: dict[str, Any], entry: Entry) -> str:
    default = "required" if name in entry.parameters["required"] else _literal(schema.get("default"))
    cells = (
        f"<code>{escape(name)}</code>",
        escape(kind_of(schema)),
        escape(default),
        escape(schema.get("description", "")),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def kind_of(schema: dict[str, Any]) -> str:
    """A JSON Schema in a few words."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(map(kind_of, schema["anyOf"]))
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"list of {kind_of(items)}" if isinstance(items, dict) and items else "list"
    return str(schema.get("type", "any"))


def _literal(value: Any) -> str:
    return (
        {None: "", True: "true", False: "false"}.get(value, str(value))
        if not isinstance(value, list | dict)
        else str(value)
    )
