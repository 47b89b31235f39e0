"""Questions to judges: what is asked, what it costs, and what becomes of the rules where nobody answers."""

from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.config import Limits
from service.core.judging import JudgeInfo, NoReply, Prompt, Reply
from service.engine.batch import Batch
from service.engine.evaluating import evaluating
from service.engine.run import Outside
from service.engine.validating import Validation, validating
from service.judge.scripted import Scripted
from service.metrics import Metrics
from tests.judging import NO_MODEL, drain, results

FACTS = {"type": "factuality", "id": "facts"}
ITEM = {"input": "Who?", "output": "Ann.", "expected": "Ann, in 1931."}
CHOICE = {"choice": "A", "reasons": "less"}


def only(answer: dict[str, Any]) -> dict[str, Any]:
    ((got,),) = [item["evaluations"] for item in answer["results"]]
    return got  # type: ignore[no-any-return]


DEFAULT = JudgeInfo(name="default", kind="openai", model="m")


def validated(body: dict[str, Any], *judges: JudgeInfo) -> Validation:
    known = Scripted([], judges or (DEFAULT,)).known
    return drain(validating(msgspec.convert(body, Batch), Limits(), known, perf_counter(), 100))


def test_equal_questions_are_asked_once_and_each_vote_apart() -> None:
    judges = Scripted(lambda _: CHOICE)
    items = [ITEM, ITEM, ITEM | {"output": "Bob."}]
    answer = results({"items": items, "evaluators": [FACTS, FACTS | {"id": "three", "samples": 3}]}, judges=judges)
    assert answer["summary"]["judge"] == {"default": {"calls": 6, "input_tokens": 0, "output_tokens": 0}}
    assert len(judges.asked) == 6
    assert {one["status"] for item in answer["results"] for one in item["evaluations"]} == {"failed"}


def test_tokens_are_counted_by_judge() -> None:
    reply = Reply(fields=CHOICE, input_tokens=100, output_tokens=7)
    infos = [JudgeInfo(name=name, kind="openai", model="m") for name in ("default", "other")]
    rules = [FACTS, FACTS | {"id": "o", "judge": "other", "samples": 2}]
    answer = results({"items": [ITEM], "evaluators": rules}, judges=Scripted(lambda _: reply, infos))
    assert answer["summary"]["judge"] == {
        "default": {"calls": 1, "input_tokens": 100, "output_tokens": 7},
        "other": {"calls": 2, "input_tokens": 200, "output_tokens": 14},
    }


def test_a_batch_that_asks_nobody_counts_nothing() -> None:
    assert "judge" not in results({"items": [ITEM], "evaluators": [{"type": "exact_match"}]})["summary"]


UNANSWERED = [
    ("default", "not_graded", "judge_unavailable", "[judges.default]"),
    ("defualt", "error", "unknown_judge", "did you mean 'default'"),
    ("nobody", "error", "unknown_judge", "known are"),
]


@pytest.mark.parametrize(("judge", "status", "reason", "said"), UNANSWERED)
def test_judges_that_are_not_there(judge: str, status: str, reason: str, said: str) -> None:
    known = () if judge == "default" else (JudgeInfo(name="default", kind="openai", model="m"),)
    got = only(results({"items": [ITEM], "evaluators": [FACTS | {"judge": judge}]}, judges=Scripted([], known)))
    assert (got["status"], got["reason"], got["score"]) == (status, reason, None)
    assert said in got["explanation"]


@pytest.mark.parametrize("reason", ["judge_unavailable", "deadline_exceeded", "budget_exceeded"])
def test_no_reply_is_no_score_and_harms_nobody_else(reason: Any) -> None:
    def speak(prompt: Prompt) -> Any:
        return NoReply(reason, "It is out.") if "Bob" in prompt.messages[-1].content else CHOICE

    items = [ITEM, ITEM | {"output": "Bob."}]
    answer = results({"items": items, "evaluators": [FACTS, {"type": "exact_match"}]}, judges=Scripted(speak))
    fine, out = [item["evaluations"] for item in answer["results"]]
    assert (out[0]["status"], out[0]["reason"], out[0]["score"]) == ("not_graded", reason, None)
    assert "It is out." in out[0]["explanation"]
    assert [one["status"] for one in (*fine, out[1])] == ["failed", "failed", "failed"]


