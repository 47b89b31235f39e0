"""Constraints with values of their own for each query, and which response breaks which."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.lanes import drain
from service.engine.stability.admission import admit
from service.engine.stability.responses import sent
from service.engine.stability.wire import PromptMetrics
from service.primitives.jsontext import as_text
from tests.judging import LIMITS, evaluation
from tests.stability.asking import Body, codes, interaction, measured, refused


def query(*responses: Any, **more: Any) -> Body:
    """A query whose responses need no model."""
    embeddings = [None if isinstance(one, dict) else [1] for one in responses]
    return {"responses": [*responses], "embeddings": embeddings} | more


PRICED = [
    query("It is $15.", "It is $25.", variables={"price": "$15"}),
    query("It is free.", "Nothing.", "It is $0.", variables={"price": "free"}),
]
PRICE: Body = {"type": "regex", "pattern": r"{{price}}(\W|$)", "id": "price"}


def test_a_constraint_may_ask_another_thing_of_each_query() -> None:
    session = measured({"queries": PRICED, "constraints": [PRICE]})
    assert [one["icr"] for one in session["interactions"]] == [0.5, pytest.approx(1 / 3)]
    assert [one["violations"] for one in session["interactions"]] == [{"price": [1]}, {"price": [1, 2]}]
    assert session["icr"] == pytest.approx(5 / 12)
    assert session["warnings"] == []


TEXT = st.text("ab.$({", max_size=4)
VALUE = TEXT | st.integers(0, 3) | st.lists(TEXT, max_size=2)
TEMPLATES: list[Body] = [
    {"type": "contains", "expected": "{{it}}"},
    {"type": "contains", "expected": "a{{it}}", "negate": True},
    {"type": "exact_match", "expected": "{{it}}"},
    {"type": "keywords", "keywords": ["{{it}}", "b"], "whole_word": False},
    {"type": "regex", "pattern": "^{{it}}a?"},
    {"type": "levenshtein", "expected": "b{{it}}"},
    {"type": "length", "max": 2},
    {"type": "embedding_similarity", "expected": "{{it}}"},
]


@pytest.mark.parametrize("rule", TEMPLATES, ids=lambda rule: f"{rule['type']} {rule.get('expected', '')}")
@given(st.lists(st.tuples(st.none() | VALUE, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_constraints_say_of_each_query_what_evaluations_say(rule: Body, some: list[tuple[Any, list[str]]]) -> None:
    """A value of None is one that is not given."""
    variables = [{} if value is None else {"it": value} for value, _ in some]
    queries = [query(*texts, variables=own) for own, (_, texts) in zip(variables, some, strict=True)]
    embedded = {text for _, texts in some for text in texts} | {as_text(own.get("it", "")) for own in variables}
    vectors = {text: [float(len(text)), 1.0] for text in embedded}
    wanted = [
        [evaluation(rule, vectors=vectors, output=text, variables=own) for text in texts]
        for own, (_, texts) in zip(variables, some, strict=True)
    ]
    body = {"queries": queries, "constraints": [rule], "vectors": vectors}
    if all(one["status"] == "error" for row in wanted for one in row):
        assert refused(body)[0] == ("/constraints/0", wanted[0][0]["reason"])
        return
    for one, row in zip(measured(body)["interactions"], wanted, strict=True):
        scores = [evaluated["status"] == "passed" for evaluated in row if evaluated["score"] is not None]
        assert one["icr"] == (pytest.approx(sum(scores) / len(scores)) if scores else None)
        broken = [place for place, evaluated in enumerate(row) if evaluated["status"] == "failed"]
        assert one["violations"] == ({rule["type"]: broken} if broken else {})
        assert ("constraint_not_graded" in codes(one)) == (len(scores) < len(row))


def test_a_value_that_one_query_has_not_is_an_error_of_its_checks_alone() -> None:
    session = measured({"queries": [query("a", "b"), *PRICED], "constraints": [PRICE]})
    one = session["interactions"][0]
    assert (one["icr"], one["icr_by_constraint"], one["violations"]) == (None, {"price": None}, {})
    (detail,) = [warning["detail"] for warning in one["warnings"] if warning["code"] == "constraint_not_graded"]
    assert detail.startswith("2 checks could not be made and count neither way; the first: price, {{price}} is not")
    assert [other["icr"] for other in session["interactions"][1:]] == [0.5, pytest.approx(1 / 3)]


NOWHERE = [
    ("not given", {"type": "contains", "expected": "{{prize}}"}, PRICED, "unknown_variable"),
    ("no pattern", {"type": "regex", "pattern": "({{price}}"}, PRICED, "invalid_pattern"),
    ("empty", {"type": "contains", "expected": "{{it}}"}, [query("a", variables={"it": ""})] * 2, "invalid_params"),
    ("another fault", {"type": "contains", "expected": "{{price}}", "path": "$["}, PRICED, "invalid_path"),
]


@pytest.mark.parametrize(("rule", "queries", "code"), [row[1:] for row in NOWHERE], ids=[row[0] for row in NOWHERE])
def test_a_template_that_can_run_for_no_query_is_refused(rule: Body, queries: list[Body], code: str) -> None:
    assert refused({"queries": queries, "constraints": [rule]}) == [("/constraints/0", code)]


def test_a_template_that_can_run_for_the_last_query_is_not() -> None:
    queries = [query("a", variables={"it": ""})] * 3 + [query("a", variables={"it": "a"})]
    session = measured({"queries": queries, "constraints": [{"type": "contains", "expected": "{{it}}"}]})
    assert [one["icr"] for one in session["interactions"]] == [None, None, None, 1]


def test_braces_stay_where_nothing_is_to_be_filled_in() -> None:
    rule = {"type": "contains", "expected": "{{price}}", "template": False}
    assert interaction(query("{{price}}", "$15", variables={"price": "$15"}), constraints=[rule])["icr"] == 0.5


def test_past_the_deadline_templates_are_looked_at_no_more() -> None:
    request = msgspec.convert({"queries": [query("a")] * 50, "constraints": [PRICE]}, PromptMetrics)
    drain(admit(request, drain(sent(request)), {}, LIMITS, 0, deadline=0))


def test_values_are_texts_within_the_limit_too() -> None:
    long = query("a", variables={"price": ["x", "y" * (LIMITS.text_chars + 1)]})
    assert refused({"queries": [long]}) == [("/queries/0/variables/price/1", "limit_exceeded")]


def test_places_of_violations_are_those_of_responses() -> None:
    responses = [{"error": "429"}, "ab", "b", {"error": "429"}, "a"]
    rules: list[Body] = [{"type": "contains", "expected": one, "id": one} for one in "ab"]
    rules += [{"type": "length", "max": 9}, {"type": "valid_json", "active": False}]
    assert interaction(query(*responses), constraints=rules)["violations"] == {"a": [2], "b": [4]}
    assert interaction(query(*responses))["violations"] is None


@given(st.lists(st.text("abc", max_size=3), min_size=1, max_size=8))
def test_violations_and_shares_agree(texts: list[str]) -> None:
    rules = [{"type": "contains", "expected": one, "id": one} for one in "abc"]
    one = interaction(query(*texts), constraints=rules)
    assert one["violations"] == {
        letter: places for letter in "abc" if (places := [at for at, text in enumerate(texts) if letter not in text])
    }
    for letter, share in one["icr_by_constraint"].items():
        assert share == pytest.approx(1 - len(one["violations"].get(letter, [])) / len(texts))
