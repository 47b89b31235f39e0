"""The page at /docs tells all that the description holds, and nothing on it acts or is fetched."""

import re
from html.parser import HTMLParser

import httpx
import pytest
from msgspec.structs import replace

from service import catalogue
from service.api.document import document
from service.api.page import page
from service.api.tables import inline, kind_of, structures, table
from tests.serving import Served, served

DOCUMENT = document()
ENTRIES = [catalogue.entry(kind) for kind in catalogue.EVALUATORS]
PAGE = page(DOCUMENT, ENTRIES).decode()

OPERATIONS = [f"{method.upper()} <code>{path}</code>" for path, of in DOCUMENT["paths"].items() for method in of]
SHOWN = [
    "Batch.items",
    "Batch.deadline_ms",
    "Item.metadata",
    "Results.summary",
    "ItemResult.evaluations",
    "Evaluation.reason",
    "Summary.replaced_surrogates",
    "Tally.pass_rate_interval",
    "PathTrial.document",
    "Selection.locations",
    "Validation.cost",
    "Problem.errors",
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_endpoint_is_there(operation: str) -> None:
    assert f"<h3>{operation}</h3>" in PAGE


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.type)
def test_every_evaluator_and_parameter_is_there(entry: catalogue.Entry) -> None:
    assert f'<h3 id="{entry.type}">' in PAGE
    assert [
        name for name in entry.parameters["properties"] if name != "type" and f"<code>{name}</code>" not in PAGE
    ] == []


@pytest.mark.parametrize("field", SHOWN)
def test_the_fields_of_bodies_are_there(field: str) -> None:
    structure, _, name = field.partition(".")
    section = PAGE.partition(f"<h4>{structure}</h4>")[2].partition("</table>")[0]
    assert f"<td><code>{name}</code></td>" in section


def test_nothing_acts_and_nothing_is_fetched() -> None:
    assert "<script" not in PAGE
    assert re.search(r"https?://|url\(|@import|\ssrc=|\son\w+=", PAGE) is None
    assert {*re.findall(r'href="([^"]*)"', PAGE)} == {"/openapi.json", *(f"#{entry.type}" for entry in ENTRIES)}


def test_every_tag_is_closed() -> None:
    class Tags(HTMLParser):
        open: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag != "meta":
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    tags = Tags()
    tags.feed(PAGE)
    assert tags.open == []


def test_defaults_are_json() -> None:
    rows = dict(re.findall(r"<tr><td><code>(\w+)</code></td><td>[^<]*</td><td>(.*?)</td>", PAGE))
    defaults = {name: rows[name] for name in ("weight", "active", "operator", "normalize", "echo", "deadline_ms")}
    assert defaults == {
        "weight": "<code>1.0</code>",
        "active": "<code>true</code>",
        "operator": "required",
        "normalize": "<code>[]</code>",
        "echo": "<code>&quot;cut&quot;</code>",
        "deadline_ms": "<code>null</code>",
    }


def test_texts_are_escaped() -> None:
    hostile = replace(ENTRIES[0], purpose="<b> & `<i>`")
    assert "<p>&lt;b&gt; &amp; <code>&lt;i&gt;</code></p>" in page(DOCUMENT, [hostile]).decode()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any"),
        ({"enum": ["a", "b"]}, "a | b"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"type": "array"}, "list"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Item"}}, "list of Item"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object of integer"),
        ({"type": "object", "additionalProperties": False}, "object"),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False},
            "[number, string]",
        ),
        ({"anyOf": [{"$ref": "#/A"}, {"$ref": "#/B"}], "discriminator": {"propertyName": "type"}}, "evaluator"),
    ],
)
def test_a_schema_in_a_few_words(schema: dict[str, object], words: str) -> None:
    assert kind_of(schema) == words


def test_a_structure_is_shown_once_even_if_it_holds_itself() -> None:
    node = {"properties": {"left": {"$ref": "#/Node"}, "right": {"$ref": "#/Node"}}}
    assert structures({"$ref": "#/Node"}, {"Node": node}, sent=True).count("<h4>Node</h4>") == 1


def test_a_column_without_content_is_left_out() -> None:
    structure = {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert re.findall(r"<th>(\w+)</th>", table(structure)) == ["Name", "Kind", "Default"]
    assert re.findall(r"<th>(\w+)</th>", table(structure, sent=False)) == ["Name", "Kind"]


def test_a_lone_backtick_is_left_alone() -> None:
    assert inline("a ` b") == "a ` b"


BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ACCEPTED = {"*/*": 404, "application/json": 404, "text/plain": 404, "TEXT/HTML": 307, "text/html": 307}


@pytest.mark.parametrize("accept", ACCEPTED)
def test_only_browsers_are_sent_on_from_the_root(accept: str, client: httpx.Client) -> None:
    answer = client.get("/", headers={"accept": accept})
    assert answer.status_code == ACCEPTED[accept]
    assert answer.headers.get("location") == ("/docs" if answer.status_code == 307 else None)


def test_a_browser_that_follows_sees_the_page(client: httpx.Client) -> None:
    shown = client.get("/", headers=BROWSER, follow_redirects=True)
    assert (shown.status_code, shown.url.path, shown.text) == (200, "/docs", PAGE)


@pytest.mark.parametrize(("method", "path"), [("POST", "/"), ("GET", "/nope"), ("GET", "//")])
def test_browsers_are_sent_on_from_nowhere_else(method: str, path: str, service: Served) -> None:
    assert httpx.request(method, f"{service.url}{path}", headers=BROWSER).status_code == 404


def test_the_root_needs_no_key_as_the_page_needs_none() -> None:
    with served(API_KEYS="one") as running, httpx.Client(base_url=running.url) as client:
        assert client.get("/", headers=BROWSER, follow_redirects=True).status_code == 200
        assert client.get("/").status_code == 404
        assert client.get("/v1/limits", headers=BROWSER).status_code == 401