def test_a_request_may_not_ask_without_end() -> None:
    items = [ITEM | {"output": f"answer {number}"} for number in range(5)]
    judges = Scripted(lambda _: CHOICE)
    answer = results({"items": items, "evaluators": [FACTS]}, Limits(judge_calls=3), judges=judges)
    assert len(judges.asked) == 3
    reasons = [item["evaluations"][0]["reason"] for item in answer["results"]]
    assert reasons == [None] * 3 + ["budget_exceeded"] * 2
    assert answer["summary"]["judge"]["default"]["calls"] == 3


def test_templates_of_callers_may_be_forbidden() -> None:
    rule = {"type": "llm", "prompt_template": "Rate {eval_output}"}
    known = [JudgeInfo(name="default", kind="openai", model="m", allow_templates=False)]
    judges = Scripted(["Score: 1"], known)
    got = only(results({"items": [ITEM], "evaluators": [rule]}, judges=judges))
    assert (got["status"], got["reason"], judges.asked) == ("error", "invalid_params", [])


# The caller's own replies ------------------------------------------------------------------------------------------

CALLER = FACTS | {"judge": "caller"}
FAITHFUL = {"type": "faithfulness", "id": "true", "judge": "caller"}
CASE = {"input": "When?", "output": "At nine. It is free.", "context": ["Opens at nine."]}
STATEMENTS = {"statements": ["It opens at nine.", "It is free."]}
VERDICTS = {
    "faithfulness": [{"statement": "a", "verdict": 1, "reason": ""}, {"statement": "b", "verdict": 0, "reason": ""}]
}


def asked(item: dict[str, Any], rule: dict[str, Any]) -> list[str]:
    got = only(results({"items": [item], "evaluators": [rule]}))
    assert (got["status"], got["reason"]) == ("pending", "reply")
    assert all(prompt["messages"] and prompt["schema"] for prompt in got["details"]["prompts"])
    return [prompt["key"] for prompt in got["details"]["prompts"]]


def test_the_caller_is_told_what_to_ask_step_by_step() -> None:
    assert asked(CASE, FAITHFUL) == ["statements"]
    assert asked(CASE | {"replies": {"true": {"statements": STATEMENTS}}}, FAITHFUL) == ["verdicts"]
    for replies in ({"statements": STATEMENTS, "verdicts": VERDICTS}, [STATEMENTS, VERDICTS]):
        got = only(results({"items": [CASE | {"replies": {"true": replies}}], "evaluators": [FAITHFUL]}))
        assert (got["status"], got["score"]) == ("passed", 0.5)


def test_what_is_still_to_be_asked_is_told_vote_by_vote() -> None:
    rule = CALLER | {"samples": 3}
    assert asked(ITEM, rule) == ["vote1", "vote2", "vote3"]
    assert asked(ITEM | {"replies": {"facts": {"vote2": CHOICE}}}, rule) == ["vote1", "vote3"]
    assert asked(ITEM | {"replies": {"facts": [CHOICE, CHOICE]}}, rule) == ["vote3"]


@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        (CHOICE, "failed", None),
        ('{"choice": "C"}', "passed", None),
        ({"error": "timed out"}, "not_graded", "judge_unavailable"),
        ("I would rather not say", "not_graded", "judge_unparseable"),
        (["C"], "not_graded", "judge_unparseable"),
        (None, "not_graded", "judge_unparseable"),
    ],
)
def test_a_reply_of_the_caller_is_read_like_any_other(reply: Any, status: str, reason: str | None) -> None:
    got = only(results({"items": [ITEM | {"replies": {"facts": {"vote1": reply}}}], "evaluators": [CALLER]}))
    assert (got["status"], got["reason"]) == (status, reason)


def test_replies_and_grades_belong_to_a_rule_by_its_id() -> None:
    """Equal rules on equal data, but for what was sent for each: they are not one judgement."""
    rules = [CALLER, CALLER | {"id": "again"}, {"type": "review", "criteria": "kind?"}]
    item = ITEM | {
        "replies": {"facts": [{"choice": "C"}], "again": [{"choice": "D"}]},
        "grades": {"review": {"score": 0.75, "reasoning": "mostly"}},
    }
    ungraded = ITEM | {"replies": {"facts": [{"choice": "D"}]}}
    answer = results({"items": [item, ungraded], "evaluators": rules})
    got = [[(one["status"], one["score"]) for one in found["evaluations"]] for found in answer["results"]]
    assert got == [
        [("passed", 1.0), ("failed", 0.0), ("passed", 0.75)],
        [("failed", 0.0), ("pending", None), ("pending", None)],
    ]


