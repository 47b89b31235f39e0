"""Screening says what a run says, without the words."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.catalogue import Rule
from service.config import Limits
from service.core.assess import Assessor
from service.core.evaluator import Evaluator
from service.core.outcome import Evaluation
from service.engine.batch import Batch, Item
from service.engine.lanes import drain
from service.engine.naming import Names
from service.engine.run import Run
from service.engine.screening import Column, Screening, rolled_up
from service.engine.tasks import MAX_TIMEOUTS
from service.primitives import RuleFault

NEVER = float("inf")
RULES: list[dict[str, Any]] = [
    {"type": "valid_json"},
    {"type": "valid_json", "allow_scalars": True},
    {"type": "valid_json", "extract": "anywhere"},
    {"type": "valid_json", "schema": {"type": "object"}},
    {"type": "json_schema", "schema": {"required": ["a"]}},
    {"type": "json_keys", "keys": {"a": "number"}},
    {"type": "length", "max": 5},
    {"type": "length", "min": 2, "max": 3, "unit": "words"},
    {"type": "length", "min": 1, "unit": "graphemes"},
    {"type": "length", "max": 4, "unit": "bytes", "negate": True},
    {"type": "keywords", "keywords": "a, É"},
    {"type": "keywords", "keywords": ["a", "b"], "match": "all", "whole_word": False},
    {"type": "keywords", "keywords": ["A"], "case_sensitive": True, "negate": True},
    {"type": "keywords", "keywords": " , "},
    {"type": "regex", "pattern": "a.b"},
    {"type": "regex", "pattern": r"\ba", "flags": ["i"], "mode": "fullmatch", "trim": True},
    {"type": "regex", "pattern": r"(?<=a)b"},
    {"type": "regex", "pattern": "("},
    {"type": "contains", "expected": "a"},
    {"type": "contains", "expected": "É", "case_sensitive": False, "whole_word": True},
    {"type": "contains", "expected": ""},
    {"type": "contains"},
    {"type": "contains", "expected": "{{name}}"},
    {"type": "contains", "expected": "1", "path": "$.a", "on_no_match": "fail"},
    {"type": "contains", "expected": "1", "path": "$.a"},
    {"type": "contains", "expected": "q", "from": "input"},
    {"type": "exact_match", "expected": "a"},
    {"type": "levenshtein", "expected": "ab", "threshold": 0.5},
    {"type": "numeric_diff", "expected": 1},
    {"type": "length", "max": 5, "active": False},
]
TEXTS = [
    "",
    "a",
    "a b",
    "ab",
    "É e\u0301",
    '{"a": 1}',
    '{"a": "x"}',
    "[1]",
    "1",
    '"x"',
    "a\nb",
    " A ",
    "[" * 300,
]

texts = st.sampled_from(TEXTS) | st.text(max_size=20) | st.text('ab {}[]":1,É', max_size=12)
values = texts | st.none() | st.integers() | st.dictionaries(st.sampled_from("ab"), texts, max_size=2)
items_ = st.lists(values.map(lambda value: Item(output=value, input="q")), max_size=12)


def rule(sent: dict[str, Any]) -> Evaluator:
    return msgspec.convert(sent, Rule)


def ran(rules: list[Evaluator], items: list[Item]) -> tuple[Run, list[list[Evaluation]]]:
    """What a run says, by rule."""
    batch = Batch(items=items, evaluators=rules, echo="full")
    run = Run(batch, Names(batch), Limits(), NEVER)
    rows = [result.evaluations for some in run.results() for result in some]
    return run, [[row[place] for row in rows] for place in range(len(rules))]


def told(one: Evaluation) -> bool | Evaluation | None:
    return {"passed": True, "failed": False, "skipped": None}.get(one.status, one)


@given(items_, st.lists(st.sampled_from(RULES), min_size=1, max_size=6))
def test_a_screening_and_a_run_agree(items: list[Item], sent: list[dict[str, Any]]) -> None:
    rules = Names(Batch(items=[], evaluators=[rule(one) for one in sent])).shared
    screening = Screening(rules, Limits(), NEVER)
    columns: list[Column] = [[] for _ in rules]
    for start in range(0, len(items), 5):
        for column, more in zip(columns, drain(screening.columns(items[start : start + 5])), strict=True):
            column.extend(more)
    run, expected = ran(rules, items)
    assert columns == [list(map(told, column)) for column in expected]
    found, wanted = screening.counts(), run.counts()
    assert found.evaluations == wanted.evaluations
    assert (found.computed, found.deduplicated, found.total) == (wanted.computed, wanted.deduplicated, wanted.total)
    assert found.seconds.keys() == wanted.seconds.keys()
    assert Counter(map(rolled_up, zip(*columns, strict=True))) == wanted.items


@pytest.mark.parametrize("sent", RULES, ids=lambda sent: str(msgspec.json.encode(sent), "utf-8"))
@given(text=texts)
def test_a_quick_test_is_the_judgement(sent: dict[str, Any], text: str) -> None:
    one = rule(sent)
    try:
        test = Assessor(one).tester()
    except RuleFault:
        return
    if test is not None:
        evaluation = Assessor(one)(Item(output=text))
        assert test(text) == (evaluation.status == "passed")


def test_rules_on_texts_have_a_quick_test() -> None:
    quick = {one["type"] for one in RULES if _is_quick(rule(one))}
    assert quick == {"contains", "keywords", "length", "regex", "valid_json"}


def test_a_text_that_cannot_be_prepared_is_an_error() -> None:
    keywords = rule({"type": "keywords", "keywords": ["x"]})
    [column] = drain(Screening([keywords], Limits(), NEVER).columns([Item(output="x" + "\u0301" * 200)]))
    assert isinstance(column[0], Evaluation)
    assert (column[0].status, column[0].reason) == ("error", "limit_exceeded")


def test_a_rule_that_ran_out_of_time_too_often_is_given_up() -> None:
    slow = rule({"type": "regex", "pattern": r"(?<!b)(a|a)+\1$"})
    items = [Item(output="a" * 40 + str(number)) for number in range(MAX_TIMEOUTS + 3)]
    [column] = drain(Screening([slow], Limits(), NEVER).columns(items))
    assert {one.reason for one in column if isinstance(one, Evaluation)} == {"regex_timeout"}
    assert "given up" in column[-1].explanation  # type: ignore[union-attr]


def test_past_the_deadline_nothing_is_said_and_nothing_remembered() -> None:
    screening = Screening([rule({"type": "length", "max": 5})], Limits(), 0)
    [column] = drain(screening.columns([Item(output="a"), Item(output="a")]))
    assert [one.reason for one in column if isinstance(one, Evaluation)] == ["deadline_exceeded"] * 2
    assert (screening.counts().computed, screening.counts().deduplicated) == (0, 0)


def test_equal_rules_share_their_work_and_keep_their_names() -> None:
    rules = [rule({"type": "regex", "pattern": "(", "id": name}) for name in ("one", "other")]
    screening = Screening(rules, Limits(), NEVER)
    columns = drain(screening.columns([Item(output="a")]))
    assert [column[0].evaluator for column in columns if isinstance(column[0], Evaluation)] == ["one", "other"]
    assert (screening.counts().computed, screening.counts().deduplicated) == (1, 1)


def _is_quick(one: Evaluator) -> bool:
    try:
        return Assessor(one).tester() is not None
    except RuleFault:
        return False
