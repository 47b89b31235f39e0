"""Equality of JSON values, and of values that came as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.equality import equal, equal_as_values, first_difference
from service.primitives.jsontext import compact, decode, render
from tests.primitives.json_values import CONTAINERS, HOSTILE_TEXTS, VALUES, nested, reordered


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (10**16, 1e16, True),
        (2**53 + 1, float(2**53), False),
        (10**400, 10**400, True),
        (10**400, 1e300, False),
        (True, 1, False),
        (False, 0, False),
        (True, True, True),
        (None, None, True),
        (None, False, False),
        (None, {}, False),
        ("1", 1, False),
        ([], {}, False),
        ([2.0, 3], [2, 3], True),
        ([True, False], [1, 0], False),
        (["a", "b"], ["b", "a"], False),
        ([1], [1, 2], False),
        ({"a": None}, {}, False),
        ({"a": None}, {"b": None}, False),
        ({"r": [{"k": 1, "v": 2}]}, {"r": [{"v": 2, "k": 1}]}, True),
        ({"k": {"v": True}}, {"k": {"v": 1}}, False),
        ("é", "e\u0301", False),
    ],
    ids=lambda case: repr(case)[:30],
)
def test_equal(one: Any, other: Any, same: bool) -> None:
    assert equal(one, other) is same
    assert equal(other, one) is same
    assert (first_difference(one, other) is None) is same


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("Refund", "refund", False),
        ('{"a":1}', '{"a": 1}', False),
        ("3.5", 3.5, True),
        (42, "42", True),
        (42.0, "42", False),
        (7, "07", False),
        (True, "true", False),
        ("true", True, False),
        (None, "null", False),
        (None, "None", False),
        (False, "", False),
        ({"a": 1, "b": [2, 3]}, '{\n "b": [2, 3.0],\n "a": 1}', True),
        ('{"n": "\\u00c6r\\u00f8"}', {"n": "Ærø"}, True),
        ({"a": 1}, "a=1", False),
        ({"a": 1}, "{'a': 1}", False),
        ([], "", False),
        ([5], "5", False),
        ([5], " [5] ", True),
        (5, [5], False),
        ([True], True, False),
        (1, True, False),
        (None, None, True),
    ],
    ids=lambda case: repr(case)[:30],
)
def test_equal_as_values(output: Any, expected: Any, same: bool) -> None:
    assert equal_as_values(output, expected, texts_equal=str.__eq__) is same
    assert equal_as_values(expected, output, texts_equal=str.__eq__) is same


def test_texts_and_numbers_are_equal_as_the_caller_says() -> None:
    def folded(one: str, other: str) -> bool:
        return one.strip().casefold() == other.strip().casefold()

    assert equal_as_values("Refund ", "refund", texts_equal=folded)
    assert equal_as_values(1e16, " 1E+16", texts_equal=folded)
    assert not equal_as_values(["A"], '["a"]', texts_equal=folded)
    assert not equal_as_values(True, "TRUE", texts_equal=folded)


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ({"a": [1, {"b": 2}], "c": 1}, {"c": 2, "a": [1, {"b": 3}]}, ("/a/1/b", "2", "3")),
        ([1], [1, 2], ("/1", "(absent)", "2")),
        ({"x": 1}, {"x": 1, "y": None}, ("/y", "(absent)", "null")),
        ({"a/b": 1, "m~n": 2}, {"a/b": 1}, ("/m~0n", "2", "(absent)")),
        (True, 1, ("", "true", "1")),
        ({"a": []}, {"a": {}}, ("/a", "[]", "{}")),
        ([{"a": "x"}], [{"a": None}], ("/0/a", '"x"', "null")),
    ],
    ids=lambda case: repr(case)[:30],
)
def test_first_difference(one: Any, other: Any, difference: tuple[str, str, str]) -> None:
    assert first_difference(one, other) == difference


@pytest.mark.parametrize("key", [None, "k"])
def test_nests_as_deep_as_any_json(key: str | None) -> None:
    assert equal(nested(200, 1, key), nested(200, 1.0, key))
    assert not equal(nested(200, 1, key), nested(200, True, key))
    found = first_difference(nested(200, 1, key), nested(200, 2, key))
    assert found is not None
    assert found.pointer == ("/0" if key is None else "/k") * 200


@given(VALUES)
def test_a_value_equals_itself_in_any_form(value: Any) -> None:
    for same in (value, decode(render(value)), reordered(value), decode(compact(value))):
        assert equal(value, same)
        assert first_difference(value, same) is None


@given(VALUES, VALUES, VALUES)
def test_is_an_equivalence(one: Any, two: Any, three: Any) -> None:
    assert equal(one, two) is equal(two, one)
    assert not (equal(one, two) and equal(two, three)) or equal(one, three)


@given(VALUES, VALUES)
def test_unequal_values_differ_somewhere(one: Any, other: Any) -> None:
    assert equal(one, other) is (first_difference(one, other) is None)
    assert not equal([one, 1], [one, True])


@given(CONTAINERS)
def test_a_container_equals_its_text(value: Any) -> None:
    assert equal_as_values(value, render(reordered(value)), texts_equal=str.__eq__)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_equals_its_text(value: float) -> None:
    assert equal_as_values(value, render(value), texts_equal=str.__eq__)


@given(VALUES, HOSTILE_TEXTS)
def test_any_text_compares_with_any_value(value: Any, text: str) -> None:
    assert equal_as_values(value, text, texts_equal=str.__eq__) in (True, False)
