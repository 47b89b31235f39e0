"""What every rule has: path, from, values, negate, threshold, weight, variables, templates."""

from typing import Any

import pytest

from service.catalogue import BY_TYPE
from tests.judging import evaluation, results, verdict

PASSED, FAILED = ("passed", 1.0, None), ("failed", 0.0, None)
IS_X = {"type": "string_comparison", "operator": "equals", "expected": "x"}


@pytest.mark.parametrize(
    ("params", "output", "want", "actual"),
    [
        ({"path": "$.a"}, {"a": "x"}, PASSED, "x"),
        ({"path": "$.a"}, '{"a": "x"}', PASSED, "x"),
        ({"path": "$.a"}, 'Sure:\n```json\n{"a": "x"}\n```', PASSED, "x"),
        ({"path": "$.a"}, "no json", ("no_data", None, "no_match"), None),
        ({"path": "$.b"}, {"a": "x"}, ("no_data", None, "no_match"), None),
        ({"path": "$.b", "on_no_match": "fail"}, {"a": "x"}, FAILED, None),
        ({"path": "$.b", "on_no_match": "pass"}, {"a": "x"}, PASSED, None),
        ({"path": "$.b", "on_no_match": "pass", "negate": True}, {"a": "x"}, PASSED, None),
        ({"path": "$[*]"}, ["x", "x"], PASSED, ["x", "x"]),
        ({"path": "$[*]"}, ["x", "y"], FAILED, ["x", "y"]),
        ({"path": "$[*]", "values": "any"}, ["y", "x"], PASSED, ["y", "x"]),
        ({"path": "$[*]", "values": "first"}, ["x", "y"], PASSED, "x"),
        ({"path": "$[*]", "values": "any"}, [None, "x"], PASSED, [None, "x"]),
        ({"path": "$[*]"}, ["x", None], FAILED, ["x", None]),
        ({"path": "$[*]"}, [None, None], ("no_data", None, "null_value"), [None, None]),
        ({"path": "$.a"}, {"a": None}, ("no_data", None, "null_value"), None),
        ({"path": "$[*]", "negate": True}, ["y", "z"], PASSED, ["y", "z"]),
        ({"path": "$[*]", "negate": True}, ["y", "x"], FAILED, ["y", "x"]),
        ({"path": "$[*]", "negate": True}, ["y", None], FAILED, ["y", None]),
        ({"path": "$[*]", "negate": True, "values": "any"}, ["x", "y"], PASSED, ["x", "y"]),
        ({"path": "$["}, {"a": 1}, ("error", None, "invalid_path"), None),
        ({"path": "$.a", "actual": "x"}, {"a": "x"}, ("error", None, "invalid_params"), None),
        ({"path": "$.a"}, None, ("no_data", None, "null_value"), None),
    ],
)
def test_paths_and_values(params: dict[str, Any], output: Any, want: Any, actual: Any) -> None:
    got = evaluation(IS_X | params, output=output)
    assert (got["status"], got["score"], got["reason"]) == want
    assert got["actual"] == actual


@pytest.mark.parametrize(
    ("source", "item", "want"),
    [
        ("input", {"input": "x"}, PASSED),
        ("context", {"context": "x"}, PASSED),
        ("expected", {"expected": "x"}, PASSED),
        ("input", {"output": "x"}, ("no_data", None, "missing_input")),
        ("context", {"output": "x"}, ("no_data", None, "missing_context")),
        ("context", {"context": None}, ("no_data", None, "missing_context")),
        ("metadata", {"output": "x"}, ("no_data", None, "missing_metadata")),
        ("output", {"input": "x"}, ("no_data", None, "no_output")),
    ],
)
def test_the_tested_part_of_the_item(source: str, item: dict[str, Any], want: Any) -> None:
    assert verdict(IS_X | {"from": source}, **item) == want


def test_a_path_reads_the_part_that_is_named() -> None:
    assert (
        verdict(IS_X | {"from": "metadata", "path": "$.trace[0].tool"}, metadata={"trace": [{"tool": "x"}]}) == PASSED
    )
    assert verdict(IS_X | {"from": "context", "path": "$[1]"}, context=["y", "x"]) == PASSED


