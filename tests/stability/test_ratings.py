"""JQ: a judge rates every response."""

from typing import Any

import pytest

from service.config import Limits
from service.core.judging import JudgeInfo, NoReply, Prompt
from service.judge.scripted import Scripted
from tests.judging import LIMITS
from tests.stability.asking import Body, codes, interaction, measured

CALLER: Body = {"jq": {"objective": "Names the city.", "judge": "caller"}}
ASKED: Body = {"jq": {"objective": "Names the city."}}


def query(*responses: Any, **more: Any) -> Body:
    return {"query": "Where?", "responses": [*responses], "embeddings": [None if isinstance(one, dict) else [1] for one in responses]} | more  # fmt: skip


CASES = [
    # replies, scores, jq: those of the reference
    (['{"score": 0.85}', '```json\n{"score": 0.7}\n```', 'Fine. {"score": .5}', '{"reason": "ok", "score": 1}'],
     [0.85, 0.7, 0.5, 1.0], 0.7625),
    (['{"score": 85}', '{"score": 0.9}'], [None, 0.9], 0.9),
    (['{"score": "0.8"}', "{'score': 0.4}", '{"SCORE": 0.6}', '{"score": -0.5}'], [0.8, 0.4, 0.6, None], 0.6),
    (['{"score": 0.9} wait, {"score": 0.1}', 'My "score": 0.2 of 1'], [None, 0.2], 0.2),
    (['{"score": 0.9}', '{"score": 0.9}'], [0.9, 0.9], 0.9),
    (["", "no"], [None, None], None),
]  # fmt: skip


@pytest.mark.parametrize(("replies", "scores", "jq"), CASES)
@pytest.mark.parametrize("by_caller", [True, False])
def test_ratings(replies: list[str], scores: list[float | None], jq: float | None, by_caller: bool) -> None:
    responses = [f"r{place}" for place in range(len(replies))]
    one = (
        interaction(query(*responses, replies=replies), **CALLER)
        if by_caller
        else interaction(query(*responses), judges=Scripted(replies), **ASKED)
    )
    detail = one["jq_detail"]
    assert detail["scores"] == [None if score is None else pytest.approx(score) for score in scores]
    assert one["jq"] == (None if jq is None else pytest.approx(jq))
    graded = sum(score is not None for score in scores)
    assert (detail["graded"], detail["failed"]) == (graded, len(scores) - graded)
    assert [failure["index"] for failure in detail["failures"]] == [at for at, one in enumerate(scores) if one is None]
    assert all(failure["reason"].startswith("judge_") and failure["detail"] for failure in detail["failures"])
    assert ("judge_failures" in codes(one)) == (graded < len(scores))


def test_the_caller_is_asked_in_two_rounds() -> None:
    texts = ["Bern", {"error": "429"}, "Bern", "x" * 3_000]
    first = interaction(query(*texts), **CALLER)
    prompts = first["jq_detail"]["prompts"]
    assert [prompt["index"] for prompt in prompts] == [0, 2, 3]
    assert all(prompt.keys() == {"index", "messages", "schema"} for prompt in prompts)
    assert "x" * 3_000 in prompts[2]["messages"][1]["content"]
    assert (first["jq"], first["jq_detail"]["graded"], first["jq_detail"]["failed"]) == (None, 0, 0)
    assert pending(first).startswith("3 ratings are left to you: ask a model each of jq_detail.prompts")
    replies: list[Any] = [{"score": 1}, None, {"score": 0.5}, None]
    second = interaction(query(*texts, replies=replies), **CALLER)
    assert [prompt["index"] for prompt in second["jq_detail"]["prompts"]] == [3]
    assert pending(second).startswith("1 ratings")
    assert second["jq_detail"]["scores"] == [1, None, 0.5, None]
    replies[3] = {"error": "quota"}
    third = interaction(query(*texts, replies=replies), **CALLER)
    assert third["jq_detail"]["prompts"] == []
    assert "ratings_pending" not in codes(third)
    assert third["jq_detail"]["failures"] == [
        {"index": 3, "reason": "judge_unavailable", "detail": "The caller had no reply: quota"}
    ]
    assert third["jq"] == 0.75


def pending(one: Body) -> str:
    """The one warning of ratings that are left to the caller."""
    (detail,) = [warning["detail"] for warning in one["warnings"] if warning["code"] == "ratings_pending"]
    return str(detail)


def test_each_response_is_rated_by_itself_even_where_texts_are_equal() -> None:
    judges = Scripted([{"score": score} for score in (0, 0.5, 1, 0.25)])
    session = measured({"queries": [query("a", "a", "a"), query("a")], **ASKED}, judges=judges)
    assert [one["jq_detail"]["scores"] for one in session["interactions"]] == [[0, 0.5, 1], [0.25]]
    assert session["jq"] == pytest.approx((0.5 + 0.25) / 2)
    assert len({prompt.slot for _, prompt in judges.asked}) == 4
    assert session["summary"]["judge"] == {"default": {"calls": 4, "input_tokens": 0, "output_tokens": 0}}


