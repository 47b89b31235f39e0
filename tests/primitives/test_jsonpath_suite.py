"""The JSONPath Compliance Test Suite, in both dialects of this service's own engine."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from service.primitives import RuleFault
from service.primitives.jsonpath import compile_path
from tests.counts import COUNTS

SUITE = Path(__file__).parents[3] / "shared" / "suites" / "jsonpath-cts.json"

OBJECT_RULE = "a filter on an object tests that object, not its members"
BLANKS = "blanks around a path are allowed"
DIFFERENCES = {
    "basic, no leading whitespace": BLANKS,
    "basic, no trailing whitespace": BLANKS,
    "filter, existence, without segments": OBJECT_RULE,
    "filter, absolute existence, without segments": OBJECT_RULE,
    "filter, name segment on primitive, selects nothing": OBJECT_RULE,
    "filter, object data": OBJECT_RULE,
    "whitespace, functions, spaces in an absolute singular selector": OBJECT_RULE,
    "whitespace, functions, newlines in an absolute singular selector": OBJECT_RULE,
    "whitespace, functions, tabs in an absolute singular selector": OBJECT_RULE,
    "whitespace, functions, returns in an absolute singular selector": OBJECT_RULE,
}


@pytest.fixture(scope="module")
def suite() -> list[dict[str, Any]]:
    if not SUITE.exists():
        assert not os.environ.get("CI"), f"{SUITE} is absent"
        pytest.skip("the suite is absent")
    tests: list[dict[str, Any]] = json.loads(SUITE.read_text("utf-8"))["tests"]
    return tests


def outcome(test: dict[str, Any], dialect: str) -> tuple[Any, list[str] | None]:
    try:
        path = compile_path(test["selector"], dialect)
    except RuleFault as fault:
        return fault.code, None
    nodes = path.nodes(test["document"]) if "document" in test else []
    values = path.select(test["document"]) if "document" in test else []
    assert [value for _, value in nodes] == values
    return values, [location for location, _ in nodes]


def passes(test: dict[str, Any], dialect: str) -> bool:
    values, locations = outcome(test, dialect)
    if test.get("invalid_selector"):
        return bool(values == "invalid_path")
    expected = zip(
        test.get("results", [test.get("result")]), test.get("results_paths", [test.get("result_paths")]), strict=True
    )
    return (values, locations) in expected


@pytest.mark.parametrize(
    ("dialect", "differences"), [("rfc9535", {}), ("jayway", DIFFERENCES)], ids=["rfc9535", "jayway"]
)
def test_compliance(suite: list[dict[str, Any]], dialect: str, differences: dict[str, str]) -> None:
    failed = {test["name"] for test in suite if not passes(test, dialect)}
    COUNTS.append(f"JSONPath compliance suite, {dialect}: {len(suite) - len(failed)} of {len(suite)}")
    assert len(suite) == 703
    assert failed == differences.keys()
