"""string_comparison, numeric_comparison, exact_match."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging import evaluation, verdict

PASSED, FAILED = ("passed", 1.0, None), ("failed", 0.0, None)


def error(reason: str) -> tuple[str, None, str]:
    return "error", None, reason


@pytest.mark.parametrize(
    ("operator", "actual", "expected", "params", "want", "explanation"),
    [
        ("equals", "Jon", "Jon", {}, PASSED, "Jon = Jon"),
        ("equals", "alice", "bob", {}, FAILED, "alice ≠ bob"),
        ("equals", "Jon", "jon", {"case_sensitive": False}, PASSED, "Jon = jon"),
        ("equals", "Jon", "jon", {}, FAILED, "case"),
        ("equals", " Jon", "Jon", {}, FAILED, "white space"),
        ("equals", " Jon", "Jon", {"trim": True}, PASSED, ""),
        ("equals", "cafe\u0301", "café", {}, FAILED, "nfc"),
        ("equals", "cafe\u0301", "café", {"normalize": ["nfc"]}, PASSED, ""),
        ("equals", 2500, "2500", {}, PASSED, "2500 = 2500"),
        ("equals", 10.0, "10", {}, FAILED, "10.0 ≠ 10"),
        ("equals", True, "true", {}, PASSED, "true = true"),
        ("equals", "", "", {}, PASSED, ""),
        ("equals", "x", None, {}, ("no_data", None, "missing_expected"), ""),
        ("contains", "Re: project plan", "project", {}, PASSED, "text contains 'project'"),
        ("contains", "plan", "project", {}, FAILED, "text does not contain 'project'"),
        ("contains", "abc", "", {}, error("invalid_params"), ""),
        ("contains", "abc", "  ", {"trim": True}, error("invalid_params"), ""),
        ("startswith", "001ABC", "001", {}, PASSED, "text starts with '001'"),
        ("startswith", "1ABC", "001", {}, FAILED, "text does not start with '001'"),
        ("endswith", "alice@example.com", ".com", {}, PASSED, "text ends with '.com'"),
        ("endswith", "x", "", {}, error("invalid_params"), ""),
        ("equals", ["a"], "a", {}, FAILED, "[*]"),
        ("equals", {"a": 1}, "a", {}, FAILED, "[*]"),
        ("equals", "a", ["a"], {}, error("invalid_params"), ""),
        ("equals", None, "a", {}, ("no_data", None, "null_value"), ""),
    ],
)
def test_string_comparison(
    operator: str, actual: Any, expected: Any, params: dict[str, Any], want: Any, explanation: str
) -> None:
    rule = {"type": "string_comparison", "operator": operator, "actual": actual, "expected": expected, **params}
    got = evaluation(rule)
    assert (got["status"], got["score"], got["reason"]) == want
    assert explanation in got["explanation"]


@pytest.mark.parametrize(
    ("operator", "actual", "expected", "params", "want", "explanation"),
    [
        ("less_than", 2500, 10000, {}, PASSED, "2500 < 10000"),
        ("less_than", 15, 10, {}, FAILED, "15 ≥ 10"),
        ("less_than", 2500, "10000", {}, PASSED, "2500 < 10000"),
        ("less_than", 2500, " 10000 ", {}, PASSED, ""),
        ("less_than_or_equal", 10, 10.0, {}, PASSED, "10 ≤ 10.0"),
        ("less_than_or_equal", 11, 10, {}, FAILED, "11 > 10"),
        ("greater_than", 11, 10, {}, PASSED, "11 > 10"),
        ("greater_than", 10, 10, {}, FAILED, "10 ≤ 10"),
        ("greater_than_or_equal", 10, 10, {}, PASSED, "10 ≥ 10"),
        ("greater_than_or_equal", 9, 10, {}, FAILED, "9 < 10"),
        ("equals", 10, 10.0, {}, PASSED, "10 = 10.0"),
        ("equals", 9007199254740992, "9007199254740993", {}, FAILED, "≠"),
        ("equals", 10**300, 10**300, {}, PASSED, ""),
        ("less_than", 10**400, 1.5, {}, FAILED, "≥"),
        ("equals", 0.1 + 0.2, 0.3, {}, FAILED, ""),
        ("equals", 0.1 + 0.2, 0.3, {"tolerance": 1e-9}, PASSED, "tolerance"),
        ("equals", 1.5, 1, {"tolerance": 0.5}, PASSED, ""),
        ("equals", 1e308, -1e308, {"tolerance": 1e300}, FAILED, ""),
        ("less_than", 1, 2, {"tolerance": 0.1}, error("invalid_params"), ""),
        ("equals", "2500", 2500, {}, FAILED, "2500 is a text, not a number (parse_text"),
        ("equals", "2500", 2500, {"parse_text": True}, PASSED, "2500 = 2500"),
        ("equals", "many", 2500, {"parse_text": True}, FAILED, "not a number"),
        ("equals", True, 1, {}, FAILED, "true is a boolean, not a number"),
        ("equals", [1], 1, {}, FAILED, "[*]"),
        ("equals", 1, "abc", {}, error("invalid_params"), "abc"),
        ("equals", 1, "", {}, error("invalid_params"), ""),
        ("equals", 1, "1_000", {}, error("invalid_params"), ""),
        ("equals", 1, "٣", {}, error("invalid_params"), ""),
        ("equals", 1, "NaN", {}, error("invalid_params"), ""),
        ("equals", 1, "1e400", {}, error("invalid_params"), ""),
        ("equals", 1, True, {}, error("invalid_params"), ""),
        ("equals", None, 1, {}, ("no_data", None, "null_value"), ""),
    ],
)
def test_numeric_comparison(
    operator: str, actual: Any, expected: Any, params: dict[str, Any], want: Any, explanation: str
) -> None:
    rule = {"type": "numeric_comparison", "operator": operator, "actual": actual, "expected": expected, **params}
    got = evaluation(rule)
    assert (got["status"], got["score"], got["reason"]) == want
    assert explanation in got["explanation"]


def test_why_a_comparison_failed_has_a_code() -> None:
    rule = {"type": "numeric_comparison", "operator": "equals", "expected": 1}
    assert evaluation(rule, output="1")["details"] == {"code": "not_a_number"}


@pytest.mark.parametrize(
    ("output", "expected", "params", "want"),
    [
        ("a", "a", {}, PASSED),
        ("a", "A", {}, FAILED),
        ("a", "A", {"case_sensitive": False}, PASSED),
        (" YES\n", "YES", {"trim": True}, PASSED),
        ("YES.", "YES", {}, FAILED),
        ('{"a":1}', '{"a": 1}', {}, FAILED),
        ({"a": 1}, '{"a": 1}', {}, PASSED),
        ({"x": 1, "y": 2}, '{"y":2,"x":1}', {}, PASSED),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, {}, PASSED),
        ({"a": 1}, "not json", {}, FAILED),
        (7, "7", {}, PASSED),
        (7.0, "7", {}, FAILED),
        (1, 1.0, {}, PASSED),
        (10**16, 1e16, {}, PASSED),
        ([2.0, 3], [2, 3], {}, PASSED),
        (True, 1, {}, FAILED),
        (False, 0, {}, FAILED),
        (True, "true", {}, FAILED),
        (True, "True", {}, FAILED),
        (None, None, {}, PASSED),
        (None, "None", {}, FAILED),
        (None, "null", {}, FAILED),
        (5, [5], {}, FAILED),
        ([True], True, {}, FAILED),
        ([], {}, {}, FAILED),
        ({"a": None}, {}, {}, FAILED),
        ("south north", "north south", {"normalize": ["punctuation", "whitespace"], "case_sensitive": False}, FAILED),
        ("(2.75)", "2.75", {"normalize": ["punctuation"]}, PASSED),
        ("ﬁne", "fine", {"normalize": ["nfkc"]}, PASSED),
        ("a  b\n", "a b", {"normalize": ["whitespace"]}, PASSED),
    ],
)
def test_exact_match(output: Any, expected: Any, params: dict[str, Any], want: Any) -> None:
    assert verdict({"type": "exact_match", **params}, output=output, expected=expected) == want


@pytest.mark.parametrize(
    ("output", "expected", "says"),
    [
        (True, "true", "true (a boolean) ≠ true (a text)"),
        (None, "null", "null (null) ≠ null (a text)"),
        ("a", "b", "a ≠ b"),
        ("A", "a", "case_sensitive"),
    ],
)
def test_values_that_look_alike_are_told_apart(output: Any, expected: Any, says: str) -> None:
    assert says in evaluation({"type": "exact_match"}, output=output, expected=expected)["explanation"]


def test_an_explanation_names_the_first_place_that_differs() -> None:
    got = evaluation({"type": "exact_match"}, output={"a": [1, {"b": 2}]}, expected={"a": [1, {"b": 3}]})
    assert "/a/1/b: 2 ≠ 3" in got["explanation"]


def test_the_rules_expected_wins_over_the_items() -> None:
    assert verdict({"type": "exact_match", "expected": "a"}, output="a", expected="b") == PASSED
    assert verdict({"type": "exact_match", "expected": None}, output=None, expected="b") == PASSED


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
OPPOSITES = {"less_than": "greater_than_or_equal", "less_than_or_equal": "greater_than"}


@given(NUMBERS, NUMBERS, st.sampled_from(sorted(OPPOSITES)))
def test_an_operator_holds_where_its_opposite_does_not(one: Any, other: Any, operator: str) -> None:
    rule = {"type": "numeric_comparison", "actual": one, "expected": other}
    holds = verdict(rule | {"operator": operator})
    assert holds in (PASSED, FAILED)
    assert verdict(rule | {"operator": OPPOSITES[operator]}) == (FAILED if holds == PASSED else PASSED)
    assert verdict(rule | {"operator": OPPOSITES[operator], "negate": True}) == holds


JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)


@given(JSON, JSON)
def test_exact_match_is_reflexive_and_symmetric(one: Any, other: Any) -> None:
    rule = {"type": "exact_match"}
    assert verdict(rule, output=one, expected=one) == PASSED
    assert verdict(rule, output=one, expected=other) == verdict(rule, output=other, expected=one)