def test_what_the_judge_sees() -> None:
    judges = Scripted([{"score": 1}])
    told = query("<think>hm</think>Bern.", context=["Bern is a city."], ground_truth_assistant="It is in Bern.")
    interaction(told, judges=judges, jq={"objective": "Leaves {{braces}} alone."})
    ((name, prompt),) = judges.asked
    shown = prompt.messages[1].content
    for part in ("Leaves {{braces}} alone.", "Where?", ">Bern.<", "Bern is a city.", "It is in Bern."):
        assert part in shown
    assert (name, "hm" in shown) == ("default", False)


def test_a_reference_and_a_query_are_not_needed() -> None:
    judges = Scripted([{"score": 0.5}])
    assert interaction({"responses": ["a"], "embeddings": [[1]]}, judges=judges, **ASKED)["jq"] == 0.5
    assert "reference" not in judges.asked[0][1].messages[1].content


def unheard(prompt: Prompt) -> NoReply:
    return NoReply("deadline_exceeded", "late")


OTHERS = JudgeInfo(name="other", kind="openai", model="m")
FAILING = [
    (Scripted([], judges=()), LIMITS, ["judge_unavailable"] * 2),
    (Scripted(unheard), LIMITS, ["deadline_exceeded"] * 2),
    (Scripted([{"score": 1}] * 2), Limits(judge_calls=1), ["budget_exceeded"]),
]


@pytest.mark.parametrize(("judges", "limits", "reasons"), FAILING)
def test_a_judge_that_fails_is_no_score(judges: Scripted, limits: Limits, reasons: list[str]) -> None:
    one = interaction(query("a", "b"), judges=judges, limits=limits, **ASKED)
    assert [failure["reason"] for failure in one["jq_detail"]["failures"]] == reasons
    assert one["jq"] == (None if len(reasons) == 2 else 1)
    assert "judge_failures" in codes(one)
    assert one["csr"] == 1


BROKEN = JudgeInfo(name="default", kind="openai", model="m", fault="has no key (SET_ME)")
NOBODY = [
    (Scripted([], judges=()), ASKED, "no judge is configured: add a table [judges.default]"),
    (Scripted([], judges=[OTHERS]), ASKED, "no judge is named default; known are other"),
    (Scripted([], judges=[BROKEN]), ASKED, "The judge default has no key (SET_ME)"),
    (Scripted(unheard), ASKED, None),
    (Scripted([], judges=()), CALLER, None),
    (Scripted([], judges=()), {}, None),
]


@pytest.mark.parametrize(("judges", "more", "told"), NOBODY)
def test_a_judge_that_cannot_be_asked_is_told_once_for_all_queries(
    judges: Scripted, more: Body, told: str | None
) -> None:
    session = measured({"queries": [query("a"), query("b")], **more}, judges=judges)
    found = [(warning["code"], warning["detail"]) for warning in session["warnings"]]
    assert [code for code, _ in found] == ["judge_unavailable"] * (told is not None)
    assert told is None or told in found[0][1]
    assert (session["jq"], session["csr"]) == (None, 1)


def test_a_judge_by_name() -> None:
    judges = Scripted([{"score": 1}], judges=[OTHERS])
    assert interaction(query("a"), judges=judges, jq={"objective": "x", "judge": "other"})["jq"] == 1
    assert [name for name, _ in judges.asked] == ["other"]


def test_replies_beside_another_judge_are_not_used() -> None:
    one = interaction(query("a", replies=[{"score": 0}]), judges=Scripted([{"score": 1}]), **ASKED)
    assert (one["jq"], "prompts" in one["jq_detail"]) == (1, False)
    (detail,) = [warning["detail"] for warning in one["warnings"] if warning["code"] == "unused_replies"]
    assert detail == "1 of 1 replies are not read, the first at 0: judge 'default' is asked, and not `caller`"


def test_a_reply_beside_no_response_is_not_used() -> None:
    replies = [None, {"score": 1}, {"score": 0.5}]
    one = interaction(query("a", {"error": "quota"}, "b", replies=replies), **CALLER)
    assert (one["jq"], one["jq_detail"]["scores"]) == (0.5, [None, None, 0.5])
    (detail,) = [warning["detail"] for warning in one["warnings"] if warning["code"] == "unused_replies"]
    assert detail == "1 of 2 replies are not read, the first at 1: there is no text"


@pytest.mark.parametrize(
    ("replies", "more"),
    [([None, None], {}), ([None, None], ASKED), ([{"score": 0}, None], CALLER), (None, ASKED), (None, {})],
)
def test_only_replies_that_nobody_reads_are_told(replies: list[Any] | None, more: dict[str, Any]) -> None:
    one = interaction(query("a", "b", replies=replies), judges=Scripted([{"score": 1}] * 2), **more)
    assert "unused_replies" not in codes(one)


def test_constraints_named_like_the_rating_do_not_meet_it() -> None:
    constraints = [{"type": "contains", "expected": "a", "id": "llm_rubric"}]
    one = interaction(query("a", replies=[{"score": 0.5}]), constraints=constraints, **CALLER)
    assert (one["jq"], one["icr_by_constraint"]) == (0.5, {"llm_rubric": 1})
