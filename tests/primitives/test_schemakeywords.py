"""Subschemas, and `required` for every property."""

from typing import Any

import pytest
from hypothesis import given

from service.primitives import RuleFault
from service.primitives.schemakeywords import check_depth, require_all, subschemas
from tests.primitives.json_values import VALUES, nested

OPEN: dict[str, Any] = {"properties": {"a": {}}}
CLOSED: dict[str, Any] = {"properties": {"a": {}}, "required": ["a"]}


@pytest.mark.parametrize(
    "place",
    [
        lambda schema: schema,
        lambda schema: {"properties": {"x": schema}, "required": ["x"]},
        lambda schema: {"patternProperties": {"^x": schema}},
        lambda schema: {"additionalProperties": schema},
        lambda schema: {"unevaluatedProperties": schema},
        lambda schema: {"items": schema},
        lambda schema: {"items": [True, schema]},
        lambda schema: {"prefixItems": [schema], "additionalItems": schema},
        lambda schema: {"contains": schema},
        lambda schema: {"$defs": {"d": schema}, "definitions": {"d": schema}},
        lambda schema: {"allOf": [schema], "anyOf": [schema, False], "oneOf": [schema]},
        lambda schema: {"then": schema, "else": schema},
        lambda schema: {"dependentSchemas": {"x": schema}},
        lambda schema: {"dependencies": {"x": schema, "y": ["z"]}},
        lambda schema: {"allOf": [{"items": {"properties": {"properties": schema}, "required": ["properties"]}}]},
    ],
)
def test_every_place_of_a_schema_is_reached(place: Any) -> None:
    assert require_all(place(OPEN)) == place(CLOSED)


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [OPEN], "const": OPEN, "default": OPEN, "examples": [OPEN], "x-note": OPEN},
        {"not": OPEN},
        {"if": OPEN},
        {"properties": {}},
        {"properties": [OPEN]},
        {"properties": {"a": True}, "required": True},
        True,
        "text",
    ],
)
def test_the_rest_is_left_alone(schema: Any) -> None:
    assert require_all(schema) == schema


def test_what_is_required_already_stays_first() -> None:
    schema = {"properties": {"a": {}, "b": {}, "c": {}}, "required": ["b", "z"]}
    assert require_all(schema)["required"] == ["b", "z", "a", "c"]
    assert schema["required"] == ["b", "z"]


def test_depth_is_bounded() -> None:
    check_depth(nested(200, 1, "not"))
    with pytest.raises(RuleFault, match="nests more than 200"):
        require_all(nested(201, 1, "not"))


def test_subschemas_are_named_where_their_keyword_names_them() -> None:
    found = subschemas({"properties": {"a": {"x": 1}, "b": True}, "items": {"y": 2}, "enum": [{}]})
    assert list(found) == [("properties", "a", {"x": 1}), ("items", None, {"y": 2})]


@given(VALUES)
def test_requiring_all_twice_changes_nothing_more(schema: Any) -> None:
    once = require_all(schema)
    assert require_all(once) == once
