"""Where JSON is found in the text of a model, and where it is not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.extraction import Mode, extract
from service.primitives.jsontext import NotJson, render
from tests.primitives.json_values import CONTAINERS, HOSTILE_TEXTS, VALUES, nested

MODES: tuple[Mode, ...] = ("whole", "fences", "anywhere")
DEEP = render(nested(250, 1))


@pytest.mark.parametrize(
    ("text", "value", "source"),
    [
        ("5", 5, "whole"),
        ('\ufeff{"a":1}', {"a": 1}, "whole"),
        ('{"md":"```js```"}', {"md": "```js```"}, "whole"),
        ('Here:\n```json\n{"a":1}\n```\nbye', {"a": 1}, "fence"),
        ('```\n{"a":1}\n```', {"a": 1}, "fence"),
        ('  ```JSON5 title="x"\n  {"a":1}\n  ```', {"a": 1}, "fence"),
        ('~~~json\r\n{"a":1}\r\n~~~\r\n', {"a": 1}, "fence"),
        ('```json\n{"a":1}', {"a": 1}, "fence"),
        ('````json\n{"tip": "wrap in ``` marks"}\n````', {"tip": "wrap in ``` marks"}, "fence"),
        ("````\n```\n````\n```json\n[1]\n```", [1], "fence"),
        ("~~~\n```json\n[1]\n```\n~~~\n```json\n[2]\n```", [2], "fence"),
        ('```python\nprint({"a": 1})\n```\n```json\n{"a": 1}\n```', {"a": 1}, "fence"),
        ('```json\n{bad}\n```\n```json\n{"a":2}\n```', {"a": 2}, "fence"),
        ('```\n{"a":1}\n```\n```json\n{"b":2}\n```', {"b": 2}, "fence"),
        ('```\nplain\n```\n```\n{"b":2}\n```', {"b": 2}, "fence"),
        ("```json\n5\n```", 5, "fence"),
        ('```json\n{"a":1}```', {"a": 1}, "inline"),
        ('```json {"a":1}```', {"a": 1}, "inline"),
        ('text {"a": 4} text', {"a": 4}, "inline"),
        ('{"a":1}\n{"b":2}', {"a": 1}, "inline"),
        ('see [1] and {"a": 1}', {"a": 1}, "inline"),
        ("see [1] and [2]", [1], "inline"),
        ('Items: [{"a":1},{"a":2}] done', [{"a": 1}, {"a": 2}], "inline"),
        ('x [[{"a":1}]] y', [[{"a": 1}]], "inline"),
        ('use {name}, {"k": "v}\\"{"} and {}', {"k": 'v}"{'}, "inline"),
        ('He said "{" and {"a":1}', {"a": 1}, "inline"),
        ('{"a": 1,} or {"a": 2}', {"a": 2}, "inline"),
        ("[1, 2,] [3}", None, None),
        ("{'a': 1}", None, None),
        ('{"a": NaN}', None, None),
        ('{"a": "raw\nline"}', None, None),
        ('{"a": {"b": 1}', {"b": 1}, "inline"),
        ("No JSON here.", None, None),
        ("", None, None),
    ],
    ids=lambda case: repr(case)[:40],
)
def test_anywhere(text: str, value: Any, source: str | None) -> None:
    if source is None:
        with pytest.raises(NotJson, match=r"JSON|empty"):
            extract(text, "anywhere")
    else:
        assert extract(text, "anywhere") == (value, source)


@pytest.mark.parametrize(
    ("mode", "text", "found"),
    [
        ("whole", '```json\n{"a":1}\n```', False),
        ("whole", '\ufeff{"a":1}', False),
        ("whole", ' {"a":1} ', True),
        ("fences", 'text {"a": 4} text', False),
        ("fences", '```json\n{"a":1}```', False),
        ("fences", '```js\n{"a":1}\n```', False),
        ("fences", '\ufeff{"a":1}', True),
        ("anywhere", '```js\n{"a":1}\n```', True),
    ],
)
def test_modes(mode: Mode, text: str, found: bool) -> None:
    try:
        assert extract(text, mode).value == {"a": 1}
    except NotJson:
        assert not found
    else:
        assert found


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a":1e400,"b":{"c":1}}', "number_out_of_range"),
        ('so: {"a":1e400,"b":{"c":1}}', "number_out_of_range"),
        (DEEP, "too_deep"),
        ("so: " + DEEP, "too_deep"),
        ("```json\n" + DEEP + "\n```", "too_deep"),
        ('x {"a":"\\ud800","b":{"c":1}} y', "lone_surrogate"),
        ("[" + "1" * 4301 + ",[2]]", "integer_too_long"),
    ],
    ids=lambda case: repr(case)[:30],
)
def test_refused_json_is_not_searched_for_smaller_json(text: str, code: str) -> None:
    with pytest.raises(NotJson) as caught:
        extract(text, "anywhere")
    assert caught.value.code == code


def test_json_after_refused_json_is_found() -> None:
    assert extract('{"a":1e400} then {"b":2}', "anywhere").value == {"b": 2}


@pytest.mark.parametrize(
    ("text", "mode", "part"),
    [
        ('{"a":1,}', "anywhere", "trailing comma in object (byte 7)"),
        ('{"a":1,}', "fences", "trailing comma in object (byte 7)"),
        ('Here:\n```json\n{"a":1,}\n```', "fences", "first code block is no JSON: trailing comma"),
        ('Here: {"a":1,}', "anywhere", "first object or array inside the text is no JSON: trailing comma"),
        ("Hello", "fences", "every code block were tried"),
        ("Hello", "anywhere", "every object or array"),
        ("", "anywhere", "empty"),
    ],
)
def test_the_fault_says_what_to_mend(text: str, mode: Mode, part: str) -> None:
    with pytest.raises(NotJson) as caught:
        extract(text, mode)
    assert caught.value.code == "no_json"
    assert part in caught.value.detail


@pytest.mark.parametrize(
    "text",
    [
        *(piece * 100_000 for piece in ("{", "[", '{"', '["', "[{", "[1,", '{"a":', '"', "`", "```\n", "\\", "[[],")),
        "[" * 1000 + '"' + "a" * 900_000,
        "[" * 1000 + '"' + "a" * 900_000 + '"',
        "[" * 1000 + "1" * 900_000,
        "[" * 40 + '"' + "\\ud800" * 150_000 + '"' + "]x" * 40,
        '["' + "\\n" * 450_000 + '"x]',
        "{ " * 400_000,
        "~~~ " + " " * 900_000,
        "[" * 100_000 + "x" + "]" * 100_000,
    ],
    ids=lambda text: f"{text[:12]!r} {len(text)}",
)
def test_hostile_texts_end(text: str) -> None:
    try:
        told: str = extract(text, "anywhere").source
    except NotJson as fault:
        told = fault.detail
    assert len(told) < 300


def test_a_search_that_is_given_up_says_so() -> None:
    with pytest.raises(NotJson, match="stopped at its limit"):
        extract("so " + '["' * 100_000, "anywhere")


@given(VALUES)
def test_whole_text_is_found_in_every_mode(value: Any) -> None:
    for mode in MODES:
        assert extract(f" {render(value)}\n", mode) == (value, "whole")


@given(VALUES, st.sampled_from(["", "json", "JSON"]), st.sampled_from(["```", "~~~~"]), st.booleans())
def test_any_value_is_found_in_a_code_block(value: Any, label: str, mark: str, pretty: bool) -> None:
    text = json.dumps(value, indent=2 if pretty else None, ensure_ascii=pretty)
    assert extract(f"Sure:\n{mark}{label}\n{text}\n{mark}\nDone.", "fences") == (value, "fence")


@given(
    st.dictionaries(st.text(max_size=4), VALUES, max_size=4),
    st.sampled_from(["It is ", "See [1], {x}: ", 'A "quote" ']),
)
def test_any_object_is_found_in_prose(value: Any, before: str) -> None:
    assert extract(f"{before}{render(value)} as asked.", "anywhere") == (value, "inline")


@given(CONTAINERS)
def test_containers_are_found_in_plain_prose(value: Any) -> None:
    assert extract(f"It is {render(value)} as asked.", "anywhere").value == value


@given(HOSTILE_TEXTS, st.sampled_from(MODES))
def test_any_other_text_is_not_json(text: str, mode: Mode) -> None:
    try:
        told: str = extract(text, mode).source
    except NotJson as fault:
        told = fault.detail
    assert told
