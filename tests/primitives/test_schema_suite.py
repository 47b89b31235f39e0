"""The required tests of the public JSON Schema suite, five drafts."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.primitives import RuleFault
from service.primitives.schema import compile_schema
from tests.counts import COUNTS

SUITE = Path(__file__).parents[3] / "shared" / "suites" / "json-schema"

DRAFTS = {
    "draft4": ("http://json-schema.org/draft-04/schema#", 601, 17),
    "draft6": ("http://json-schema.org/draft-06/schema#", 816, 23),
    "draft7": ("http://json-schema.org/draft-07/schema#", 904, 23),
    "draft2019-09": ("https://json-schema.org/draft/2019-09/schema", 1223, 36),
    "draft2020-12": ("https://json-schema.org/draft/2020-12/schema", 1250, 49),
}
"""Of each draft: `$schema`, tests that pass, and tests that need another document or a meta-schema of their own."""

_SERVER = "localhost:1234"


@pytest.mark.parametrize("draft", DRAFTS)
def test_required(draft: str) -> None:
    if not SUITE.is_dir():
        assert not os.environ.get("CI"), f"{SUITE} is absent"
        pytest.skip("the suite is absent")
    uri, expected, elsewhere = DRAFTS[draft]
    outcomes = [(name, outcome(uri, group, case)) for name, group, case in cases(SUITE / draft)]
    wrong = [name for name, verdict in outcomes if verdict is False]
    refused = sum(verdict is None for _, verdict in outcomes)
    passed = len(outcomes) - len(wrong) - refused
    COUNTS.append(f"JSON Schema suite, {draft}: {passed} pass, {len(wrong)} fail, {refused} need another document")
    assert not wrong
    assert (len(outcomes) - refused, refused) == (expected, elsewhere)


def cases(folder: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for file in sorted(folder.glob("*.json")):
        for group in json.loads(file.read_text()):
            for case in group["tests"]:
                yield f"{file.stem}: {group['description']}: {case['description']}", group, case


def outcome(uri: str, group: dict[str, Any], case: dict[str, Any]) -> bool | None:
    """Whether the verdict is right; None if the schema is refused because it needs the suite's own server."""
    schema = group["schema"]
    schema = {"$schema": uri, **schema} if isinstance(schema, dict) else schema
    try:
        return compile_schema(schema, formats=False).accepts(case["data"]) is case["valid"]
    except RuleFault as fault:
        return None if fault.code == "invalid_schema" and _SERVER in json.dumps(schema) else False
