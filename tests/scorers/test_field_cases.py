"""Faults that users of other evaluation tools have reported in public, each with the right verdict."""

from typing import Any, NamedTuple

import pytest

from tests.judging import evaluation


class Reported(NamedTuple):
    where: str
    rule: dict[str, Any]
    item: dict[str, Any]
    status: str
    score: float | None = None
    says: str = ""


CASES = [
    Reported(
        "opik 6543: null never equals the text None",
        {"type": "exact_match"},
        {"output": None, "expected": "None"},
        "failed",
        0.0,
    ),
    Reported(
        "evals 1780: an empty answer contains nothing",
        {"type": "contains"},
        {"output": "", "expected": "Lisbon"},
        "failed",
        0.0,
    ),
    Reported(
        "promptfoo 9824: a negated rule explains what was not allowed",
        {"type": "valid_json", "negate": True},
        {"output": '{"a": 1}'},
        "failed",
        0.0,
        "which the negated rule does not allow",
    ),
    Reported(
        "promptfoo 8681: a negated score does not claim to have reached the threshold",
        {"type": "levenshtein", "threshold": 0.8, "negate": True},
        {"output": "blue kite", "expected": "green tractor parked outside"},
        "passed",
        None,
        "as the negated rule asks",
    ),
    Reported(
        "inspect_ai 4618: word order counts in an exact match",
        {"type": "exact_match", "normalize": ["punctuation", "whitespace"], "case_sensitive": False},
        {"output": "south north", "expected": "north south"},
        "failed",
        0.0,
    ),
    Reported(
        "inspect_ai 4617: a decimal point survives the stripping of punctuation",
        {"type": "exact_match", "normalize": ["punctuation"]},
        {"output": "(2.75)", "expected": "2.75"},
        "passed",
        1.0,
    ),
    Reported(
        "evals 1763: a null is there",
        {"type": "json_diff", "missing_is_null": False},
        {"output": {"note": None}, "expected": {"note": None}},
        "passed",
        1.0,
    ),
    Reported(
        "evals 1763: a missing key is not a null",
        {"type": "json_diff", "missing_is_null": False},
        {"output": {}, "expected": {"note": None}},
        "failed",
        0.0,
        "/note",
    ),
    Reported(
        "openevals 252: an unmatched empty object counts as an extra element",
        {"type": "list_contains", "pairwise_scorer": "exact_match", "threshold": 1},
        {"output": [{"sku": 3}, {}], "expected": [{"sku": 3}]},
        "failed",
        0.5,
    ),
    Reported(
        "promptfoo 1414: an unknown annotation keyword does not break a schema",
        {"type": "json_schema", "schema": {"properties": {"n": {"type": "integer", "example": 3}}}},
        {"output": '{"n": 1}'},
        "passed",
        1.0,
    ),
    Reported(
        "guardrails 1549: a closing fence is at least as long as the opening one",
        {"type": "json_schema", "schema": {"type": "object", "required": ["tip"]}},
        {"output": '````json\n{"tip": "wrap it in ``` marks"}\n````'},
        "passed",
        1.0,
    ),
    Reported(
        "azure-sdk 39689: control characters come back as they were sent",
        {"type": "contains", "expected": "control"},
        {"output": 'tab\t quote" and \u0001 control'},
        "passed",
        1.0,
    ),
    Reported(
        "langfuse 5917: a path without a match never falls back to the document",
        {"type": "string_comparison", "operator": "contains", "path": "$.content.summary", "expected": "sales"},
        {"output": {"content": {"digest": "sales rose"}}},
        "no_data",
        None,
        "$.content.summary",
    ),
    Reported(
        "langfuse-workshop 30: a negative index counts from the end",
        {"type": "string_comparison", "operator": "equals", "path": "$.steps[-1].text", "expected": "done"},
        {"output": {"steps": [{"text": "plan"}, {"text": "done"}]}},
        "passed",
        1.0,
    ),
    Reported(
        "autoevals: true is not the number one",
        {"type": "json_diff"},
        {"output": {"a": True}, "expected": {"a": 1}},
        "failed",
        0.0,
    ),
    Reported(
        "autoevals: two Unicode forms of one word, evened out on request",
        {"type": "levenshtein", "normalize": ["nfc"]},
        {"output": "cafe\u0301", "expected": "café"},
        "passed",
        1.0,
    ),
    Reported(
        "fair-forge: a count of words names its method",
        {"type": "length", "unit": "words", "max": 5},
        {"output": "今天天气很好，我们一起去公园散步吧。"},
        "passed",
        1.0,
        "1 words (white space)",
    ),
    Reported(
        "google adk 4122: a keyword is found in a text without spaces",
        {"type": "keywords", "keywords": ["東京"]},
        {"output": "東京は晴れです"},
        "passed",
        1.0,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.where.partition(":")[0] + str(n) for n, case in enumerate(CASES)])
def test_reported(case: Reported) -> None:
    got = evaluation(case.rule, **case.item)
    assert got["status"] == case.status
    if case.score is not None or case.status == "no_data":
        assert got["score"] == case.score
    assert case.says in got["explanation"]
    if isinstance(case.item.get("output"), str) and case.rule["type"] == "contains":
        assert got["actual"] == case.item["output"]


def test_json_diff_says_which_side_lacks_a_key() -> None:
    """autoevals scores a missing key as equal to null; so do we by default, but the difference is told."""
    got = evaluation({"type": "json_diff"}, output={"a": None}, expected={})
    (difference,) = got["details"]["differences"]
    assert difference["output"] is None
    assert "expected" not in difference
