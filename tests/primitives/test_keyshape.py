"""Keys and the names of their types."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives import RuleFault
from service.primitives.keyshape import TYPES, check_keys, shape_faults
from tests.primitives.json_values import VALUES, nested, reordered

PERSON = {"name": "string", "age": "number"}
NESTED = {"user": {"name": "string", "address": {"city": "string"}}}


@pytest.mark.parametrize(
    ("value", "keys", "check", "places"),
    [
        ({"name": "A", "age": 3}, PERSON, "types", []),
        ({"name": "A", "age": 3, "x": 0}, PERSON, "types", []),
        ({"name": "A"}, PERSON, "types", ["$.age"]),
        ({"name": "A", "age": "3"}, PERSON, "types", ["$.age"]),
        ({"name": "A", "age": True}, PERSON, "types", ["$.age"]),
        ({"name": None, "age": 1, "x": 0}, PERSON, "types", ["$.name"]),
        ({}, PERSON, "types", ["$.name", "$.age"]),
        ({"name": 1, "age": "3"}, PERSON, "keys", []),
        ({"name": None, "age": None}, PERSON, "keys", []),
        ({"name": "A"}, PERSON, "keys", ["$.age"]),
        ([], PERSON, "keys", ["$"]),
        ({"user": {"name": "A", "address": {"city": "B"}}}, NESTED, "types", []),
        ({"user": {"name": "A", "address": {}}}, NESTED, "types", ["$.user.address.city"]),
        ({"user": {"name": "A", "address": {}}}, NESTED, "keys", ["$.user.address.city"]),
        ({"user": "A"}, NESTED, "types", ["$.user"]),
        ({"user": "A"}, NESTED, "keys", ["$.user"]),
        ({"a b": [1]}, {"a b": "array", "c": {}}, "types", ["$.c"]),
        ({"n": 5.0}, {"n": "integer"}, "types", []),
        ({"n": 5.5}, {"n": "integer"}, "types", ["$.n"]),
        ({"n": 10**400}, {"n": "integer"}, "types", []),
        ({"n": False}, {"n": "integer"}, "types", ["$.n"]),
        ({"n": None}, {"n": "any"}, "types", []),
        ({}, {"n": "any"}, "types", ["$.n"]),
        ({}, {}, "types", []),
        ("text", {}, "types", ["$"]),
    ],
    ids=lambda case: repr(case)[:40],
)
def test_faults(value: Any, keys: dict[str, Any], check: str, places: list[str]) -> None:
    assert [fault.partition(" is ")[0] for fault in shape_faults(value, keys, check)] == places


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"age": "3"}, "$.age is string, not number"),
        ({"age": None}, "$.age is null, not number"),
        ({}, "$.age is missing"),
        ([], "$ is array, not an object"),
    ],
)
def test_a_fault_names_what_was_found_and_what_was_expected(value: Any, fault: str) -> None:
    assert shape_faults(value, {"age": "number"}, "types") == [fault]


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ({"a": "strin"}, "'string'"),
        ({"a": {"b": "Number"}}, "$.a.b"),
        ({"a": "bool"}, "'boolean'"),
        ({"a": "zzz"}, "string, number, integer"),
        ({"a": 5}, "$.a"),
        ({"a": ["string"]}, "$.a"),
        ({"a": None}, "$.a"),
    ],
)
def test_unknown_types_are_the_fault_of_the_rule(keys: dict[str, Any], part: str) -> None:
    with pytest.raises(RuleFault) as caught:
        check_keys(keys)
    assert caught.value.code == "invalid_params"
    assert part in caught.value.detail


def test_nests_as_deep_as_any_json() -> None:
    keys: dict[str, Any] = nested(199, {"k": "string"}, "k")
    check_keys(keys)
    assert shape_faults(nested(199, {"k": "x"}, "k"), keys, "types") == []
    assert len(shape_faults(nested(199, {"k": 1}, "k"), keys, "types")) == 1


@given(VALUES)
def test_a_value_has_exactly_the_types_it_has(value: Any) -> None:
    fitting = {name for name in TYPES if not shape_faults({"k": value}, {"k": name}, "types")}
    assert "any" in fitting
    assert len(fitting - {"any", "integer"}) == 1
    assert "integer" not in fitting or "number" in fitting


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4))
def test_every_object_has_its_own_keys_in_any_order(value: dict[str, Any]) -> None:
    keys = dict.fromkeys(value, "any")
    for check in ("types", "keys"):
        assert shape_faults(reordered(value), keys, check) == []
        assert len(shape_faults({}, keys, check)) == len(keys)
