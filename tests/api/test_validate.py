"""POST /v1/evaluations/validate: nothing is run, everything is looked at."""

import json
from typing import Any

import httpx
import pytest

GOOD = {"type": "contains", "expected": "a"}


def validate(client: httpx.Client, body: Any) -> dict[str, Any]:
    headers = {"content-type": "application/json"}
    answer = client.post("/v1/evaluations/validate", content=json.dumps(body), headers=headers)
    assert answer.status_code == 200
    return answer.json()  # type: ignore[no-any-return]


def test_a_sound_batch_is_valid_and_counted(client: httpx.Client) -> None:
    items = [{"output": "a"}, {"evaluators": [GOOD]}]
    assert validate(client, {"items": items, "evaluators": [GOOD, GOOD | {"active": False}]}) == {
        "valid": True,
        "errors": [],
        "warnings": [],
        "cost": {"evaluations": 5, "texts": 0, "judge_calls": 0},
    }


@pytest.mark.parametrize(
    "body", [None, 5, "text", [], {}, {"items": []}, {"items": [{"x": 1}], "evaluators": [{"type": "n"}]}]
)
def test_json_of_any_shape_is_answered(client: httpx.Client, body: Any) -> None:
    got = validate(client, body)
    assert not got["valid"]
    assert got["errors"]


def test_what_is_no_json_is_400(client: httpx.Client) -> None:
    headers = {"content-type": "application/json"}
    assert client.post("/v1/evaluations/validate", content=b"{", headers=headers).status_code == 400


@pytest.mark.parametrize(
    ("rule", "faults"),
    [
        ({"type": "regex", "pattern": "("}, [("/evaluators/0/pattern", "invalid_pattern")]),
        (
            {"type": "regex", "pattern": "(", "path": "$["},
            [("/evaluators/0/path", "invalid_path"), ("/evaluators/0/pattern", "invalid_pattern")],
        ),
        ({"type": "json_schema", "schema": {"type": "objekt"}}, [("/evaluators/0/schema", "invalid_schema")]),
        ({"type": "length", "min": 2, "max": 1}, [("/evaluators/0", "invalid_params")]),
        ({"type": "keywords", "keywords": " , "}, [("/evaluators/0", "invalid_params")]),
        ({"type": "contains"}, [("/evaluators/0", "invalid_params")]),
        ({"type": "contains", "expected": "{{nobody}}"}, [("/evaluators/0", "unknown_variable")]),
        ({"type": "regex", "pattern": "x" * 1001}, [("/evaluators/0", "limit_exceeded")]),
        ({"type": "string_comparison", "operator": "equals", "actual": "a", "path": "$.a", "expected": "a"},
         [("/evaluators/0", "invalid_params")]),
        ({"type": "regex", "pattern": "(", "active": False}, []),
    ],
)  # fmt: skip
def test_what_shows_only_by_compiling_is_found(
    client: httpx.Client, rule: dict[str, Any], faults: list[tuple[str, str]]
) -> None:
    got = validate(client, {"items": [{"output": {"a": "x"}, "expected": ""}], "evaluators": [rule]})
    assert [(fault["pointer"], fault["code"]) for fault in got["errors"]] == faults
    assert got["valid"] is (not faults)


@pytest.mark.parametrize(
    ("rule", "pointer", "code"),
    [
        (GOOD | {"path": "$.nowhere"}, "/evaluators/0/path", "path_selects_nothing"),
        (GOOD | {"threshold": 0.8}, "/evaluators/0/threshold", "threshold_ignored"),
        ({"type": "levenshtein"}, "/evaluators/0/expected", "nothing_to_compare"),
    ],
)
def test_what_looks_odd_is_a_warning(client: httpx.Client, rule: dict[str, Any], pointer: str, code: str) -> None:
    got = validate(client, {"items": [{"output": {"a": 1}}, {"output": "x"}], "evaluators": [rule]})
    assert (got["valid"], [(one["pointer"], one["code"]) for one in got["warnings"]]) == (True, [(pointer, code)])


def test_what_nobody_reads_is_a_warning(client: httpx.Client) -> None:
    item = {"output": "a", "grades": {"contains": {"score": 1}}, "replies": {"contains": []}}
    got = validate(client, {"items": [item], "evaluators": [GOOD], "vectors": {"a": [1]}})
    assert {one["pointer"] for one in got["warnings"]} == {
        "/vectors/a",
        "/items/0/grades/contains",
        "/items/0/replies/contains",
    }


def test_a_path_that_selects_something_somewhere_is_fine(client: httpx.Client) -> None:
    items = [{"output": {}}, {"output": '{"a": 1}'}]
    assert validate(client, {"items": items, "evaluators": [GOOD | {"path": "$.a"}]})["warnings"] == []


def test_all_faults_of_the_request_are_listed_together(client: httpx.Client) -> None:
    items = [{"id": "x"}, {"id": "x", "grades": {"k" * 10_000: {"score": 1}}}]
    answer = client.post(
        "/v1/evaluations", json={"items": items, "evaluators": [GOOD | {"id": "r"}] * 2, "deadline_ms": 700_000}
    )
    faults = {fault["pointer"]: fault["code"] for fault in answer.json()["errors"]}
    (cut,) = [pointer for pointer in faults if pointer.startswith("/items/1/grades/")]
    assert len(answer.content) < 3_000
    assert faults == {
        "/deadline_ms": "limit_exceeded",
        "/items/1/id": "duplicate_id",
        "/evaluators/1/id": "duplicate_id",
        cut: "unknown_id",
    }
