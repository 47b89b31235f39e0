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


@pytest.mark.parametrize("pattern", ["^(?!.*secret)", "^(?=.*\\d)(?=.*[a-z]).{8,}$", "^((?!secret).)*$"])
@pytest.mark.parametrize("texts", [["abc 123 " * 1_000], ["abc 1234"] * 2_000], ids=["long", "many"])
def test_ordinary_look_around_is_decided(pattern: str, texts: list[str]) -> None:
    assert compile_schema({"items": {"pattern": pattern}}, formats=True).accepts(texts)


NAMES = [f"k{i}" for i in range(6_000)]
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TRIGGERS = {f"t{i}": NAMES[:60] for i in range(100)}
TRIGGERED = [dict.fromkeys(TRIGGERS, 1)] * 1_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"required": NAMES[:1_000]}}, [{}] * 10_000),
        ({"items": {"dependentRequired": TRIGGERS}}, TRIGGERED),
        ({"$schema": DRAFT_7, "items": {"dependencies": TRIGGERS}}, TRIGGERED),
        ({"allOf": [False] * 6_000}, list(range(100_000))),
        ({"items": False}, [1] * 100_000),
        ({"patternProperties": dict.fromkeys(["", "a?", "b?", "c?"], False)}, dict.fromkeys(NAMES, 1)),
        ({"properties": dict.fromkeys(NAMES, False)}, {name: [1] for name in NAMES}),
        ({"propertyNames": {"allOf": [{"maxLength": 0}] * 100}}, dict.fromkeys(NAMES, 1)),
        ({"additionalProperties": {"items": {"type": "string"}}}, {"k" * 900_000: [1] * 8_000}),
        ({"items": {"required": ["k" * 60_000]}}, [{}] * 10_000),
        ({"items": {"const": "k" * 60_000}}, [1] * 10_000),
        ({"items": {"patternProperties": {"|" + "k" * 1_000: {"type": "null"}}}}, [{"a": 1}] * 9_000),
    ],
    ids=[
        "required",
        "dependentRequired",
        "dependencies",
        "false",
        "false for elements",
        "false for members",
        "false for properties",
        "propertyNames",
        "long way",
        "long name",
        "long const",
        "long way in the schema",
    ],
)
def test_where_errors_would_be_many_or_large_the_first_is_told(schema: dict[str, Any], value: Any) -> None:
    assert len(compile_schema(schema, formats=True).faults(value)) == 1


def test_missing_names_are_all_told_of_a_few_objects() -> None:
    faults = compile_schema({"items": {"required": NAMES[:5]}}, formats=True).faults([{}] * 3)
    assert [fault.path for fault in faults] == ["$[0]"] * 5 + ["$[1]"] * 5 + ["$[2]"] * 5


OBJECTS = [{f"k{i}": i for i in range(10)}] * 10_000


@pytest.mark.parametrize(
    "member",
    [
        {"type": "integer", "minimum": 0},
        {"enum": list(range(100))},
        {"type": ["integer", "null"], "maximum": 100, "multipleOf": 1},
        {"anyOf": [{"type": "string"}, True]},
    ],
)
def test_many_ordinary_objects_are_checked(member: dict[str, Any]) -> None:
    properties = {f"k{i}": member for i in range(10)}
    schema = {"items": {"type": "object", "properties": properties, "required": NAMES[:10]}}
    assert compile_schema(schema, formats=True).accepts(OBJECTS)


BIG = 10**4_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"allOf": [{"minimum": -i} for i in range(3_000)]}}, list(range(24_000))),
        ({"items": {"required": NAMES}}, [{}] * 10_000),
        ({"items": {"allOf": [{"multipleOf": 0.01}] * 300}}, [1.13] * 1_000),
        ({"items": {"minimum": 0}}, [BIG] * 1_000),
        ({"allOf": [{"multipleOf": BIG}] * 200}, 1),
        ({"items": {"enum": [[0, i] for i in range(3_000)]}}, [[0, 2_999]] * 3_000),
        ({"items": {"enum": ["a", *range(3_000)]}}, [2_999] * 3_000),
        ({"items": {"const": list(range(3_000))}}, [list(range(3_000))] * 300),
        ({"items": {"uniqueItems": True}}, [[[j] for j in range(1_000)]] * 700),
        ({"items": {"format": "idn-hostname"}}, ["example"] * 400_000),
    ],
    ids=["bounds", "names", "fractions", "digits", "bound", "options", "mixed options", "const", "unique", "format"],
)
def test_values_that_take_long_to_compare_are_refused(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_schema(schema, formats=True).accepts(value)
    assert caught.value.code == "limit_exceeded"


def test_a_value_too_large_for_a_schema_is_refused() -> None:
    compiled = compile_schema({"items": {"allOf": [{"minimum": i} for i in range(2_000)]}}, formats=True)
    assert compiled.accepts([5_000] * 50)
    with pytest.raises(RuleFault) as caught:
        compiled.accepts([5_000] * 100_000)
    assert caught.value.code == "limit_exceeded"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": "a(?:a|b){900}c"}, "ab" * 400_000),
        ({"allOf": [{"pattern": f"{i}(?:a|b){{900}}c"} for i in range(500)]}, "ab" * 10_000),
        ({"allOf": [{"format": "regex"}] * 2_000}, "a" * 100_000),
        ({"items": {"pattern": "^(?!x)a"}}, ["a"] * 100_000),
        ({"pattern": "(?=a)(a+a+)+$"}, "a" * 100_000 + "b"),
        ({"pattern": "(?=a)(a+a+)+$"}, "a" * 30_000 + "b"),
        ({"items": {"pattern": "(?=a)(a+a+)+$"}}, ["a" * 400 + "b"] * 1_900),
        ({"pattern": "(?:(?<=[ab]*)a|b|ab|ba)*d"}, "ab" * 10_000),
        ({"items": {"pattern": "(a*)*\\1c"}}, ["a" * 100] * 2_000),
        ({"patternProperties": {"(a{100}){50}": {}}}, {"a" * 400_000: 1}),
    ],
    ids=[
        "long text",
        "many patterns",
        "format",
        "many texts",
        "start positions",
        "half the start positions",
        "texts with start positions",
        "look-behind",
        "back-reference",
        "key",
    ],
)
def test_patterns_too_costly_for_a_value_are_refused(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_schema(schema, formats=True).accepts(value)
    assert caught.value.code == "pattern_too_costly"


@pytest.mark.parametrize(
    ("value", "extent"),
    [
        (5, (1, 0, 0, 0)),
        ("abc", (1, 1, 3, 0)),
        ({"ab": [1, "c", None, True]}, (6, 2, 3, 0)),
        ([0.5, 2**63 - 1], (3, 0, 0, 60)),
        ([2**64], (2, 0, 0, 62)),
        (nested(200, "x"), (201, 1, 1, 0)),
    ],
)
def test_extent(value: Any, extent: Extent) -> None:
    assert measure(value) == extent


@given(VALUES, VALUES)
def test_extents_add_up(one: Any, other: Any) -> None:
    assert measure([one, other]).values == measure(one).values + measure(other).values + 1
