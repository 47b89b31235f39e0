"""Strict JSON in, JSON text out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.jsontext import (
    MAX_DEPTH,
    NotJson,
    as_text,
    compact,
    decode,
    depth_exceeds,
    dotted,
    mend_surrogates,
    pointer,
    render,
)
from tests.primitives.json_values import HOSTILE_TEXTS, VALUES, nested, reordered


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        (" \t\r\n{} \n", {}),
        ('{"a":1,"a":2}', {"a": 2}),
        ("18446744073709551616", 2**64),
        ("9" * 4300, int("9" * 4300)),
        ("1E+5", 100000.0),
        ("1e-400", 0.0),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\\\ud800"', "\\ud800"),
        ('"\\\\\\ud83d\\ude00"', "\\😀"),
        ("[" * 200 + "]" * 200, nested(199, [])),
    ],
    ids=lambda case: repr(case)[:30],
)
def test_accepts(text: str, value: Any) -> None:
    assert decode(text) == value


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("", "no_json", "empty"),
        (" \n", "no_json", "empty"),
        ('{"a":1,}', "no_json", "trailing comma in object (byte 7)"),
        ("[1,2", "no_json", "ends before"),
        ("{'a':1}", "no_json", "byte 1"),
        ("{a:1}", "no_json", "byte 1"),
        ('{"a":1 /* x */}', "no_json", "byte 7"),
        ('{"a":1}\n{"b":2}', "no_json", "trailing characters"),
        ("NaN", "no_json", ""),
        ("[-Infinity]", "no_json", ""),
        ('"a\tb"', "no_json", ""),
        ("\ufeff1", "no_json", ""),
        ("\u00a01", "no_json", ""),
        ("01", "no_json", ""),
        ("+1", "no_json", ""),
        (".5", "no_json", ""),
        ("True", "no_json", ""),
        ("1e400", "number_out_of_range", "too large for a double"),
        ('{"a":[1,-1e400]}', "number_out_of_range", "[1]"),
        ("1" * 4301, "integer_too_long", "4,300"),
        ('"\\ud800"', "lone_surrogate", "surrogate"),
        ('"\\ud800 and more text"', "lone_surrogate", ""),
        ('"\\udc00"', "lone_surrogate", ""),
        ('{"\\uDBFF":1}', "lone_surrogate", ""),
        ('"\\ud800\\ud83d\\ude00"', "lone_surrogate", ""),
        ('"\\ud800\\u0041"', "lone_surrogate", ""),
        ('"\\\\\\ud800"', "lone_surrogate", ""),
        ('["\\ud800", 1', "no_json", "ends before"),
        ('["\\ud800", 1e400]', "number_out_of_range", ""),
        ('"\ud800"', "lone_surrogate", "Character 1"),
        ("[" * 201 + "]" * 201, "too_deep", "200"),
        ('{"a":' * 201 + "1" + "}" * 201, "too_deep", "200"),
        ("[" * 100_000, "too_deep", "200"),
    ],
    ids=lambda case: repr(case)[:30],
)
def test_refuses(text: str, code: str, part: str) -> None:
    with pytest.raises(NotJson) as caught:
        decode(text)
    assert caught.value.code == code
    assert part in caught.value.detail
    assert len(caught.value.detail) < 200


def test_brackets_inside_texts_are_no_depth() -> None:
    assert decode(json.dumps(["[" * 300])) == ["[" * 300]


@pytest.mark.parametrize(
    ("value", "text", "short"),
    [
        (2500, "2500", "2500"),
        (10.0, "10.0", "10.0"),
        (1e16, "1e+16", "1e+16"),
        (True, "true", "true"),
        (None, "null", "null"),
        ("é 日", '"é 日"', '"é 日"'),
        ({"b": [1, "x"], "a": {}}, '{"b": [1, "x"], "a": {}}', '{"a":{},"b":[1,"x"]}'),
    ],
)
def test_text_of_a_value(value: Any, text: str, short: str) -> None:
    assert render(value) == text
    assert compact(value) == short


def test_a_text_is_its_own_text() -> None:
    assert as_text("a\n") == "a\n"
    assert as_text(["a"]) == '["a"]'


@pytest.mark.parametrize(
    ("steps", "as_pointer", "as_path"),
    [
        ([], "", "$"),
        (["address", "zip"], "/address/zip", "$.address.zip"),
        (["a", 0, "b c"], "/a/0/b c", "$.a[0]['b c']"),
        (["a/b", "m~n"], "/a~1b/m~0n", "$['a/b']['m~n']"),
        (["it's", 'a "b"'], '/it\'s/a "b"', "$['it\\'s']['a \"b\"']"),
        (["", "日"], "//日", "$['']['日']"),
    ],
)
def test_places(steps: list[str | int], as_pointer: str, as_path: str) -> None:
    assert pointer(steps) == as_pointer
    assert dotted(steps) == as_path


@pytest.mark.parametrize(
    ("text", "mended", "count"),
    [
        ('"\\ud800"', '"\\ufffd"', 1),
        ('"\\ud83d\\ude00 \\ude00"', '"\\ud83d\\ude00 \\ufffd"', 1),
        ('"\\ud800\\ud83d\\ude00"', '"\\ufffd\\ud83d\\ude00"', 1),
        ('"\\\\ud800"', '"\\\\ud800"', 0),
        ('"\\\\\\udc00"', '"\\\\\\ufffd"', 1),
    ],
)
def test_mends_halves_of_pairs_only(text: str, mended: str, count: int) -> None:
    assert mend_surrogates(text) == (mended, count)


@pytest.mark.parametrize("key", [None, "a"])
def test_depth(key: str | None) -> None:
    assert not depth_exceeds(nested(3, 1, key), 3)
    assert depth_exceeds(nested(4, 1, key), 3)
    assert not depth_exceeds("[[[[", 0)
    assert depth_exceeds(nested(100_000, 1, key), MAX_DEPTH)


@given(VALUES)
def test_decode_undoes_render_and_compact(value: Any) -> None:
    assert decode(render(value)) == value
    assert decode(compact(value)) == value


@given(VALUES)
def test_compact_does_not_depend_on_key_order(value: Any) -> None:
    assert compact(reordered(value)) == compact(value)


@given(HOSTILE_TEXTS | st.text(alphabet='"\\ud8fcDC0a1[],', max_size=40))
def test_agrees_with_the_standard_library_where_it_accepts(text: str) -> None:
    try:
        value = decode(text)
    except NotJson:
        return
    assert json.loads(text) == value


@given(st.lists(st.sampled_from(["\\ud83d", "\\ude00", "\\\\", "a", "\\n", "\\u0041"]), max_size=12))
def test_half_a_pair_is_told_from_other_faults(pieces: list[str]) -> None:
    text = '"' + "".join(pieces) + '"'
    halves = any("\ud800" <= character <= "\udfff" for character in json.loads(text))
    if halves:
        with pytest.raises(NotJson) as caught:
            decode(text)
        assert caught.value.code == "lone_surrogate"
    else:
        assert decode(text) == json.loads(text)
