"""A judge that rates by a rubric."""

from typing import Any

import pytest

from service.core.judging import Reply
from tests.judging import evaluation
from tests.scorers.judged.driving import judged

RUBRIC = {"type": "llm_rubric", "criteria": "Names the city."}
SCORES = [
    # reply, score, reason
    ({"reasons": "It does.", "score": 1}, 1.0, None),
    ({"score": 0.25}, 0.25, None),
    ('{"reasons": "Nearly.", "score": 0.8}', 0.8, None),
    ("```json\n{\"score\": 0.7}\n```", 0.7, None),
    ("Fine. {\"score\": .5}", 0.5, None),
    ("{'score': 0.4}", 0.4, None),
    ('{"SCORE": "0.6"}', 0.6, None),
    ("Score: 7/10", 0.7, None),
    ('My "score": 0.2 of 1', 0.2, None),
    ("0.9", 0.9, None),
    ('{"score": 85}', None, "judge_out_of_range"),
    ('{"score": -0.5}', None, "judge_out_of_range"),
    ('{"score": 0.9} wait, {"score": 0.1}', None, "judge_ambiguous"),
    ("", None, "judge_unparseable"),
    ("Good.", None, "judge_unparseable"),
    ("I'm sorry, I can't help with that.", None, "judge_refused"),
    (Reply(text='{"score": 0.', stop="truncated"), None, "judge_truncated"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "score", "reason"), SCORES)
def test_scores(reply: Any, score: float | None, reason: str | None) -> None:
    got = judged(RUBRIC, [reply], output="Bern")
    assert got.outcome.score == (None if score is None else pytest.approx(score))
    assert got.outcome.reason == reason


CRITERIA = [
    # parameters, metadata, what the judge is told
    ({"criteria": "one"}, {"criteria": "two"}, ">one<"),
    ({}, {"criteria": "two"}, ">two<"),
    ({}, {"criteria": ["a", "b"]}, '>["a", "b"]<'),
]


@pytest.mark.parametrize(("params", "metadata", "shown"), CRITERIA)
def test_where_criteria_come_from(params: Any, metadata: Any, shown: str) -> None:
    got = judged({"type": "llm_rubric", **params}, [{"score": 1}], output="o", metadata=metadata)
    assert "The criteria: <quoted-" in got.prompts[0].messages[1].content
    assert shown in got.prompts[0].messages[1].content


@pytest.mark.parametrize("item", [{}, {"metadata": {}}, {"metadata": {"criteria": ""}}, {"metadata": None}])
def test_nothing_to_judge_by(item: Any) -> None:
    got = judged({"type": "llm_rubric"}, output="o", expected="o", **item)
    assert got.verdict == ("no_data", None, "missing_criteria")
    assert got.prompts == []


def test_what_is_given_is_shown_and_what_is_not_is_left_out() -> None:
    (all_,) = judged(RUBRIC, [{"score": 1}], output="O", input="I", expected="E", context=["C1", "C2"]).prompts
    told = all_.messages[1].content
    assert [told.count(f">{text}<") for text in ("Names the city.", "I", "C1", "C2", "E", "O")] == [1] * 6
    (few,) = judged(RUBRIC, [{"score": 1}], output="O").prompts
    assert [name for name in ("question", "context", "reference") if f"The {name}" in few.messages[1].content] == []


def test_reasons_come_first_and_are_kept() -> None:
    got = judged(RUBRIC, [{"reasons": "It does.", "score": 0.9}], output="o")
    assert list(got.prompts[0].schema["properties"]) == ["reasons", "score"]
    assert (got.details["rationale"], got.details["reading"]) == ("It does.", "clean")
    assert got.outcome.explanation == "the judge's rating (score 0.9): It does."
    got = judged(RUBRIC | {"use_cot": False}, [{"score": 0.9}], output="o")
    assert list(got.prompts[0].schema["properties"]) == ["score"]


def test_votes_are_averaged() -> None:
    got = judged(RUBRIC | {"samples": 3, "temperature": 1}, [{"score": score} for score in (0, 0.5, 1)], output="o")
    assert got.verdict == ("passed", 0.5, None)
    assert (got.keys, {prompt.temperature for prompt in got.prompts}) == (["vote1", "vote2", "vote3"], {1})


def test_variables_are_filled_into_criteria() -> None:
    rule = RUBRIC | {"criteria": "Names {{city}}.", "judge": "caller"}
    (prompt,) = evaluation(rule, output="o", variables={"city": "Bern"})["details"]["prompts"]
    assert ">Names Bern.<" in prompt["messages"][1]["content"]
