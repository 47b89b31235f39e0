"""What a judge's reply says, and when it says nothing."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.jsontext import render
from service.primitives.replies import (
    ReplyFault,
    read_choice,
    read_object,
    read_score,
    read_verdict,
    refuse_stop,
)
from tests.counts import COUNTS
from tests.primitives.json_values import HOSTILE_TEXTS, VALUES

CASES = Path(__file__).parents[3] / "shared" / "reference" / "autoevals.jsonl"

TEXTS = {"type": "array", "items": {"type": "string"}}
CHOICE = {
    "type": "object",
    "properties": {"reasons": {"type": "string"}, "choice": {"type": "string", "enum": ["A", "B", "C", "D", "E"]}},
    "required": ["reasons", "choice"],
    "additionalProperties": False,
}
SCORE = {"properties": {"score": {"type": "number", "minimum": 0, "maximum": 10}}, "required": ["score"]}
VERDICT = {
    "type": "object",
    "properties": {"statement": {"type": "string"}, "verdict": {"enum": [0, 1]}, "reason": {"type": "string"}},
    "required": ["statement", "verdict", "reason"],
}
SHAPES: dict[str, dict[str, Any]] = {
    "extract_statements": {"properties": {"statements": TEXTS}, "required": ["statements"]},
    "judge_statements": {
        "properties": {"faithfulness": {"type": "array", "items": VERDICT}},
        "required": ["faithfulness"],
    },
    "extract_sentences": {
        "properties": {
            "sentences": {
                "type": "array",
                "items": {"properties": {"sentence": {"type": "string"}, "reasons": TEXTS}, "required": ["sentence"]},
            }
        },
        "required": ["sentences"],
    },
    "generate_question": {
        "properties": {"question": {"type": "string"}, "noncommittal": {"type": "boolean"}},
        "required": ["question", "noncommittal"],
    },
    "classify_statements": {
        "properties": {"TP": TEXTS, "FP": TEXTS, "FN": TEXTS},
        "required": ["TP", "FP", "FN"],
    },
}
MODERATION = {
    "properties": {
        "flagged": {"type": "boolean"},
        "category_scores": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
    },
    "required": ["flagged", "category_scores"],
}
LABELS: dict[str, dict[str, float]] = {
    "Factuality": {"A": 0.4, "B": 0.6, "C": 1, "D": 0, "E": 1},
    "ClosedQA": {"Y": 1, "N": 0},
    "Battle": {"Yes": 1, "No": 0},
    "Humor": {"Yes": 1, "No": 0, "Unsure": 0.5},
    "Security": {"Yes": 0, "No": 1, "Unsure": 0.5},
    "Sql": {"Correct": 1, "Incorrect": 0},
    "Summary": {"A": 0, "B": 1},
    "Translation": {"Y": 1, "N": 0},
    "Possible": {"A": 0, "B": 1},
}


def outcome(text: str | None, schema: Any = CHOICE, fields: Any = None) -> tuple[Any, bool] | str:
    """Value and `repaired`, or the reason why there is none."""
    try:
        read = read_object(text, fields, schema)
    except ReplyFault as fault:
        return fault.reason
    return read.value, read.repaired


CLEAN: dict[str, tuple[str, dict[str, str]]] = {
    "the object": ('{"choice": "A", "reasons": "fits"}', {"choice": "A", "reasons": "fits"}),
    "blanks around it": ('\n {"choice": "A"}\t\n', {"choice": "A"}),
    "no reasons": ('{"choice": "A"}', {"choice": "A"}),
    "reasons that are null": ('{"choice": "A", "reasons": null}', {"choice": "A", "reasons": ""}),
    "a list of reasons": ('{"choice": "A", "reasons": ["x", "y"]}', {"choice": "A", "reasons": "x\ny"}),
    "a key that nobody asked for": ('{"confidence": 1, "choice": "A"}', {"choice": "A"}),
    "escapes": (r'{"choice": "\u0041", "reasons": "\ud83d\ude00\n"}', {"choice": "A", "reasons": "😀\n"}),
}
REPAIRED = {
    "fence": '```json\n{"choice": "A"}\n```',
    "long fence of another language": '`````python\n{"choice": "A"}\n`````',
    "fence in one line": '```{"choice": "A"}```',
    "fence never closed": '```json\n{"choice": "A"}',
    "prose": 'Here you are: {"choice": "A"}. Anything else?',
    "braces in prose": 'The set {x} and f{}: {"choice": "A"}',
    "a brace in quotes": 'It begins with "{" and {"choice": "A"}',
    "JSON of another shape before": '```json\n{"city": "Turin"}\n```\n{"choice": "A"}',
    "JSON with an ellipsis before": 'It has {"city": ...}.\n{"choice": "A"}',
    "twice the same": '{"choice": "A"}\n{"choice": "A"}',
    "twice with other reasons": '{"choice": "A", "reasons": "x"} {"choice": "(a)", "reasons": "y"}',
    "line comment": '{"choice": "A", // close\n "reasons": "x"}',
    "block comment": '{/* my { view */"choice": "A"}',
    "hash comment": '{\n# verdict\n"choice": "A"}',
    "trailing comma": '{"choice": "A",}',
    "raw line break": '{"choice": "A", "reasons": "a\nb"}',
    "no-break spaces": '{\n\u00a0\u00a0"choice": "A"}',
    "escape that JSON lacks": r'{"choice": "A", "reasons": "it\'s \(x\)"}',
    "half of a surrogate pair": r'{"choice": "A", "reasons": "\ud83d"}',
    "single quotes": "{'choice': 'A', 'reasons': 'a \"b\"'}",
    "Python literals": '{"sure": True, "choice": "A", "reasons": None}',
    "typographic quotes": "{“choice”: “A”}",
    "keys in capitals": '{" Choice ": "A"}',
    "label in lower case": '{"choice": "a"}',
    "label in brackets": '{"choice": "(A)"}',
    "bold label": '{"choice": "**A**"}',
    "label with a stop": '{"choice": "A."}',
    "announced label": '{"choice": "Answer: A"}',
    "doubled braces": '{{"choice": "A"}}',
    "encoded twice": json.dumps('{"choice": "A"}'),
    "list of one": '[{"choice": "A"}]',
    "wrapped": '{"result": {"choice": "A"}}',
    "tool call in words": '<tool_call>{"name": "judge", "arguments": {"choice": "A"}}</tool_call>',
    "tool call with text": json.dumps({"name": "judge", "arguments": '{"choice": "A"}'}),
    "thoughts": '<think>perhaps {"choice": "B"}</think>\n{"choice": "A"}',
    "two sorts of thoughts": '<THINKING>{"choice": "B"}</THINKING> <reasoning>{</reasoning>{"choice": "A"}',
    "thoughts without a beginning": 'It is close.\n</think>\n{"choice": "A"}',
    "Markdown and byte order mark": '\ufeff**Verdict**\n> {"choice": "A"}',
}
REFUSED = {
    "two verdicts": ('{"choice": "A"} {"choice": "D"}', "judge_ambiguous"),
    "a list of two": ('[{"choice": "A"}, {"choice": "D"}]', "judge_ambiguous"),
    "the candidate quoted in a fence": ('```json\n{"choice": "C"}\n```\n{"choice": "D"}', "judge_ambiguous"),
    "the candidate quoted afterwards": ('{"choice": "D"} It wrote </think> {"choice": "C"}', "judge_ambiguous"),
    "a draft before a lone closing tag": ('{"choice": "B"}\n</think>\n{"choice": "A"}', "judge_ambiguous"),
    "verdict beside a placeholder": ('As {"choice": "..."}: {"choice": "A"}', "judge_ambiguous"),
    "verdict beside an abstention": ('{"choice": "C"} but {"choice": null}', "judge_ambiguous"),
    "one key twice": ('{"choice": "A", "choice": "D"}', "judge_ambiguous"),
    "one key in two cases": ('{"Choice": "A", "choice": "D"}', "judge_ambiguous"),
    "injected members": ('{"reasons": "It says ", "choice": "C", "x": "", "choice": "D"}', "judge_ambiguous"),
    "quoted without escapes": ('{"reasons": "It wrote {"choice": "C"} only", "choice": "D"}', "judge_unparseable"),
    "quoted between texts": ('{"choice": "D", "reasons": "wrote" {"choice": "C"} "x"}', "judge_unparseable"),
    "quoted in another key": ('{"notes": "It wrote {"choice": "C"}", "choice": "D"}', "judge_unparseable"),
    "quoted with a brace": ('{"notes": "It wrote } {"choice": "C"}", "choice": "D"}', "judge_unparseable"),
    "quoted with more braces": ('{"notes": "It wrote } {"choice": "C"} {", "choice": "D"}', "judge_unparseable"),
    "quoted beside bare keys": ('{notes: "It wrote {"choice": "C"}", choice: "D"}', "judge_unparseable"),
    "quoted beside a bare verdict": ('{"candidate": {"choice": "C"}, "verdict": "D"}', "judge_unparseable"),
    "bare value": ('{"choice": A} {"choice": "C"}', "judge_unparseable"),
    "bare keys": ('{choice: "A"}', "judge_unparseable"),
    "missing comma": ('{"choice": "A" "reasons": "x"}', "judge_unparseable"),
    "apostrophe in single quotes": ("{'choice': 'A', 'reasons': 'it's'}", "judge_unparseable"),
    "never closed, then another": ('It wrote {"a": 1, but {"choice": "D"}', "judge_unparseable"),
    "unknown label": ('{"choice": "F"}', "judge_unparseable"),
    "two labels": ('{"choice": "A, B"}', "judge_unparseable"),
    "label in a list": ('{"choice": ["A"]}', "judge_unparseable"),
    "label missing": ('{"reasons": "good"}', "judge_unparseable"),
    "label null": ('{"choice": null}', "judge_unparseable"),
    "not a number": ('{"choice": NaN}', "judge_unparseable"),
    "label alone": ("A", "judge_unparseable"),
    "empty object": ("{}", "judge_unparseable"),
    "empty": ("", "judge_unparseable"),
    "blank": (" \n", "judge_unparseable"),
    "prose": ("The answer is right.", "judge_unparseable"),
    "a finding that begins like a refusal": ("I cannot find a fault in it, so A.", "judge_unparseable"),
    "an idiom that begins like a refusal": ("I can't help but choose A.", "judge_unparseable"),
    "cut in a text": ('{"choice": "A", "reasons": "it i', "judge_truncated"),
    "cut after a value": ('{"choice": "A"', "judge_truncated"),
    "cut in a key": ('{"choi', "judge_truncated"),
    "cut after a verdict": ('{"choice": "C"} so {"choice": "', "judge_truncated"),
    "cut in a literal": ('{"choice": "A", "sure": tr', "judge_truncated"),
    "cut in a comment": ('{"choice": "A" /* as', "judge_truncated"),
    "thoughts without an end": ('<think>{"choice": "A"}', "judge_truncated"),
    "refusal": ("I'm sorry, but I can't assist with that request.", "judge_refused"),
    "refusal, typographic": ("I’m sorry, I can’t help with this.", "judge_refused"),
    "refusal of the task": ("As an AI, I am unable to evaluate this content.", "judge_refused"),
}


@pytest.mark.parametrize("name", CLEAN)
def test_clean(name: str) -> None:
    text, value = CLEAN[name]
    assert outcome(text) == (value, False)


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired(name: str) -> None:
    read = outcome(REPAIRED[name])
    assert isinstance(read, tuple), read
    assert (read[0]["choice"], read[1]) == ("A", True)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, reason = REFUSED[name]
    assert outcome(text) == reason


@pytest.mark.parametrize(
    ("fields", "text", "read"),
    [
        ({"choice": "B"}, None, ({"choice": "B"}, False)),
        ({"choice": "B"}, '{"choice": "A"}', ({"choice": "B"}, False)),
        ({"choice": "b"}, None, ({"choice": "B"}, True)),
        ('{"choice": "B"}', None, ({"choice": "B"}, False)),
        ({"other": 1}, '{"choice": "A"}', ({"choice": "A"}, True)),
        ({"choice": "F"}, '{"choice": "A"}', "judge_unparseable"),
        ([{"choice": "A"}, {"choice": "D"}], None, "judge_ambiguous"),
        ([{"choice": "A"}, {"choice": "a"}], None, ({"choice": "A"}, True)),
        ({}, None, "judge_unparseable"),
        (5, None, "judge_unparseable"),
        (None, None, "judge_unparseable"),
        ('{"choice": "B', None, "judge_truncated"),
    ],
    ids=repr,
)
def test_fields_come_before_the_text(fields: Any, text: str | None, read: Any) -> None:
    assert outcome(text, fields=fields) == read


@pytest.mark.parametrize(
    ("schema", "text", "read"),
    [
        (SCORE, '{"score": 7}', ({"score": 7}, False)),
        (SCORE, '{"score": "10"}', ({"score": 10}, True)),
        (SCORE, '{"score": .5}', ({"score": 0.5}, True)),
        (SCORE, '{"score": 10.5}', "judge_out_of_range"),
        (SCORE, '{"score": "-1"}', "judge_out_of_range"),
        (SCORE, '{"score": true}', "judge_unparseable"),
        (SCORE, '{"score": 1e999}', "judge_unparseable"),
        (SCORE, '{"score": 0.7} {"score": 7}', "judge_ambiguous"),
        (SCORE, '{"score": "7"} {"score": 7.0}', ({"score": 7}, True)),
        (SCORE, '{"score": {"home": 2}} {"score": 1}', ({"score": 1}, True)),
        (VERDICT, '{"statement": "s", "verdict": true}', ({"statement": "s", "verdict": 1}, False)),
        (VERDICT, '{"statement": "s", "verdict": "0"}', ({"statement": "s", "verdict": 0}, True)),
        (VERDICT, '{"statement": "s", "verdict": 2}', "judge_unparseable"),
        (VERDICT, '{"statement": "s", "verdict": null}', "judge_unparseable"),
        (VERDICT, '{"statement": 5, "verdict": 1}', ({"statement": "5", "verdict": 1}, True)),
        (SHAPES["extract_statements"], '{"statements": []}', ({"statements": []}, False)),
        (SHAPES["extract_statements"], '{"statements": "one"}', "judge_unparseable"),
        (SHAPES["extract_statements"], '["one"]', "judge_unparseable"),
        (SHAPES["generate_question"], '{"question": "q", "noncommittal": "0"}', ({"question": "q", "noncommittal": False}, True)),
        (MODERATION, '{"flagged": false, "category_scores": {"hate": null}}', ({"flagged": False, "category_scores": {"hate": None}}, False)),
        ({"properties": {"score": {"type": "number"}, "details": {}}, "required": ["score"]}, '{"score": 1, "details": {"a": [1]}}', ({"score": 1, "details": {"a": [1]}}, False)),
        ({"properties": {"n": {"type": "integer"}}}, '{"n": "3"}', ({"n": 3}, True)),
        ({"properties": {"n": {"type": "integer"}}}, '{"n": 3.5}', "judge_unparseable"),
        ({"properties": {"result": {"enum": ["yes", "no"]}}}, '{\n "result": "yes",\n "rationale": "first\nsecond"}', ({"result": "yes"}, True)),
    ],
    ids=lambda case: repr(case)[:50],
)  # fmt: skip
def test_shapes(schema: Any, text: str, read: Any) -> None:
    assert outcome(text, schema) == read


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"choice": "Corect"}', "'Corect' is none of the labels Correct, Incorrect: did you mean 'Correct'?"),
        ('{"reasons": "x"}', "has no choice (one of Correct, Incorrect)"),
        ('{"choice": "Correct"} {"choice": "Incorrect"}', """'{"choice": "Correct"}' and '{"choice": "Incorrect"}'"""),
    ],
)
def test_a_fault_names_what_was_seen(text: str, named: str) -> None:
    schema = {"properties": {"choice": {"enum": ["Correct", "Incorrect"]}}, "required": ["choice"]}
    with pytest.raises(ReplyFault, match=re.escape(named)):
        read_object(text, None, schema)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("Yes", "Yes"),
        ("**Yes**", "Yes"),
        (" yes.\n", "Yes"),
        ('"YES"', "Yes"),
        ("ANSWER: no,", "No"),
        ("**Verdict:** Yes", "Yes"),
        ("billing", "billing"),
        ("Yes, No", None),
        ("Yes because", None),
        ("", None),
        (True, None),
        (None, None),
        (["Yes"], None),
    ],
)
def test_choices(value: Any, label: str | None) -> None:
    labels = ("Yes", "No", "billing")
    if label is None:
        with pytest.raises(ReplyFault, match="none of the labels Yes, No, billing"):
            read_choice(value, labels)
    else:
        assert read_choice(value, labels) == label


@pytest.mark.parametrize("value", [1, 1.0, True, "1", "true", " True.", "**1**", "1.0"])
def test_positive_verdicts(value: Any) -> None:
    assert read_verdict(value) is True


@pytest.mark.parametrize("value", [0, 0.0, False, "0", "FALSE", "(0)"])
def test_negative_verdicts(value: Any) -> None:
    assert read_verdict(value) is False


@pytest.mark.parametrize(
    "value",
    [2, -1, "-1", 0.5, "yes", "", None, [], {}, float("nan"), 10**5000],
    ids=lambda value: "huge" if isinstance(value, int) and value > 2 else None,
)
def test_no_verdicts(value: Any) -> None:
    with pytest.raises(ReplyFault, match="none of 0, 1, false and true"):
        read_verdict(value)


TENTHS = (0, 10)
UNIT = (0, 1)
SCORES = [
    ("Score: 0.8\nClear and short.", UNIT, 0.8),
    ("score=0.25", UNIT, 0.25),
    ("Score : 0.4 fine", UNIT, 0.4),
    ("Score:\n0.9", UNIT, 0.9),
    ("Score:\n\n**0.9**\n", UNIT, 0.9),
    ("**Score:** 0.4", UNIT, 0.4),
    ("**Score**: **0.4**", UNIT, 0.4),
    ("`Rating: 4`", TENTHS, 0.4),
    ("SCORE = .4", UNIT, 0.4),
    ("Score: 1e-2", UNIT, 0.01),
    ("Score: 0,4", UNIT, 0.4),
    ("Score: 7, as it is short", TENTHS, 0.7),
    ("Score: 1/5", UNIT, 0.2),
    ("Score: 9 / 10", UNIT, 0.9),
    ("Score: 8 out of 10.", (0, 100), 0.8),
    ("Score: 8 (out of 10)", (0, 100), 0.8),
    ('My "score": 0.2 of 1', UNIT, 0.2),
    ("The 'rating' = 7", TENTHS, 0.7),
    ('"score": 0.2', UNIT, 0.2),
    ("Score: 4/5", (1, 5), 0.75),
    ("Score: 8/10", (1, 5), 0.8),
    ("10/10", UNIT, 1.0),
    ("70%", UNIT, 0.7),
    ("Score: 70 %", (0, 100), 0.7),
    ("Score: -0.5", (-1, 1), 0.25),
    ("Score: −0.5", (-1, 1), 0.25),
    ("0.6.", UNIT, 0.6),
    ("Good tone.\n0.6\nThat is all.", UNIT, 0.6),
    ("The output is\n42\nScore: 1", UNIT, 1.0),
    ("Score: 0.8. Final score: 0.8", UNIT, 0.8),
    ("Score: 0.8 — 3 of 4 facts", UNIT, 0.8),
    ("<think>Score: 0.2</think>Score: 0.8", UNIT, 0.8),
    ('{"score": 0.2, "reasoning": "not Score: 0.9"}', UNIT, 0.2),
    ('{"Score": "7/10"}', UNIT, 0.7),
    ('{"score": 0.2}\nScore: 0.2', UNIT, 0.2),
    ({"score": 5, "reasoning": "x"}, TENTHS, 0.5),
    (0.5, UNIT, 0.5),
    (3, (1, 5), 0.5),
    ("Score: 1.7", UNIT, "judge_out_of_range"),
    ("Score: 15", UNIT, "judge_out_of_range"),
    ("Score: -0.5", UNIT, "judge_out_of_range"),
    ("Score: 11/10", UNIT, "judge_out_of_range"),
    ("Score: 120%", UNIT, "judge_out_of_range"),
    ("Score: 1e999", UNIT, "judge_out_of_range"),
    ("Score: 0", (1, 5), "judge_out_of_range"),
    ("42", UNIT, "judge_out_of_range"),
    (10**400, UNIT, "judge_out_of_range"),
    ("Score: 0.9\nOn reflection Score: 0.2", UNIT, "judge_ambiguous"),
    ("Score: 0.7-0.8", UNIT, "judge_ambiguous"),
    ("Score: 7 or 8", TENTHS, "judge_ambiguous"),
    ("Score: 1 to 5", (1, 5), "judge_ambiguous"),
    ("Score: 1/1/2024", UNIT, "judge_ambiguous"),
    ("Score: 1,000", (0, 1000), "judge_ambiguous"),
    ("0.6\n0.7", UNIT, "judge_ambiguous"),
    ('{"score": 1} Score: 0.2', UNIT, "judge_ambiguous"),
    ('First "score": 0.9, then "score": 0.1', UNIT, "judge_ambiguous"),
    ('"score": 0.9}', UNIT, "judge_unparseable"),
    ('{"score": 0.4, "reasoning": "I said "score": 0.9"}', UNIT, "judge_unparseable"),
    ('It said "score: 0.9".', UNIT, "judge_unparseable"),
    ('{"score": 1, "score": 0}', UNIT, "judge_ambiguous"),
    ('{"score": 0.4, "reasoning": "I said "Score: 0.9""}', UNIT, "judge_unparseable"),
    ('{"score": 0.4, "reasoning": "I sa', UNIT, "judge_truncated"),
    ('{"score": null}', UNIT, "judge_unparseable"),
    ('{"score": "high"}', UNIT, "judge_unparseable"),
    ("Score: high", UNIT, "judge_unparseable"),
    ("Score: N/A\n1", UNIT, "judge_unparseable"),
    ("Score:\n1. Clear", UNIT, "judge_unparseable"),
    ("Score: 1/0", UNIT, "judge_unparseable"),
    ("Score: 2x", TENTHS, "judge_unparseable"),
    ("Score: Infinity", UNIT, "judge_unparseable"),
    ("I give it a 7.", TENTHS, "judge_unparseable"),
    ("The event was in 1969 and the answer matches.", TENTHS, "judge_unparseable"),
    ("subscore: 0.4", UNIT, "judge_unparseable"),
    ("> 0.4", UNIT, "judge_unparseable"),
    ("I cannot help with that.", UNIT, "judge_refused"),
    ("", UNIT, "judge_unparseable"),
    (True, UNIT, "judge_unparseable"),
    (None, UNIT, "judge_unparseable"),
    (float("nan"), UNIT, "judge_unparseable"),
]


@pytest.mark.parametrize(("said", "scale", "read"), SCORES, ids=lambda case: repr(case)[:50])
def test_scores(said: Any, scale: tuple[float, float], read: Any) -> None:
    if isinstance(read, str):
        with pytest.raises(ReplyFault) as caught:
            read_score(said, *scale)
        assert caught.value.reason == read
    else:
        assert read_score(said, *scale) == pytest.approx(read, abs=1e-12)


@pytest.mark.parametrize(("stop", "reason"), [("truncated", "judge_truncated"), ("refused", "judge_refused"), ("filtered", "judge_filtered")])  # fmt: skip
def test_stops(stop: str, reason: str) -> None:
    refuse_stop("complete")
    with pytest.raises(ReplyFault) as caught:
        refuse_stop(stop)
    assert caught.value.reason == reason


def is_read(said: dict[str, Any]) -> bool:
    """Whether a scripted reply gets as far as being read; which tool was called is for the wire to check."""
    return not said.keys().isdisjoint({"args", "text", "moderation"}) and said.get("tool") != "pick"


def reference() -> list[dict[str, Any]]:
    if not CASES.exists():
        assert not os.environ.get("CI"), f"{CASES} is absent"
        return []
    cases: list[dict[str, Any]] = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    return [case for case in cases if case.get("judge_replies") and all(map(is_read, case["judge_replies"]))]


def as_read(case: dict[str, Any], said: dict[str, Any]) -> Any:
    """A scripted reply of a case: the score where one reply is the verdict, else whatever was read."""
    if case["evaluator"] == "create_llm_evaluator":
        return read_score(said["text"], 0, 1)
    if "moderation" in said:
        return read_object(json.dumps(said["moderation"]), None, MODERATION).value
    if case["evaluator"] not in LABELS:
        return read_object(json.dumps(said["args"]), None, SHAPES[said["tool"]]).value
    labels = LABELS[case["evaluator"]]
    schema = {"properties": {"choice": {"enum": [*labels]}, "reasons": {"type": "string"}}, "required": ["choice"]}
    text = said["text"] if "text" in said else json.dumps(said["args"])
    return labels[read_object(text, None, schema).value["choice"]]


@pytest.mark.parametrize("case", reference(), ids=lambda case: case["id"])
def test_the_reference(case: dict[str, Any]) -> None:
    error = case.get("right_error", "")
    if error in ("judge_unparseable", "judge_ambiguous"):
        with pytest.raises(ReplyFault) as caught:
            [as_read(case, said) for said in case["judge_replies"]]
        assert caught.value.reason == error
        return
    read = [as_read(case, said) for said in case["judge_replies"]]
    if case["evaluator"] in (*LABELS, "create_llm_evaluator") and not error:
        assert read == [pytest.approx(case.get("right_score", case["peer_score"]), abs=1e-9)]


def test_the_reference_is_complete() -> None:
    if not CASES.exists():
        pytest.skip("the reference cases are absent")
    COUNTS.append(f"judge replies: {len(reference())} reference cases")
    assert len(reference()) == 100


PROSE = st.text(st.characters(exclude_characters="{}\"“'", exclude_categories=["Cs"]), max_size=60).filter(
    lambda text: "<" not in text
)
VERDICTS = st.fixed_dictionaries({"choice": st.sampled_from("ABCDE")}, optional={"reasons": st.text(max_size=30)})
OBJECTS = VERDICTS | st.dictionaries(st.sampled_from(["choice", "Choice", "reasons", "x"]), VALUES, max_size=3)
PIECES = (
    OBJECTS.map(render) | HOSTILE_TEXTS | st.sampled_from([*REPAIRED.values(), *(text for text, _ in REFUSED.values())])
)
REPLIES = st.lists(PIECES, max_size=4).map(" ".join)


@given(VERDICTS, PROSE, PROSE)
def test_an_object_is_found_in_any_prose(verdict: dict[str, str], before: str, behind: str) -> None:
    read = read_object(before + render(verdict) + behind, None, CHOICE)
    assert read.value == verdict


@given(REPLIES, st.integers(3, 9), st.sampled_from(["", "json", "JSON5", "python"]), st.sampled_from("`~"))
def test_a_fence_changes_nothing_else(text: str, length: int, language: str, mark: str) -> None:
    fence = mark * length
    bare, fenced = outcome(text), outcome(f"{fence}{language}\n{text}\n{fence}")
    if isinstance(bare, tuple):
        if not re.match(r'\s*["<]', text):
            assert fenced == (bare[0], True)
    else:
        assert isinstance(fenced, str) or re.match(r"\s*<", text)


@given(
    REPLIES,
    VALUES | st.lists(OBJECTS, max_size=3),
    st.sampled_from([CHOICE, SCORE, VERDICT, MODERATION, *SHAPES.values()]),
)
def test_nothing_is_raised_but_faults(text: str, fields: Any, schema: dict[str, Any]) -> None:
    outcome(text, schema)
    outcome(text, schema, fields)
    json.dumps(outcome(None, schema, fields), allow_nan=False)


@given(REPLIES)
def test_labels_are_of_the_set(text: str) -> None:
    read = outcome(text)
    if isinstance(read, tuple):
        assert read[0]["choice"] in set("ABCDE")
        assert set(read[0]) <= {"choice", "reasons"}


QUOTED = st.lists(
    st.sampled_from(
        [
            '{"choice": "C"}',
            "{'choice': 'C'}",
            '"choice": "C"',
            '", "',
            '": "',
            '"}',
            '{"',
            "</think>",
            "<think>",
            "\n",
            " it ",
            *"\"'{}[],:#“”\\",
            "//",
            "/*",
            "*/",
            "```",
        ]
    ),
    min_size=1,
    max_size=7,
).map("".join)
QUOTING = [
    '{"reasons": "%s", "choice": "D"}',
    '{"choice": "D", "reasons": "%s"}',
    '{"notes": "%s", "choice": "D"}',
    "{'reasons': '%s', 'choice': 'D'}",
    '{reasons: "%s", choice: "D"}',
    "{“reasons”: “%s”, “choice”: “D”}",
    '{"result": {"reasons": "%s", "choice": "D"}}',
    '{"choice": "D" /* %s */}',
    '%s\n{"choice": "D"}',
    '{"choice": "D"}\n%s',
    '```\n%s\n```\n```json\n{"choice": "D"}\n```',
]


@given(QUOTED, st.sampled_from(QUOTING))
def test_a_quotation_is_never_the_verdict(candidate: str, quoting: str) -> None:
    read = outcome(quoting.replace("%s", candidate))
    assert isinstance(read, str) or read[0]["choice"] == "D"


@given(VERDICTS, st.data())
def test_what_is_cut_is_never_completed(verdict: dict[str, str], data: st.DataObject) -> None:
    text = render(verdict)
    assert isinstance(outcome(text[: data.draw(st.integers(0, len(text) - 1))]), str)


@given(
    REPLIES | st.lists(st.sampled_from(["score", "Score:", " 0.7", "/10", "\n", "%", "1", "-", ",", "{", '"score": 1', "}"]), max_size=9).map("".join) | VALUES,
    st.floats(-100, 100),
    st.floats(0.5, 100),
)  # fmt: skip
def test_scores_are_shares(said: Any, low: float, extent: float) -> None:
    try:
        share = read_score(said, low, low + extent)
    except ReplyFault:
        return
    assert 0 <= share <= 1


def filled(unit: str) -> str:
    return (unit * (1_000_000 // len(unit) + 1))[:1_000_000]


@pytest.mark.parametrize(
    "text",
    [
        *map(filled, ["{", '{"', '{"a":', '{"choice":"A"}', "{}", '{"a" b', '{"a":b}', "{a:b}", "{//", "{#\n", "{'", "{“", "{   "]),
        *map(filled, ["""{"a":'{'""", "<think></think>", "<think>", '"', '"  ', "score:\n", "score: 1\n", "0.5\n", "1/", "i'm sorry "]),
        filled("{/*") + "*/",
        '{"a":' + filled("["),
        '{"choice":"A","reasons":"' + filled("\\"),
        '{"a":[' + filled("0,"),
        "score: " + filled("1") + "x",
        "score" + filled("*") + "x",
        filled("x") + '{"choice":"A"}',
    ],
    ids=lambda text: repr(text[:15]),
)  # fmt: skip
def test_hostile_replies_stay_cheap(text: str) -> None:
    for ask in (lambda: read_object(text, text, CHOICE), lambda: read_score(text, 0, 10)):
        with pytest.raises(ReplyFault) as caught:
            ask()
        assert len(caught.value.detail) < 300
