"""contains, regex, length, keywords: rule, output, verdict."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging import evaluation, verdict

PASSED, FAILED = ("passed", 1.0, None), ("failed", 0.0, None)


def error(reason: str) -> tuple[str, None, str]:
    return "error", None, reason


def no_data(reason: str) -> tuple[str, None, str]:
    return "no_data", None, reason


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({"expected": "Hello"}, "Hello there", PASSED),
        ({"expected": "Hello"}, "hello", FAILED),
        ({"expected": "Hello", "case_sensitive": False}, "HELLO Hello", PASSED),
        ({"expected": "STRASSE", "case_sensitive": False}, "Hauptstraße", PASSED),
        ({"expected": "cat", "whole_word": True}, "the cat sat", PASSED),
        ({"expected": "cat", "whole_word": True}, "concatenate", FAILED),
        ({"expected": "下雨", "whole_word": True}, "今晚下雨", PASSED),
        ({"expected": 25}, "costs 250", PASSED),
        ({"expected": True}, "it is true", PASSED),
        ({"expected": "b"}, {"a": "b"}, PASSED),
        ({"expected": '{"a": "b"}'}, {"a": "b"}, PASSED),
        ({"expected": "x"}, "", FAILED),
        ({"expected": " "}, "", FAILED),
        ({"expected": ""}, "anything", error("invalid_params")),
        ({"expected": ""}, "", error("invalid_params")),
        ({"expected": "x"}, None, no_data("null_value")),
        ({"expected": None}, "x", no_data("missing_expected")),
        ({}, "x", no_data("missing_expected")),
        ({"expected": "control"}, 'tab\t quote" and \u0001 control', PASSED),
    ],
)
def test_contains(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "contains", **params}, output=output) == want


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({"pattern": r"\d{3}-\d{2}-\d{4}"}, "SSN 123-45-6789.", PASSED),
        ({"pattern": r"\d{3}-\d{2}-\d{4}"}, "123-45-678", FAILED),
        ({"pattern": r"\d{3}", "mode": "fullmatch"}, "123 ", FAILED),
        ({"pattern": r"\d{3}", "mode": "fullmatch", "trim": True}, " 123\n", PASSED),
        ({"pattern": "^yes$", "flags": ["i", "m"]}, "no\nYES", PASSED),
        ({"pattern": "a.b"}, "a\nb", FAILED),
        ({"pattern": "a.b", "flags": ["s"]}, "a\nb", PASSED),
        ({"pattern": r"^\w+$"}, "naïve", PASSED),
        ({"pattern": r"\b(\w+) \1\b"}, "this is is odd", PASSED),
        ({"pattern": "^(?!.*password)"}, "all fine", PASSED),
        ({"pattern": ""}, "", PASSED),
        ({"pattern": "("}, "x", error("invalid_pattern")),
        ({"pattern": "x" * 1001}, "x", error("limit_exceeded")),
        ({"pattern": r"^(a|aa)+(?!x)$\1"}, "a" * 40 + "!", error("regex_timeout")),
        ({"pattern": "(a|a)*$x"}, "a" * 40 + "!", FAILED),
        ({"pattern": "x"}, None, no_data("null_value")),
    ],
)
def test_regex(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "regex", **params}, output=output) == want


def test_regex_shows_the_first_match_and_the_pattern() -> None:
    got = evaluation({"type": "regex", "pattern": r"\d+"}, output="from 12 to 34")
    assert (got["actual"], got["expected"]) == ("12", r"\d+")
    assert "12" in got["explanation"]


def test_a_variable_inside_a_pattern_stands_for_its_own_text() -> None:
    rule = {"type": "regex", "pattern": "^{{name}}$"}
    assert verdict(rule, output="a.b", variables={"name": "a.b"}) == PASSED
    assert verdict(rule, output="axb", variables={"name": "a.b"}) == FAILED


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({"min": 2, "unit": "words"}, "one", FAILED),
        ({"min": 2, "max": 2, "unit": "words"}, " one\ttwo\n", PASSED),
        ({"max": 5, "unit": "words"}, "今天天气很好，我们一起去公园散步吧。", PASSED),
        ({"max": 0}, "", PASSED),
        ({"min": 7, "max": 7}, "👨‍👩‍👧 a", PASSED),
        ({"min": 3, "max": 3, "unit": "graphemes"}, "👨‍👩‍👧 a", PASSED),
        ({"min": 2, "max": 2, "unit": "unicode_words"}, "don't stop.", PASSED),
        ({"min": 2, "max": 2, "unit": "bytes"}, "é", PASSED),
        ({"min": 2, "max": 2, "unit": "sentences"}, "One. Two?", PASSED),
        ({"max": 8}, {"a": 1}, PASSED),
        ({"min": 5, "max": 4}, "x", error("invalid_params")),
        ({}, "x", error("invalid_params")),
        ({"min": 1}, None, no_data("null_value")),
    ],
)
def test_length(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "length", **params}, output=output) == want


@pytest.mark.parametrize(
    ("unit", "method"), [("words", "white space"), ("unicode_words", "UAX #29"), ("characters", "characters")]
)
def test_length_reports_the_count_and_how_it_was_made(unit: str, method: str) -> None:
    got = evaluation({"type": "length", "max": 9, "unit": unit}, output="今天天气")
    assert got["actual"] == {"words": 1, "unicode_words": 4, "characters": 4}[unit]
    assert method in got["explanation"]


@pytest.mark.parametrize(
    ("params", "output", "want"),
    [
        ({"keywords": "Acme, Widget Pro,  ,acme"}, "ACME makes it", PASSED),
        ({"keywords": "Acme, Widget Pro"}, "AcmeCorp", FAILED),
        ({"keywords": "Acme, Widget Pro", "match": "all"}, "Widget Pro by acme.", PASSED),
        ({"keywords": ["Acme", "Widget Pro"], "match": "all"}, "Acme only", FAILED),
        ({"keywords": ["C++", ".NET"], "match": "all"}, "I use C++ and .NET.", PASSED),
        ({"keywords": ["C++", ".NET"]}, "C and NET", FAILED),
        ({"keywords": ["straße"], "whole_word": False}, "STRASSE", PASSED),
        ({"keywords": ["café"]}, "CAFE\u0301", PASSED),
        ({"keywords": ["café"]}, "cafe", FAILED),
        ({"keywords": ["Refund"], "case_sensitive": True}, "refund", FAILED),
        ({"keywords": ["cat"], "whole_word": False}, "concatenate", PASSED),
        ({"keywords": " , ,"}, "x", error("invalid_params")),
        ({"keywords": []}, "x", error("invalid_params")),
        ({"keywords": ["{{brand}}"]}, "we sell Acme", PASSED),
        ({"keywords": ["{{nobody}}"]}, "x", error("unknown_variable")),
        ({"keywords": ["{{brand}}"], "template": False}, "{{brand}}", PASSED),
        ({"keywords": ["damn"], "negate": True}, "all is well", PASSED),
    ],
)
def test_keywords(params: dict[str, Any], output: Any, want: Any) -> None:
    assert verdict({"type": "keywords", **params}, output=output, variables={"brand": "acme"}) == want


def test_keywords_report_coverage_and_what_is_missing() -> None:
    got = evaluation({"type": "keywords", "keywords": "a, b, c", "match": "all"}, output="a c")
    assert got["details"] == {"coverage": pytest.approx(2 / 3), "found": ["a", "c"], "missing": ["b"]}
    assert "'b'" in got["explanation"]


@pytest.mark.parametrize(
    ("rule", "output", "says", "says_not"),
    [
        ({"type": "contains", "expected": "cat", "whole_word": True}, "a catalogue", "as a whole word", "case"),
        ({"type": "contains", "expected": "cat", "whole_word": True}, "a dog", "'cat'", "whole"),
        ({"type": "contains", "expected": "Cat"}, "a cat", "only letter case", "whole"),
        ({"type": "keywords", "keywords": "maybe, not sure, probably", "negate": True}, "not sure",
         "missing: 'maybe', 'probably'; found: 'not sure', which the negated rule does not allow", "None"),
    ],
)  # fmt: skip
def test_explanations_give_the_reason(rule: dict[str, Any], output: str, says: str, says_not: str) -> None:
    got = evaluation(rule, output=output)
    assert says in got["explanation"]
    assert says_not not in got["explanation"]


@given(st.text(min_size=1), st.text(), st.text())
def test_a_text_contains_what_it_was_made_of(middle: str, before: str, after: str) -> None:
    assert (
        verdict({"type": "contains", "expected": middle, "template": False}, output=before + middle + after) == PASSED
    )


@given(st.text(), st.sampled_from(["characters", "words", "unicode_words", "graphemes", "bytes"]))
def test_a_text_is_exactly_as_long_as_it_is(output: str, unit: str) -> None:
    size = evaluation({"type": "length", "min": 0, "unit": unit}, output=output)["actual"]
    exactly = {"type": "length", "min": size, "max": size, "unit": unit}
    assert verdict(exactly, output=output) == PASSED
    assert verdict(exactly | {"negate": True}, output=output) == FAILED