@pytest.mark.parametrize(
    ("raw", "threshold", "negate", "status", "score"),
    [
        (0.75, 0.5, False, "passed", 0.75),
        (0.75, 0.75, False, "passed", 0.75),
        (0.75, 0.75 + 5e-10, False, "passed", 0.75),
        (0.75, 0.76, False, "failed", 0.75),
        (0.75, 0.8, True, "passed", 0.25),
        (0.75, 0.7, True, "failed", 0.25),
    ],
)
def test_thresholds_and_negation_of_graded_scorers(
    raw: float, threshold: float, negate: bool, status: str, score: float
) -> None:
    rule = {"type": "levenshtein", "expected": "abcd", "threshold": threshold, "negate": negate}
    got = evaluation(rule, output="abcx")
    assert (got["status"], got["score"]) == (status, pytest.approx(score))
    assert got["details"].get("raw_score", raw) == raw


@pytest.mark.parametrize(("output", "status"), [("x", "failed"), ("y", "passed")])
def test_the_explanation_of_a_negated_rule_fits_its_verdict(output: str, status: str) -> None:
    got = evaluation(IS_X | {"negate": True}, output=output)
    assert got["status"] == status
    assert ("does not allow" in got["explanation"]) == (status == "failed")


@pytest.mark.parametrize(
    ("expected", "variables", "want"),
    [
        ("Dear {{name}}", {"name": "Ann"}, "Dear Ann"),
        ("{{ name }}{{name}}", {"name": "Ann"}, "AnnAnn"),
        ("{{n}}", {"n": 2.0}, "2.0"),
        ("{{n}}", {"n": {"a": [True, None]}}, '{"a": [true, null]}'),
        ("{{a}}", {"a": "{{b}}", "b": "no"}, "{{b}}"),
        ("{name} {{ }} {{a b}}", {}, "{name} {{ }} {{a b}}"),
        ("{{x.y}}", {"x.y": "dotted"}, "dotted"),
    ],
)
def test_variables_are_filled_once(expected: str, variables: dict[str, Any], want: str) -> None:
    rule = {"type": "exact_match", "expected": expected}
    assert verdict(rule, output=want, variables=variables) == PASSED


@pytest.mark.parametrize("name", ["x", "x.__class__", "0", "__globals__"])
def test_an_unknown_variable_is_an_error_that_names_it(name: str) -> None:
    got = evaluation({"type": "contains", "expected": f"a {{{{{name}}}}}"}, output="a", variables={"y": 1})
    assert (got["status"], got["reason"]) == ("error", "unknown_variable")
    assert name in got["explanation"]


def test_texts_inside_an_expected_object_are_filled_and_the_items_own_data_never() -> None:
    rule = {"type": "json_diff", "expected": {"to": ["{{name}}"]}}
    assert evaluation(rule, output={"to": ["Ann"]}, variables={"name": "Ann"})["score"] == 1
    assert verdict({"type": "exact_match"}, output="{{x}}", expected="{{x}}") == PASSED


def test_a_parameter_that_is_one_variable_keeps_its_type() -> None:
    rule = {"type": "numeric_comparison", "operator": "equals", "actual": "{{n}}", "expected": "{{ m }}"}
    assert verdict(rule, variables={"n": 15, "m": 15.0}) == PASSED
    assert verdict({"type": "exact_match", "expected": "{{a b}}"}, output=[1], variables={"a b": [1]}) == PASSED


def test_what_a_path_picks_in_many_places_is_judged_once_and_bounded() -> None:
    places = ",".join(["0"] * 400)
    got = evaluation(IS_X | {"path": f"$[{places}]"}, output=["x"])
    assert (got["status"], len(got["actual"])) == ("passed", 400)
    assert verdict(IS_X | {"path": f"$[{places}]"}, output=["x" * 3_000]) == ("error", None, "limit_exceeded")
    assert verdict(IS_X | {"path": "$[*]"}, output=["x"] * 10_001) == ("error", None, "limit_exceeded")


