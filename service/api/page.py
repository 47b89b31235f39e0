"""The API's description as one page without script or outside resource."""

from collections.abc import Iterator
from html import escape
from typing import Any

from msgspec import structs

from service.api.tables import Schema, inline, kind_of, paragraphs, structures, table
from service.catalogue import Entry
from service.core.evaluator import Evaluator

COMMON = frozenset(field.encode_name for field in structs.fields(Evaluator))

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
code { font: 14px/1.45 ui-monospace, monospace; overflow-wrap: break-word; } h3 code { font-size: 1em; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #8884; }
td:nth-child(2) { min-width: 7rem; } td:nth-child(4) { min-width: 11rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8888; } h3 { margin: 2rem 0 0; } h4 { margin: 1rem 0 0; }
p { margin: .5rem 0; } summary { cursor: pointer; } nav a { display: inline-block; margin-right: .75rem; }
"""


def page(document: dict[str, Any], entries: list[Entry]) -> bytes:
    """The page for an OpenAPI document and the catalogue."""
    text = "".join([*_introduction(document["info"]), *_endpoints(document), *_evaluators(entries)])
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    title = f"<title>{escape(document['info']['title'])}</title><style>{STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}{title}</head><body>{text}</body></html>'.encode()


def _introduction(info: Schema) -> Iterator[str]:
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>{paragraphs(info['description'])}"
    yield '<p>For machines: <a href="/openapi.json">/openapi.json</a></p>'


def _endpoints(document: Schema) -> Iterator[str]:
    schemas = document["components"]["schemas"]
    yield "<h2>Endpoints</h2>"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"<h3>{method.upper()} <code>{escape(path)}</code></h3>"
            yield from _operation(operation, schemas)
    yield "<h2>Errors</h2>"
    yield structures({"$ref": "#/components/schemas/Problem"}, schemas, sent=False)


def _operation(operation: Schema, schemas: Schema) -> Iterator[str]:
    yield f"<p>{inline(operation['summary'])}</p>"
    if "requestBody" in operation:
        yield _body("Request", operation["requestBody"], schemas, sent=True)
    responses = operation["responses"]
    yield _body("Answer", responses["200"], schemas, sent=False)
    problems = [f"{code} {escape(one['description'])}" for code, one in responses.items() if code != "200"]
    yield f"<p><small>Errors: {'; '.join(problems)}</small></p>"


def _body(title: str, body: Schema, schemas: Schema, *, sent: bool) -> str:
    ((media_type, content),) = body["content"].items()
    schema = content["schema"]
    tables = structures(schema, schemas, sent=sent)
    if not tables:
        return f"<p>{title}: {inline(schema.get('description', media_type))}</p>"
    return f"<details><summary>{title}: {escape(kind_of(schema))}</summary>{tables}</details>"


def _evaluators(entries: list[Entry]) -> Iterator[str]:
    yield '<h2 id="evaluators">Evaluators</h2><nav>'
    yield from (f'<a href="#{escape(one.type)}">{escape(one.type)}</a>' for one in entries)
    yield "</nav><h3>Parameters of every evaluator</h3>"
    yield table(entries[0].parameters, lambda name: name in COMMON)
    for one in entries:
        yield f'<h3 id="{escape(one.type)}"><code>{escape(one.type)}</code></h3>'
        yield paragraphs(one.purpose) + paragraphs(one.description)
        yield table(one.parameters, lambda name: name not in COMMON and name != "type")
