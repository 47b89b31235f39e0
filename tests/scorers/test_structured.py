"""valid_json, json_schema, json_keys."""

from typing import Any

import pytest

from tests.judging import evaluation, verdict

PASSED, FAILED = ("passed", 1.0, None), ("failed", 0.0, None)
FENCED = 'Here you go\n```json\n{"name": "Al", "age": 3}\n```'
PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
}


def error(reason: str) -> tuple[str, None, str]:
    return "error", None, reason


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({}, '{"a": 1}', PASSED),
        ({}, "[]", PASSED),
        ({}, "1", FAILED),
        ({}, "null", FAILED),
        ({}, None, FAILED),
        ({}, True, FAILED),
        ({}, {"already": "parsed"}, PASSED),
        ({"allow_scalars": True}, "1", PASSED),
        ({"allow_scalars": True}, None, PASSED),
        ({"allow_scalars": True}, '"a"', PASSED),
        ({"allow_scalars": True}, "NaN", FAILED),
        ({}, '{"a": NaN}', FAILED),
        ({}, "[-Infinity]", FAILED),
        ({}, '{"x": 1e999}', FAILED),
        ({}, "{'a': 1}", FAILED),
        ({}, '{"a": 1,}', FAILED),
        ({}, '{"a": 1}{"b": 2}', FAILED),
        ({}, "\ufeff{}", FAILED),
        ({}, "", FAILED),
        ({}, '{"a": 1, "a": 2}', PASSED),
        ({}, ' {"a": 1} \n', PASSED),
        ({}, FENCED, FAILED),
        ({"extract": "fences"}, FENCED, PASSED),
        ({"extract": "anywhere"}, 'It is {"a": 1}, I think', PASSED),
        ({"schema": True}, "5", PASSED),
        ({"schema": False}, "{}", FAILED),
        ({"schema": PERSON}, '{"name": "Al"}', PASSED),
        ({"schema": PERSON}, '{"age": 3}', FAILED),
        ({"schema": {"format": "email"}}, '"no mail"', PASSED),
        ({"schema": {"type": "objekt"}}, "{}", error("invalid_schema")),
        ({"schema": {"$ref": "#/$defs/none"}}, "{}", error("invalid_schema")),
    ],
)
def test_valid_json(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "valid_json", **params}, output=output) == want


def test_valid_json_never_reads_expected() -> None:
    for expected in ("a reply about a", {"type": "array"}):
        got = evaluation({"type": "valid_json"}, output='{"a": 1}', expected=expected)
        assert (got["status"], got["expected"]) == ("passed", None)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("no", "no_json"),
        ("[" * 300 + "]" * 300, "too_deep"),
        ("[" * 100_000, "too_deep"),
        ("[1e400]", "number_out_of_range"),
        ("[" + "1" * 5000 + "]", "integer_too_long"),
        (r'["\ud800"]', "lone_surrogate"),
        ("5", "scalar"),
    ],
)
def test_why_there_is_no_json_has_a_code(output: str, code: str) -> None:
    got = evaluation({"type": "valid_json"}, output=output)
    assert (got["status"], got["details"]["code"]) == ("failed", code)
    assert len(got["explanation"]) < 500


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({"schema": PERSON}, FENCED, PASSED),
        ({"schema": PERSON}, {"name": "Al", "age": -1}, FAILED),
        ({"schema": PERSON}, "no json", FAILED),
        ({"schema": PERSON, "extract": "whole"}, FENCED, FAILED),
        ({"schema": PERSON, "all_properties_required": True}, '{"name": "Al"}', FAILED),
        ({"schema": {"format": "email"}}, '"no mail"', FAILED),
        ({"schema": {"format": "email"}, "check_formats": False}, '"no mail"', PASSED),
        ({"schema": {"type": "null"}}, None, PASSED),
        ({"schema": {"properties": {"n": {"type": "integer", "example": 3}}}}, '{"n": 1}', PASSED),
        ({"schema": {"type": "object", "required": ["tip"]}}, '````json\n{"tip": "``` marks"}\n````', PASSED),
        ({"schema": {"$ref": "https://schemas.example.com/x"}}, "{}", error("invalid_schema")),
        ({"schema": {"enum": ["x" * 70_000]}}, "{}", error("limit_exceeded")),
    ],
)
def test_json_schema(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "json_schema", **params}, output=output) == want


def test_json_schema_shows_what_was_found_and_every_place_that_does_not_fit() -> None:
    got = evaluation({"type": "json_schema", "schema": PERSON}, output='{"age": "3"}')
    assert got["actual"] == {"age": "3"}
    assert got["details"]["code"] == "schema"
    assert {(fault["path"], fault["keyword"]) for fault in got["details"]["faults"]} == {
        ("$", "required"),
        ("$.age", "type"),
    }


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({"keys": {"name": "string", "age": "number"}}, '{"name": "A", "age": 3}', PASSED),
        ({"keys": {"name": "string", "age": "number"}}, FENCED, PASSED),
        ({"keys": {"name": "string", "age": "number"}}, '{"name": "A", "age": "3"}', FAILED),
        ({"keys": {"name": "string", "age": "number"}}, '{"name": "A", "age": true}', FAILED),
        ({"keys": {"name": "string"}}, '{"name": null}', FAILED),
        ({"keys": {"name": "string"}, "check": "keys"}, '{"name": null}', PASSED),
        ({"keys": {"name": "string"}, "check": "keys"}, "[]", FAILED),
        ({"keys": {"user": {"address": {"city": "string"}}}}, {"user": {"address": {}}}, FAILED),
        ({"keys": {"user": {"address": {"city": "string"}}}}, {"user": {"address": {"city": "B"}}}, PASSED),
        ({"keys": {"user": {"name": "string"}}}, '{"user": "A"}', FAILED),
        ({"keys": {"name": "strng"}}, "{}", error("invalid_params")),
        ({"keys": {"name": "string"}}, "name: A", FAILED),
        ({"keys": {"name": "string"}}, None, FAILED),
    ],
)
def test_json_keys(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "json_keys", **params}, output=output) == want


def test_json_keys_names_the_key_and_the_nearest_type() -> None:
    got = evaluation({"type": "json_keys", "keys": {"name": "strng"}}, output="{}")
    assert "string" in got["explanation"]
    missing = evaluation({"type": "json_keys", "keys": {"a": {"b": "number"}}}, output={"a": {}})
    assert "b" in missing["explanation"]


def test_a_negated_rule_says_what_was_not_allowed() -> None:
    got = evaluation({"type": "valid_json", "negate": True}, output='{"a": 1}')
    assert got["status"] == "failed"
    assert "valid JSON" in got["explanation"]
    assert "does not allow" in got["explanation"]