def test_the_value_that_decided_is_named_as_people_count() -> None:
    got = evaluation(IS_X | {"path": "$[*]"}, output=["x", "y", "x"])
    assert got["details"]["decided_by"] == 2
    assert got["explanation"].startswith("value 2 of 3")


@pytest.mark.parametrize("field", ["expected", "actual"])
def test_texts_of_a_rule_have_the_limit_of_texts(field: str) -> None:
    rule = {"type": "string_comparison", "operator": "equals", "actual": "a", "expected": "a", field: "x" * 1_000_001}
    assert verdict(rule) == ("error", None, "limit_exceeded")


def test_the_least_weight_still_weighs() -> None:
    rule = {"type": "levenshtein", "expected": "abcd", "weight": 5e-324}
    answer = results({"items": [{"output": "abcx"}], "evaluators": [rule, IS_X | {"active": False}]})
    assert answer["results"][0]["score"] == 0.75


def test_what_is_filled_in_may_not_grow_without_bound() -> None:
    rule = {"type": "contains", "expected": "{{x}}" * 2_000}
    assert verdict(rule, output="a", variables={"x": "y" * 1_000}) == ("error", None, "limit_exceeded")


def test_an_inactive_rule_is_skipped_whatever_is_wrong_with_it() -> None:
    assert verdict({"type": "regex", "pattern": "(", "active": False}, output="x") == ("skipped", None, None)


MINIMAL: dict[str, dict[str, Any]] = {
    "regex": {"pattern": "x"},
    "json_schema": {"schema": {}},
    "json_keys": {"keys": {"a": "any"}},
    "length": {"min": 1},
    "keywords": {"keywords": "x"},
    "string_comparison": {"operator": "equals"},
    "numeric_comparison": {"operator": "equals"},
    "llm": {"prompt_template": "{eval_output}"},
    "review": {"criteria": "good?"},
    "context_relevancy": {"from": "output"},
}
NULL_JUDGED = {"exact_match", "json_diff", "valid_json", "json_schema", "json_keys"}
NULL_EXPECTED = {"exact_match", "json_diff"}


UNANSWERED = (
    "model_unavailable",
    "judge_unavailable",
    "review",
    "missing_input",
    "missing_context",
    "missing_criteria",
)


@pytest.mark.parametrize("name", BY_TYPE)
def test_what_is_missing_and_what_is_null(name: str) -> None:
    rule = {"type": name, **MINIMAL.get(name, {})}
    compares = "expected" in BY_TYPE[name].__struct_fields__
    some = [1] if name == "list_contains" else 1
    assert verdict(rule, expected=some) == ("no_data", None, "no_output")
    null = evaluation(rule, output=None, expected=some)
    assert (null["reason"] == "null_value") == (name not in NULL_JUDGED)
    assert (null["status"] in ("passed", "failed")) == (name in NULL_JUDGED)
    if compares:
        assert verdict(rule, output=some) == ("no_data", None, "missing_expected")
        got = evaluation(rule, output=some, expected=None)
        assert (got["reason"] == "missing_expected") == (name not in NULL_EXPECTED)


@pytest.mark.parametrize("name", BY_TYPE)
def test_every_type_takes_every_common_parameter(name: str) -> None:
    common = {
        "id": "r", "label": "L", "active": True, "negate": True, "weight": 2, "threshold": 0.4, "path": "$.v[*]",
        "from": "output", "dialect": "rfc9535", "values": "any", "on_no_match": "fail", "template": False,
    }  # fmt: skip
    rule = {"type": name, **MINIMAL.get(name, {}), **common}
    answer = results({"items": [{"output": {"v": [[1]]}, "expected": [1]}], "evaluators": [rule]})
    got = answer["results"][0]["evaluations"][0]
    assert (got["evaluator"], got["label"]) == ("r", "L")
    assert got["reason"] in (None, "invalid_params", "invalid_type", *UNANSWERED)