def test_each_picked_value_has_questions_of_its_own() -> None:
    rule = CALLER | {"path": "$[*]", "values": "any"}
    item = ITEM | {"output": ["Ann.", "Bob."]}
    assert asked(item, rule) == ["value1.vote1", "value2.vote1"]
    replies = {"value1.vote1": {"choice": "D"}, "value2.vote1": {"choice": "C"}}
    got = only(results({"items": [item | {"replies": {"facts": replies}}], "evaluators": [rule]}))
    assert (got["status"], got["details"]["decided_by"]) == ("passed", 2)


# Before anything is run ----------------------------------------------------------------------------------------------


def test_validation_counts_the_calls() -> None:
    rules: list[Any] = [
        FACTS,
        FACTS | {"id": "votes", "samples": 3},
        FAITHFUL | {"judge": "default"},
        CALLER | {"id": "c"},
    ]
    items = [ITEM | CASE, ITEM | CASE, ITEM]
    told = validated({"items": items, "evaluators": rules})
    assert (told.valid, told.cost.judge_calls) == (True, 2 * 3 + 2)


def test_validation_names_unknown_judges_and_unread_replies() -> None:
    item = ITEM | {"replies": {"facts": ["A"], "plain": ["A"]}, "grades": {"facts": {"score": 1}}}
    rules: list[Any] = [FACTS | {"judge": "mine"}, {"type": "exact_match", "id": "plain"}]
    told = validated({"items": [item], "evaluators": rules})
    assert [(fault.pointer, fault.code) for fault in told.errors] == [("/evaluators/0/judge", "unknown_judge")]
    assert {fault.pointer for fault in told.warnings} == {
        "/items/0/replies/facts", "/items/0/replies/plain", "/items/0/grades/facts",
    }  # fmt: skip


def test_verdicts_in_another_order_stand_beside_their_own_statements() -> None:
    one, other = STATEMENTS["statements"]
    verdicts = [{"statement": other, "verdict": 0, "reason": ""}, {"statement": one, "verdict": 1, "reason": ""}]
    replies = [STATEMENTS, {"faithfulness": verdicts}]
    got = only(results({"items": [CASE | {"replies": {"true": replies}}], "evaluators": [FAITHFUL]}))
    assert {row["statement"]: row["verdict"] for row in got["details"]["statements"]} == {one: 1, other: 0}


@pytest.mark.parametrize("is_sent", [True, False])
@pytest.mark.parametrize("reason", ["judge_unavailable", "deadline_exceeded", "budget_exceeded"])
def test_calls_are_questions_that_were_sent(reason: Any, is_sent: bool) -> None:
    judges = Scripted(lambda _: NoReply(reason, "It is out.", is_sent=is_sent))
    answer = results({"items": [ITEM], "evaluators": [FACTS]}, judges=judges)
    assert answer["summary"]["judge"]["default"]["calls"] == is_sent


def test_judgements_without_a_verdict_are_counted_by_judge_and_reason() -> None:
    said = {"Ann.": "No idea.", "Bob.": Reply(text="", stop="refused"), "Cid.": CHOICE, "Dan.": "No idea."}

    def speak(prompt: Prompt) -> Any:
        return next(line for text, line in said.items() if text in prompt.messages[-1].content)

    items = [{"input": "Who?", "output": text, "expected": "Eve."} for text in (*said, "Ann.")]
    rules: list[Any] = [FACTS, {"type": "exact_match"}, FACTS | {"id": "away", "judge": "caller"}]
    batch = msgspec.convert({"items": items, "evaluators": rules}, Batch)
    outside = Outside(NO_MODEL, Scripted(speak))
    counts = drain(evaluating(batch, Limits(), outside, perf_counter(), 100, 0)).counts
    assert counts is not None
    assert counts.unjudged == {("default", "judge_unparseable"): 2, ("default", "judge_refused"): 1}
    metrics = Metrics()
    metrics.evaluated(counts)
    text = metrics.exposition().decode()
    assert 'scorewright_judge_unjudged_total{judge="default",reason="judge_refused"} 1.0' in text
