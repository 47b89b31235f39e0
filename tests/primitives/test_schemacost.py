"""Schemas and values that would keep a validator busy for minutes, or end the process, are refused beforehand."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from service.primitives import RuleFault
from service.primitives.schema import compile_schema
from service.primitives.schemacost import Extent, measure
from tests.primitives.json_values import VALUES, nested

Refs = list[dict[str, str]]
Wrap = Callable[[Refs], dict[str, Any]]

REST = {"unevaluatedProperties": False}


def doubling(levels: int, wrap: Wrap) -> dict[str, Any]:
    """Each schema refers twice to the one below."""
    schemas = {f"a{i}": wrap([{"$ref": f"#/$defs/a{i - 1}"}] * 2) for i in range(1, levels + 1)}
    return {"$ref": f"#/$defs/a{levels}", "$defs": {"a0": {"type": ["integer", "array", "object"]}, **schemas}}


def complete(size: int, wrap: Wrap) -> dict[str, Any]:
    """Each schema refers to all the others."""
    schemas = {
        f"a{i}": {"type": ["object", "integer"], **wrap([{"$ref": f"#/$defs/a{j}"} for j in range(size) if j != i])}
        for i in range(size)
    }
    return {"$ref": "#/$defs/a0", "$defs": schemas}


WRAPS: dict[str, Wrap] = {
    "allOf": lambda refs: {"allOf": refs},
    "anyOf": lambda refs: {"anyOf": refs, **REST},
    "items": lambda refs: {"items": {"allOf": refs}},
    "if": lambda refs: {"if": refs[0], "then": refs[1]},
    "properties": lambda refs: {"properties": {"a": refs[0], "b": refs[1]}},
    "unevaluated": lambda refs: {"allOf": refs, "unevaluatedItems": refs[0]},
}
CYCLES: dict[str, Wrap] = {
    "allOf": lambda refs: {"additionalProperties": {"allOf": refs}},
    "oneOf": lambda refs: {"additionalProperties": {"oneOf": refs, **REST}},
    "each": lambda refs: {"additionalProperties": {"allOf": [{**ref, **REST} for ref in refs], **REST}},
    "rest": lambda refs: {"unevaluatedProperties": {"anyOf": refs}},
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_doubling_is_refused_once_it_is_large(wrap: Wrap) -> None:
    for value in (1, nested(60, 1), nested(60, "x", "a")):
        compile_schema(doubling(6, wrap), formats=True).faults(value)
    for levels in (16, 30, 500):
        with pytest.raises(RuleFault) as caught:
            compile_schema(doubling(levels, wrap), formats=True)
        assert caught.value.code == "limit_exceeded"


@pytest.mark.parametrize("wrap", CYCLES.values(), ids=CYCLES)
def test_mutual_recursion_is_refused_once_it_is_large(wrap: Wrap) -> None:
    compiled = compile_schema(complete(4, wrap), formats=True)
    for value in (nested(190, 1, "k"), nested(190, "x", "k"), nested(60, 1)):
        compiled.faults(value)
    for size in (13, 20, 40):
        with pytest.raises(RuleFault) as caught:
            compile_schema(complete(size, wrap), formats=True)
        assert caught.value.code == "limit_exceeded"


def test_a_large_recursive_schema_with_one_shared_choice_is_fine() -> None:
    kinds = {f"kind{i}": {"properties": {"kind": {"const": i}, "children": {"items": {"$ref": "#/$defs/any"}}},
                          "required": ["kind"]} for i in range(60)}  # fmt: skip
    choice = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}
    compiled = compile_schema({"$defs": {**kinds, "any": choice}, "$ref": "#/$defs/any"}, formats=True)
    assert compiled.accepts({"kind": 59, "children": [{"kind": 3, "children": []}]})
    assert compiled.faults({"kind": 59, "children": [{"kind": 60, "children": []}]})[0].path == "$"


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("leaf", [5, "x"])
def test_explaining_a_recursive_schema_ends(keyword: str, leaf: Any) -> None:
    again: dict[str, Any] = {"$ref": "#"}
    schema = {"type": ["object", "integer"], "properties": {"k": {keyword: [again, {**again, "minProperties": 5}]}}}
    faults = compile_schema(schema, formats=True).faults(nested(60, leaf, "k"))
    assert bool(faults) is not (keyword == "anyOf" and leaf == 5)


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "string"}},
        {"anyOf": [{"items": {"type": "string"}}, {"items": {"type": "null"}}]},
        {"allOf": [{"type": "string", "title": str(i)} for i in range(300)]},
        {"items": {"enum": [f"option {i}" for i in range(1000)]}},
    ],
    ids=["items", "branches", "copies", "enum"],
)
def test_explaining_a_large_value_ends(schema: dict[str, Any]) -> None:
    assert compile_schema(schema, formats=True).faults(list(range(100_000)))


def test_a_value_too_large_for_a_schema_is_refused() -> None:
    compiled = compile_schema({"items": {"allOf": [{"minimum": i} for i in range(2_000)]}}, formats=True)
    assert compiled.accepts([5_000] * 100)
    with pytest.raises(RuleFault) as caught:
        compiled.accepts([5_000] * 100_000)
    assert caught.value.code == "limit_exceeded"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "a(?:a|b){900}c"}, "ab" * 400_000),
        ({"allOf": [{"pattern": f"{i}(?:a|b){{900}}c"} for i in range(500)]}, "ab" * 10_000),
        ({"items": {"pattern": "^(?!x)a"}}, ["a"] * 10_000),
        ({"patternProperties": {"(a{100}){50}": {}}}, {"a" * 400_000: 1}),
    ],
    ids=["long text", "many patterns", "many texts", "key"],
)
def test_patterns_too_costly_for_a_value_are_refused(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_schema(schema, formats=True).accepts(value)
    assert caught.value.code == "pattern_too_costly"


@pytest.mark.parametrize(
    ("value", "extent"),
    [
        (5, (1, 0, 0)),
        ("abc", (1, 1, 3)),
        ({"ab": [1, "c", None]}, (5, 2, 3)),
        (nested(200, "x"), (201, 1, 1)),
    ],
)
def test_extent(value: Any, extent: Extent) -> None:
    assert measure(value) == extent


@given(VALUES, VALUES)
def test_extents_add_up(one: Any, other: Any) -> None:
    assert measure([one, other]).values == measure(one).values + measure(other).values + 1
