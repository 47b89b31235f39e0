"""levenshtein, numeric_diff, json_diff, list_contains."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging import evaluation, verdict


def score(kind: str, output: Any, expected: Any, **params: Any) -> Any:
    got = evaluation({"type": kind, **params}, output=output, expected=expected)
    return got["reason"] if got["score"] is None else got["score"]


@pytest.mark.parametrize(
    ("output", "expected", "want"),
    [
        ("kitten", "sitting", 1 - 3 / 7),
        ("", "", 1),
        ("", "abc", 0),
        ("abc", "abc", 1),
        ("café", "cafe\u0301", 0.6),
        (True, "true", 1),
        (1.0, "1.0", 1),
        ({"k": "v"}, '{"k": "v"}', 1),
        (None, "None", "null_value"),
        ("x", None, "missing_expected"),
    ],
)
def test_levenshtein(output: Any, expected: Any, want: Any) -> None:
    assert score("levenshtein", output, expected) == pytest.approx(want)


def test_levenshtein_normalises_only_when_asked_and_says_so() -> None:
    assert score("levenshtein", "café", "cafe\u0301", normalize=["nfc"]) == 1
    assert evaluation({"type": "levenshtein"}, output="a", expected="b")["details"] == {"normalize": []}


@pytest.mark.parametrize(
    ("output", "expected", "want"),
    [
        (105, 100, 1 - 5 / 205),
        (0, 0, 1),
        (0, -0.0, 1),
        (0, 1, 0),
        (5, -5, 0),
        (2, 1, 2 / 3),
        ("12", 12, 1),
        (10, " 8 ", 8 / 9),
        (1.5e308, 1e308, 0.8),
        (1e308, -1e308, 0),
        (10**99, 2.5, 0),
        (10**400, 10**400, 1),
        (True, 1, "invalid_type"),
        ("twelve", 12, "invalid_type"),
        ("12", "twelve", "invalid_type"),
        ([3], 3, "invalid_type"),
        (None, 3, "null_value"),
        (3, None, "missing_expected"),
    ],
)
def test_numeric_diff(output: Any, expected: Any, want: Any) -> None:
    assert score("numeric_diff", output, expected) == pytest.approx(want)


@pytest.mark.parametrize(
    ("output", "expected", "params", "want"),
    [
        ({"a": 1}, {"a": 1}, {}, 1),
        ({"a": 1}, '{"a": 1}', {}, 1),
        ({"a": "1"}, {"a": 1}, {}, 1 - 2 / 3),
        ({"a": None}, {}, {}, 1),
        ({"a": None}, {}, {"missing_is_null": False}, 0),
        ({"v": True}, {"v": 1}, {}, 0),
        ({"v": True}, {"v": False}, {}, 0),
        ({"v": True}, {"v": True}, {}, 1),
        ({"v": "øø"}, {"v": ["øø"]}, {}, 2 / 3),
        ([1, 2], [1], {}, 0.5),
        ([], [], {}, 1),
        ({}, {}, {}, 1),
        (None, None, {}, 1),
        (None, {"a": 1}, {}, 0),
        ({"a": "kitten"}, {"a": "sitting"}, {}, 1 - 3 / 7),
        ({"a": "kitten"}, {"a": "sitting"}, {"string_scorer": "exact_match"}, 0),
        ({"a": 2}, {"a": 1}, {"number_scorer": "exact_match"}, 0),
        ({"a": "abc"}, {"a": "abc"}, {"string_scorer": "numeric_diff"}, 1),
        ({"a": "10"}, {"a": "8"}, {"string_scorer": "numeric_diff"}, 8 / 9),
        ({"a": '{"b": 1}'}, {"a": {"b": 1}}, {}, 1),
        ({"a": '{"b": 1}'}, {"a": '{"b":1}'}, {"preserve_strings": True}, 0.875),
    ],
)
def test_json_diff(output: Any, expected: Any, params: dict[str, Any], want: Any) -> None:
    assert score("json_diff", output, expected, **params) == pytest.approx(want)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("```json\n{}\n```", "1 difference at the root; the text under test is no JSON"),
        ({"a": 2, "b": 2}, "2 differences, the first at /a"),
    ],
)
def test_json_diff_says_how_many_and_where(output: Any, says: str) -> None:
    assert says in evaluation({"type": "json_diff"}, output=output, expected={"a": 1, "b": 1})["explanation"]


def test_json_diff_lists_places_and_tells_null_from_missing() -> None:
    got = evaluation({"type": "json_diff"}, output={"a": None, "b": 1}, expected={"b": 2, "c": 3})
    places = {one["pointer"]: one for one in got["details"]["differences"]}
    assert set(places) == {"/a", "/b", "/c"}
    assert "expected" not in places["/a"]
    assert places["/a"]["output"] is None
    assert "output" not in places["/c"]
    assert (places["/b"]["output"], places["/b"]["expected"]) == (1, 2)


@pytest.mark.parametrize(
    ("output", "expected", "params", "want"),
    [
        (["a", "b"], ["b", "a"], {}, 1),
        (["table"], ["cable"], {}, 0.8),
        (["a", "a"], ["a"], {}, 0.5),
        (["a", "a"], ["a"], {"allow_extra_entities": True}, 1),
        ([], [], {}, 1),
        ([], ["a"], {}, 0),
        (["fig"], [], {}, 0),
        (["fig"], [], {"allow_extra_entities": True}, 1),
        (["fig"], [None], {}, 0),
        ([None, "fig"], ["fig", None], {}, 1),
        (["7", "x"], [7, "x"], {"pairwise_scorer": "numeric_diff"}, 1),
        ([True, [1]], [1, [True]], {"pairwise_scorer": "numeric_diff"}, 0),
        ([{"k": "v"}], ['{"k": "v"}'], {}, 1),
        ([{"sku": 3}, {}], [{"sku": 3}], {"pairwise_scorer": "exact_match"}, 0.5),
        ([{"a": 1, "b": 2}], [{"b": 2, "a": 1}], {"pairwise_scorer": "json_diff"}, 1),
        ('["a"]', ["a"], {}, 1),
        ("abc", "abd", {}, "invalid_type"),
        ({"a": 1}, ["a"], {}, "invalid_type"),
        (5, ["fig"], {}, "invalid_type"),
        (["a"], "b", {}, "invalid_type"),
        (None, ["fig"], {}, "null_value"),
        (["fig"], None, {}, "missing_expected"),
    ],
)
def test_list_contains(output: Any, expected: Any, params: dict[str, Any], want: Any) -> None:
    assert score("list_contains", output, expected, **params) == pytest.approx(want)


def test_list_contains_pairs_for_the_greatest_sum_not_greedily() -> None:
    got = evaluation({"type": "list_contains"}, output=["ab", "abc"], expected=["abc", "abd"])
    assert got["score"] == pytest.approx((1 + 2 / 3) / 2)
    assert sorted(got["details"]["pairs"]) == [["ab", "abd", pytest.approx(2 / 3)], ["abc", "abc", 1.0]]


LISTS = st.lists(st.text(max_size=4), max_size=5)


@given(LISTS, LISTS, st.randoms())
def test_list_contains_does_not_see_the_order(output: list[str], expected: list[str], random: Any) -> None:
    mixed = random.sample(output, len(output)), random.sample(expected, len(expected))
    assert score("list_contains", *mixed) == pytest.approx(score("list_contains", output, expected))


@given(LISTS, LISTS)
def test_list_contains_never_leaves_its_range_and_knows_itself(output: list[str], expected: list[str]) -> None:
    assert 0 <= score("list_contains", output, expected) <= 1
    assert score("list_contains", output, output) == 1


EMPTY: list[Any] = ["", " ", "\n"]


@pytest.mark.parametrize("kind", ["exact_match", "levenshtein", "json_diff"])
@pytest.mark.parametrize("output", EMPTY)
@pytest.mark.parametrize("expected", EMPTY)
def test_blank_texts_are_texts(kind: str, output: str, expected: str) -> None:
    status, got, _ = verdict({"type": kind}, output=output, expected=expected)
    assert got == (1.0 if output == expected else 0.0 if kind == "exact_match" or "" in (output, expected) else got)
    assert status in ("passed", "failed")
