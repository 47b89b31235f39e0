"""How near two JSON documents are, and where they differ."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.diff import MAX_DIFFERENCES, Comparison, compare
from service.primitives.distance import closeness, levenshtein_similarity
from service.primitives.jsontext import render
from tests.primitives.json_values import CONTAINERS, HOSTILE_TEXTS, VALUES, nested, reordered


def compared(output: Any, expected: Any, **options: Any) -> Comparison:
    return compare(
        output,
        expected,
        text_score=options.get("text_score", levenshtein_similarity),
        number_score=options.get("number_score", closeness),
        preserve_strings=options.get("preserve_strings", False),
        missing_is_null=options.get("missing_is_null", True),
    )


def same_text(one: str, other: str) -> float:
    return float(one == other)


@pytest.mark.parametrize(
    ("output", "expected", "score"),
    [
        ({"sku": "A-17", "qty": 4}, {"qty": 4, "sku": "A-17"}, 1),
        ({"sku": "A-17", "qty": 4}, {"sku": "A-17", "qty": 5}, (1 + 8 / 9) / 2),
        ({"sku": "A-71"}, {"sku": "A-17"}, 0.5),
        ({"a": 1, "b": 2}, {"a": 1}, 0.5),
        ({"a": 1}, {"a": 1, "b": 2, "c": 3}, 1 / 3),
        ({}, {}, 1),
        ([], [], 1),
        ({}, {"a": 1}, 0),
        ([], [1], 0),
        ({}, [], 0),
        ([1, 2, 3, 4], [1, 2], 0.5),
        (["x", "a", "b"], ["a", "b"], 0),
        ([None], [], 0),
        ({"l1": {"l2": {"v": "abc"}}}, {"l1": {"l2": {"v": "abd"}}}, 2 / 3),
        ([{"id": 1, "n": "Ann"}, {"id": 2, "n": "Bob"}], [{"id": 1, "n": "Anne"}, {"id": 3, "n": "Bob"}], 0.8875),
        ({"a": None}, {"a": 0}, 0),
        ({"a": ""}, {"a": None}, 0),
        ({"a": None}, {"a": None}, 1),
        ({"a": 1, "b": None}, {"a": 1}, 1),
        ({"v": 8}, {"v": "8"}, 1 / 3),
        ({"v": 12345}, {"v": "12345"}, 5 / 7),
        ({"v": False}, {"v": "false"}, 5 / 7),
        ({"v": {"a": 1}}, {"v": 1}, 1 / 7),
        ({"v": -3}, {"v": 3}, 0),
        ({"v": 0}, {"v": 0.0}, 1),
        ({"args": '{"q":"tea","n":2}'}, {"args": {"q": "tea", "n": 2}}, 1),
        (' [1, "[2]"] ', [1, [2]], 1),
        ("17", "18", 0.5),
        ("kitten", "sitting", 4 / 7),
        (None, {"a": 1}, 0),
        ('{"a":1', {"a": 1}, 0.6),
        ('{"a":NaN}', '{"a":NaN}', 1),
        ({"a": ""}, {"a": "xyz"}, 0),
        ({"Name": "x"}, {"name": "x"}, 0),
        ({"v": True}, {"v": True}, 1),
        ({"v": True}, {"v": False}, 0),
        ({"v": True}, {"v": 1}, 0),
        ({"v": True}, {"v": 2}, 0),
        ({"v": False}, {"v": 0}, 0),
        ({"v": "øø"}, {"v": ["øø"]}, 2 / 3),
    ],
    ids=lambda case: repr(case)[:40],
)
def test_score(output: Any, expected: Any, score: float) -> None:
    assert compared(output, expected).score == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("output", "expected", "options", "score"),
    [
        ('{"a":1}', {"a": 1}, {"preserve_strings": True}, 7 / 11),
        ('{"a":1}', '{"a": 1}', {"preserve_strings": True}, 7 / 8),
        ({"a": "cat", "b": "dog"}, {"a": "cat", "b": "dot"}, {"text_score": same_text}, 0.5),
        ({"a": 10, "b": 2}, {"a": 11, "b": 2}, {"number_score": lambda one, other: float(one == other)}, 0.5),
        ({"a": 1, "b": None}, {"a": 1}, {"missing_is_null": False}, 0.5),
        ({"a": 1}, {"a": 1, "b": None}, {"missing_is_null": False}, 0.5),
        ({"a": 1}, {"a": 1, "b": 2}, {"missing_is_null": False}, 0.5),
    ],
    ids=lambda case: repr(case)[:40],
)
def test_options(output: Any, expected: Any, options: dict[str, Any], score: float) -> None:
    assert compared(output, expected, **options).score == pytest.approx(score)


def test_a_leaf_without_a_score_is_left_out_alike_of_arrays_and_objects() -> None:
    def unsure(one: str, other: str) -> float | None:
        return None if "unsure" in (one, other) else same_text(one, other)

    assert compared(["unsure", "match"], ["unsure", "match"], text_score=unsure).score == 1
    assert compared({"a": "unsure", "b": "match"}, {"a": "unsure", "b": "x"}, text_score=unsure).score == 0
    assert compared(["unsure", "a", "b"], ["x", "a", "c"], text_score=unsure).score == 0.5
    assert compared([["unsure"], "a"], [["x"], "b"], text_score=unsure).score == 0


def test_differences_tell_absent_from_null_in_the_order_of_the_output() -> None:
    output = {"z": {"x": 1, "y": [1, 2, 3]}, "b": None, "s": '{"q":[1]}', "t": True, "same": "a"}
    expected = {"same": "a", "c": None, "t": 1, "s": {"q": [2]}, "z": {"x": 2, "y": [1, 2]}, "a/~": "q"}
    places = [
        {key: value for key, value in difference.items() if key != "score"}
        for difference in compared(output, expected).differences
    ]
    assert places == [
        {"pointer": "/z/x", "output": 1, "expected": 2},
        {"pointer": "/z/y/2", "output": 3},
        {"pointer": "/b", "output": None},
        {"pointer": "/s/q/0", "output": 1, "expected": 2},
        {"pointer": "/t", "output": True, "expected": 1},
        {"pointer": "/c", "expected": None},
        {"pointer": "/a~1~0", "expected": "q"},
    ]


def test_differences_beyond_a_hundred_are_counted() -> None:
    comparison = compared(list(range(1, 301)), list(range(300)))
    assert len(comparison.differences) == MAX_DIFFERENCES
    assert comparison.total == 300


@pytest.mark.parametrize("key", [None, "k"])
def test_nests_as_deep_as_any_json(key: str | None) -> None:
    assert compared(nested(200, 1, key), nested(200, 2, key)).score == pytest.approx(2 / 3)


def test_many_leaves_score_the_same_in_any_order() -> None:
    pairs = {f"k{i}": (i, i + 0.1 * (i % 7)) for i in range(1, 40)}
    scores = {
        compared({key: pairs[key][0] for key in keys}, {key: pair[1] for key, pair in pairs.items()}).score
        for keys in (sorted(pairs), sorted(pairs, reverse=True), sorted(pairs, key=lambda key: key[::-1]))
    }
    assert len(scores) == 1


@given(VALUES)
def test_a_value_is_as_near_to_itself_as_can_be(value: Any) -> None:
    for same in (value, reordered(value)):
        assert compared(value, same, missing_is_null=False) == (1.0, [], 0)


@given(VALUES, VALUES, st.booleans(), st.booleans())
def test_scores_stay_in_range_and_ignore_key_order(one: Any, other: Any, preserve: bool, missing: bool) -> None:
    options = {"preserve_strings": preserve, "missing_is_null": missing}
    comparison = compared(one, other, **options)
    assert 0 <= comparison.score <= 1
    assert comparison.score == compared(reordered(one), reordered(other), **options).score
    assert comparison.score == pytest.approx(compared(other, one, **options).score)
    assert (comparison.total == 0) <= (comparison.score == 1)


@given(CONTAINERS)
def test_a_container_is_its_text(value: Any) -> None:
    assert compared(value, render(value)).score == 1


@given(HOSTILE_TEXTS, VALUES)
def test_any_text_compares_with_any_value(text: str, value: Any) -> None:
    assert 0 <= compared({"a": text}, {"a": value}).score <= 1
