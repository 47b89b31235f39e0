"""Links lead somewhere, and the page of rules shows what really happens."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.engine.lanes import drain
from service.engine.trying import PathTrial, trying
from service.primitives.jsonpath import compile_path
from tests.judging import LIMITS, results
from tests.serving import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```(?:json|sh) (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
POSTED = re.compile(r"-d '(.*)'", re.DOTALL)

BLOCKS = BLOCK.findall((ROOT / "docs/rules.md").read_text())
PAIRS = [(text, BLOCKS[place + 1]) for place, (kind, text) in enumerate(BLOCKS) if kind == "request"]
PATHS = [
    (dialect, path, selected)
    for dialect, text in BLOCKS
    if dialect in ("jayway", "rfc9535")
    for path, selected in json.loads(text).items()
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_inside_the_repository_leads_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text())
    targets = [(page.parent / name if name else page, anchor) for name, anchor in links]
    assert [str(file) for file, _ in targets if not file.exists()] == []
    assert [f"{file}#{anchor}" for file, anchor in targets if anchor and anchor not in _anchors(file)] == []


@pytest.mark.parametrize(
    ("request_text", "answer"), PAIRS, ids=[f"pair-{number}" for number in range(1, len(PAIRS) + 1)]
)
def test_every_request_of_the_rules_gets_the_answer_shown(request_text: str, answer: tuple[str, str]) -> None:
    posted = POSTED.search(request_text)
    body = json.loads(posted[1] if posted else request_text)
    kind, shown = answer
    assert kind == "answer"
    assert _part_of(_answered(body), json.loads(shown)) == json.loads(shown)


@pytest.mark.parametrize(("dialect", "path", "selected"), PATHS)
def test_every_path_of_the_rules_selects_what_is_shown(dialect: str, path: str, selected: list[Any]) -> None:
    document = json.loads(next(text for kind, text in BLOCKS if kind == "document"))
    assert compile_path(path, dialect).select(document) == selected


def test_every_block_of_the_rules_is_read() -> None:
    fences = re.findall(r"^```\S", (ROOT / "docs/rules.md").read_text(), re.MULTILINE)
    assert len(fences) == len(BLOCKS)
    assert {kind for kind, _ in BLOCKS} == {"document", "jayway", "rfc9535", "request", "answer"}


def _answered(body: dict[str, Any]) -> Any:
    """The selection of a path, or the evaluations of all items in one list."""
    if "path" in body:
        return msgspec.to_builtins(drain(trying(msgspec.convert(body, PathTrial), LIMITS)))
    return [evaluation for item in results(body)["results"] for evaluation in item["evaluations"]]


def _part_of(whole: Any, shown: Any) -> Any:
    """What is there of the keys shown; lists keep their length."""
    if isinstance(whole, dict) and isinstance(shown, dict):
        return {key: _part_of(whole[key], value) for key, value in shown.items() if key in whole}
    if isinstance(whole, list) and isinstance(shown, list) and len(whole) == len(shown):
        return [_part_of(one, other) for one, other in zip(whole, shown, strict=True)]
    return whole


def _anchors(page: Path) -> set[str]:
    """The anchors of headings, as GitHub makes them."""
    headings = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
