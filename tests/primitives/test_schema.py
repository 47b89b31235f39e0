"""Schemas: what they accept, how they explain, what they refuse, and that nothing is ever fetched."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives import RuleFault
from service.primitives.schema import MAX_FAULTS, MAX_KEPT, compile_schema
from tests.primitives.json_values import VALUES, nested, reordered

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
PERSON = {
    "type": "object",
    "required": ["name", "age"],
    "properties": {"name": {"type": "string", "minLength": 2}, "age": {"type": "integer", "minimum": 0}},
    "additionalProperties": False,
}
LIST = {
    "$defs": {"node": {"properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/next"}}},
              "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "$ref": "#/$defs/node",
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "instance", "fits"),
    [
        (PERSON, {"name": "Al", "age": 3}, True),
        (PERSON, {"name": "Al", "age": 5.0}, True),
        (PERSON, {"name": "Al", "age": True}, False),
        (PERSON, {"name": "Al"}, False),
        (PERSON, {"name": "Al", "age": 1, "x": 0}, False),
        ({}, None, True),
        (True, 3, True),
        (False, {}, False),
        ({"pattern": "[A-Z]{2}-\\d{2}"}, "xxAB-12yy", True),
        ({"pattern": "^abc$"}, "abc\n", False),
        ({"pattern": "^(a|aa)+$"}, "a" * 60 + "!", False),
        ({"pattern": "(?=.*\\d)(?=.*[a-z])"}, "a1", True),
        ({"pattern": "(?=.*\\d)(?=.*[a-z])"}, "aa", False),
        ({"multipleOf": 0.01}, 1.13, True),
        ({"enum": [10**40]}, 10**40, True),
        ({"enum": [10**40]}, 10**40 + 1, False),
        ({"maximum": 10**400}, 10**401, False),
        ({"const": 1}, 1.0, True),
        ({"const": 1}, True, False),
        ({"example": 3, "nullable": True, "type": "integer"}, 1, True),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, 1, False),
        ({"$schema": "http://json-schema.org/draft-07/schema", "const": 1}, 2, False),
        ({"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False}, {"a": 1, "b": 2}, False),
        ({"$schema": DRAFT_7, "$ref": DRAFT_7}, {"type": "string"}, True),
        ({"$schema": DRAFT_7, "$ref": DRAFT_7}, {"type": "strin"}, False),
        (LIST, {"value": 1, "next": {"value": 2, "next": None}}, True),
        (LIST, {"value": 1, "next": {"value": "2", "next": None}}, False),
        ({"uniqueItems": True}, [{"a": i} for i in range(20_000)], True),
    ],
    ids=lambda case: repr(case)[:50],
)
def test_accepts(schema: Any, instance: Any, fits: bool) -> None:
    compiled = compile_schema(schema, formats=True)
    assert compiled.accepts(instance) is fits
    assert bool(compiled.faults(instance)) is not fits


@pytest.mark.parametrize(("formats", "fits"), [(True, False), (False, True)])
def test_formats_count_if_asked(formats: bool, fits: bool) -> None:
    assert compile_schema({"format": "date"}, formats=formats).accepts("yesterday") is fits


def test_faults_tell_where_and_why() -> None:
    schema = {"properties": {"address": PERSON, "tags": {"items": {"type": "string"}}}}
    instance = {"tags": [1, "b", 3], "address": {"name": "x", "age": 1}}
    assert compile_schema(schema, formats=True).faults(instance) == [
        ("$.address.name", "minLength", '"x" is shorter than 2 characters', "/properties/address/properties/name/minLength"),
        ("$.tags[0]", "type", '1 is not of type "string"', "/properties/tags/items/type"),
        ("$.tags[2]", "type", '3 is not of type "string"', "/properties/tags/items/type"),
    ]  # fmt: skip


def test_elements_are_told_in_their_order_and_cut() -> None:
    faults = compile_schema({"items": {"type": "string"}}, formats=True).faults(list(range(50)))
    assert [fault.path for fault in faults] == [f"$[{index}]" for index in range(MAX_FAULTS)]
    (fault,) = compile_schema({"type": "null"}, formats=True).faults(["long"] * 1000)
    assert len(fault.message) == 300


def test_a_fault_in_a_recursive_schema_is_told() -> None:
    instance = {"value": 1, "next": {"value": "2", "next": None}}
    assert [fault.path for fault in compile_schema(LIST, formats=True).faults(instance)] == ["$.next"]


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ({"properties": {"a": {"type": "strin"}}}, "at $.properties.a.type: 'strin' is not"),
        ({"required": "a"}, "at $.required: 'a' is not of type 'array'"),
        ({"minLength": -1}, "at $.minLength"),
        ({"pattern": "(a"}, "at $.pattern"),
        ({"patternProperties": {"(a": {}}}, "at $.patternProperties['(a']"),
        ({"enum": [[i] if i % 2 else str(i) for i in range(4000)], "type": "strin"}, "at $.type"),
        ("string", "an object, true or false"),
        (5, "an object, true or false"),
        (None, "an object, true or false"),
        ({"$schema": "https://schemas.example.com/x"}, "$schema must be"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "$schema must be"),
        ({"$schema": ["x"]}, "$schema must be"),
        ({"$ref": "#/$defs/nope"}, "'#/$defs/nope', which is not inside"),
        ({"$ref": "#nope"}, "not inside"),
        ({"allOf": [{"$ref": "#/allOf/x"}]}, "not inside"),
        ({"properties": {"a": {"$ref": "https://schemas.example.com/person.json"}}}, "no other document is ever fetched"),
        ({"$ref": "#"}, "without going down"),
        ({"anyOf": [{"$ref": "#"}, {"type": "string"}]}, "without going down"),
        ({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}, "without"),
        ({"$ref": "#/foo", "foo": {"items": {"$id": 5}}}, "$id"),
        ({"$id": "http://a/b", "items": {"$id": "http://["}}, "$id"),
    ],
    ids=lambda case: repr(case)[:50],
)  # fmt: skip
def test_invalid_schemas(schema: Any, part: str) -> None:
    for _ in range(2):
        with pytest.raises(RuleFault) as caught:
            compile_schema(schema, formats=True)
        assert caught.value.code == "invalid_schema"
        assert part in caught.value.detail
        assert len(caught.value.detail) < 500


@pytest.mark.parametrize(
    "schema",
    [{"allOf": [{}] * 10_000}, nested(201, {}, "not"), nested(100_000, 1)],
    ids=["schemas", "depth", "deep"],
)
def test_too_large_schemas(schema: Any) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_schema(schema, formats=True)
    assert caught.value.code == "limit_exceeded"


def test_a_long_schema_is_no_fault() -> None:
    assert compile_schema({"description": "x" * 1_000_000, "type": "null"}, formats=True).accepts(None)


@pytest.mark.parametrize(
    "patterns",
    [
        [f"(?:[a-zé]{{1,100}}){{1,9}}K_{i}" for i in range(900)],
        [f"{i}" for i in range(5_000)],
        [f"(?=[ab]{i})[ab]+" for i in range(1_000)],
        ["((a{100}){100}){20}"],
        ["(?=((a{100}){100}){100})b"],
    ],
    ids=["large", "many", "look-around", "one", "one with look-around"],
)
def test_patterns_that_would_take_much_memory_are_refused(patterns: list[str]) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_schema({"allOf": [{"pattern": pattern} for pattern in patterns]}, formats=True)
    assert caught.value.code == "pattern_too_costly"


def test_schemas_are_dropped_before_they_take_much_memory() -> None:
    def schema(number: int) -> dict[str, Any]:
        return {"allOf": [{"pattern": f"^{number}_{i}"} for i in range(500)]}

    first = compile_schema(schema(0), formats=True)
    assert compile_schema(schema(0), formats=True) is first
    for number in range(1, MAX_KEPT // first.held + 1):
        compile_schema(schema(number), formats=True)
    assert compile_schema(schema(0), formats=True) is not first


@pytest.mark.parametrize(
    "keyword",
    ["pattern", "not", "anyOf", "oneOf", "if", "contains", "propertyNames", "patternProperties"],
)
def test_a_verdict_never_rests_on_a_pattern_that_was_given_up(keyword: str) -> None:
    costly, text = "^((?=a)a|aa)+$", "a" * 60 + "!"
    schema: dict[str, tuple[Any, Any]] = {
        "pattern": ({"pattern": costly}, text),
        "not": ({"not": {"pattern": costly}}, text),
        "anyOf": ({"anyOf": [{"pattern": costly}, {"type": "null"}]}, text),
        "oneOf": ({"oneOf": [{"pattern": costly}, True]}, text),
        "if": ({"if": {"pattern": costly}, "else": False}, text),
        "contains": ({"contains": {"pattern": costly}}, [text]),
        "propertyNames": ({"propertyNames": {"pattern": costly}}, {text: 1}),
        "patternProperties": ({"patternProperties": {costly: False}}, {text: 1}),
    }
    compiled = compile_schema(schema[keyword][0], formats=True)
    for question in (compiled.accepts, compiled.faults):
        with pytest.raises(RuleFault) as caught:
            question(schema[keyword][1])
        assert caught.value.code == "pattern_too_costly"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port on loopback that nothing may connect to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()


def test_nothing_is_fetched(listener: socket.socket, tmp_path: Path) -> None:
    port = listener.getsockname()[1]
    remote = f"http://127.0.0.1:{port}/schema.json"
    local = tmp_path / "schema.json"
    local.write_text('{"type": "string"}')
    schemas: list[dict[str, Any]] = [
        {"$ref": remote},
        {"$ref": f"{remote}#/a"},
        {"$dynamicRef": remote},
        {"$schema": remote},
        {"$id": remote, "properties": {"a": {"$ref": "other.json"}}},
        {"$schema": DRAFT_7, "items": {"$ref": remote}},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": remote},
        {"$ref": f"file://{local}"},
        {"$id": f"file://{tmp_path}/", "$ref": "schema.json"},
    ]
    for schema in schemas:
        with pytest.raises(RuleFault) as caught:
            compile_schema(schema, formats=True)
        assert caught.value.code == "invalid_schema"
    compile_schema({"properties": {"a": {"$schema": remote, "$id": remote}}}, formats=True).accepts({"a": 1})


@given(VALUES, VALUES)
def test_any_json_is_a_schema_or_a_fault(schema: Any, instance: Any) -> None:
    try:
        compiled = compile_schema(schema, formats=True)
    except RuleFault as fault:
        assert not isinstance(schema, bool) or fault.code == "limit_exceeded"  # noqa: PT017
    else:
        assert compiled.accepts(instance) is not bool(compiled.faults(instance))


@given(VALUES)
def test_a_value_fits_itself_and_no_other_type(value: Any) -> None:
    assert compile_schema({"const": value}, formats=True).accepts(reordered(value))
    assert not compile_schema({"not": {"const": value}}, formats=True).accepts(value)


@given(st.permutations(sorted(PERSON)), VALUES)
def test_the_order_of_keys_of_a_schema_never_matters(keys: list[str], instance: Any) -> None:
    schema = {key: PERSON[key] for key in keys}
    assert compile_schema(schema, formats=True) is compile_schema(PERSON, formats=True)
    assert compile_schema(schema, formats=True).faults(instance) == compile_schema(PERSON, formats=True).faults(
        instance
    )
