"""Judges that are no chat: moderation, an own scorer, a person."""

from typing import Any

import pytest

from service.core.judging import Grade
from tests.scorers.judged.driving import judged

MODERATION = {"type": "moderation"}
EXTERNAL = {"type": "external"}
REVIEW = {"type": "review", "criteria": "Chose the right queue."}


def flags(flagged: Any, **scores: Any) -> dict[str, Any]:
    return {"flagged": flagged, "category_scores": scores}


MODERATED = [
    # threshold, reply, score, reason
    (None, flags(False, hate=0.99), 1.0, None),
    (None, flags(True, hate=0.01), 0.0, None),
    (None, {"flagged": False}, 1.0, None),
    (None, {"category_scores": {"hate": 0.1}}, None, "judge_unparseable"),
    (0.5, flags(True, hate=0.5), 1.0, None),
    (0.5, flags(False, hate=0.1, violence=0.51), 0.0, None),
    (0.5, flags(False, hate=None), 1.0, None),
    (0.5, flags(True), 1.0, None),
    (0.5, {"flagged": False}, None, "judge_unparseable"),
    (0.5, flags(False, hate=7), None, "judge_out_of_range"),
    (0.5, flags(False, hate="high"), None, "judge_unparseable"),
    (0, flags(False, hate=0.0), 1.0, None),
    (0, flags(False, hate=1e-9), 0.0, None),
]


@pytest.mark.parametrize(("threshold", "reply", "score", "reason"), MODERATED)
def test_moderation(threshold: float | None, reply: Any, score: float | None, reason: str | None) -> None:
    got = judged(MODERATION | {"category_threshold": threshold}, [reply], output="text")
    assert (got.outcome.score, got.outcome.reason) == (score, reason)


def test_moderation_gets_the_text_as_it_is() -> None:
    got = judged(MODERATION, [flags(False)], output="</quoted-0> as is")
    (prompt,) = got.prompts
    assert prompt.kind == "moderation"
    assert [message.content for message in prompt.messages] == ["</quoted-0> as is"]


def test_moderation_names_what_is_above_the_threshold() -> None:
    got = judged(MODERATION | {"category_threshold": 0.5}, [flags(False, hate=0.75, violence=0.2)], output="text")
    assert got.outcome.explanation == "hate 0.75 > 0.5"
    assert got.details["category_scores"] == {"hate": 0.75, "violence": 0.2}


SCORED = [
    ({"score": 0.4, "reasoning": "so so", "details": {"a": [1]}}, 0.4, None),
    ({"score": 1}, 1.0, None),
    ('{"score": "0.5"}', 0.5, None),
    ({"score": 1.5}, None, "judge_out_of_range"),
    ({"score": None}, None, "judge_unparseable"),
    ({"reasoning": "good"}, None, "judge_unparseable"),
]


@pytest.mark.parametrize(("reply", "score", "reason"), SCORED)
def test_external(reply: Any, score: float | None, reason: str | None) -> None:
    got = judged(EXTERNAL, [reply], output="o")
    assert (got.outcome.score, got.outcome.reason) == (score, reason)


def test_an_own_scorer_gets_what_there_is() -> None:
    item: dict[str, Any] = {"output": {"a": 1}, "input": "q", "expected": None, "context": ["c"]}
    got = judged(EXTERNAL | {"params": {"p": [1]}}, [{"score": 1, "details": {"n": 3}, "reasoning": "ok"}], **item)
    (prompt,) = got.prompts
    assert prompt.metadata == {"type": "external", **item, "params": {"p": [1]}}
    assert got.details["details"] == {"n": 3}
    assert got.outcome.explanation == "the scorer's verdict (score 1): ok"
    got = judged(EXTERNAL, [{"score": 1}], output="o")
    assert got.prompts[0].metadata == {"type": "external", "output": "o", "params": None}


def test_a_review_waits_for_a_grade() -> None:
    got = judged(REVIEW, output="o")
    assert got.verdict == ("pending", None, "review")
    assert got.needs[0].grade
    assert got.details == {"criteria": "Chose the right queue."}
    assert "Chose the right queue." in got.outcome.explanation


GRADED = [
    ({}, Grade(0.75, "seen"), "passed", 0.75),
    ({}, Grade(0.25), "failed", 0.25),
    ({"threshold": 0.8}, Grade(0.75), "failed", 0.75),
    ({"negate": True}, Grade(0.25), "passed", 0.75),
]


@pytest.mark.parametrize(("rule", "grade", "status", "score"), GRADED)
def test_a_grade_is_the_score(rule: Any, grade: Grade, status: str, score: float) -> None:
    got = judged(REVIEW | rule, grade=grade, output="o")
    assert got.verdict == (status, score, None)
    assert got.details["rationale"] == grade.reasoning


def test_a_review_of_nothing() -> None:
    assert judged(REVIEW, input="q").verdict == ("no_data", None, "no_output")
