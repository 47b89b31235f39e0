"""The judge cases of the reference, by id: what autoevals gives, and what is right where it errs."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.core.judging import Grade, NoReply
from tests.counts import COUNTS
from tests.scorers.judged.driving import judged

CASES = Path(__file__).parents[4] / "shared" / "reference" / "autoevals.jsonl"
TYPES = {
    "Factuality": "factuality", "ClosedQA": "closed_qa", "Battle": "battle", "Humor": "humor", "Security": "security",
    "Sql": "sql", "Summary": "summary", "Translation": "translation", "Possible": "possible",
    "Moderation": "moderation", "ContextRelevancy": "context_relevancy", "Faithfulness": "faithfulness",
    "AnswerRelevancy": "answer_relevancy", "AnswerCorrectness": "answer_correctness", "create_llm_evaluator": "llm",
    "create_agent_evaluator": "review",
}  # fmt: skip
TOOLS = {"select_choice", "extract_statements", "judge_statements", "extract_sentences", "generate_question", "classify_statements"}  # fmt: skip
BELOW_THE_TEXT = {"tool_calls_null", "tool_calls_empty", "no_choices", "calls"}
PARTS = ("input", "output", "expected", "context")
REFUSED_BY_SCHEMA = {"invalid_params"}


def cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    found = [json.loads(line) for line in CASES.read_text().splitlines()]
    return [case for case in found if case["evaluator"] in TYPES]


def is_sendable(case: dict[str, Any]) -> bool:
    replies = case.get("judge_replies", [])
    if case["evaluator"] != "create_llm_evaluator" and any("text" in reply for reply in replies):
        return False
    return not any(
        reply.keys() & BELOW_THE_TEXT or reply.get("tool", "select_choice") not in TOOLS for reply in replies
    )


def reply_of(told: dict[str, Any], *, as_text: bool) -> Any:
    if "status" in told:
        return NoReply("judge_unavailable", f"status {told['status']}")
    if "args_raw" in told or "text" in told:
        return told.get("args_raw", told.get("text"))
    said = told.get("args", told.get("moderation"))
    return json.dumps(said) if as_text else said


def rule_of(case: dict[str, Any]) -> dict[str, Any]:
    params = {name: value for name, value in case["params"].items() if name not in ("name", "model", "embedding_model")}
    if case["evaluator"] == "Moderation" and "threshold" in params:
        params["category_threshold"] = params.pop("threshold")
    return {"type": TYPES[case["evaluator"]], **params}


def test_the_cases_are_there() -> None:
    if not CASES.exists():
        assert not os.environ.get("CI"), "the reference cases are absent"
        pytest.skip("the reference cases are absent")
    sent = sum(map(is_sendable, cases()))
    COUNTS.append(f"judges: {sent} of {len(cases())} reference cases sent, the others are below the text of a reply")
    assert (sent, len(cases())) == (102, 107)


@pytest.mark.parametrize("as_text", [True, False], ids=["text", "object"])
@pytest.mark.parametrize("case", [case for case in cases() if is_sendable(case)], ids=lambda case: case["id"])
def test_reference(case: dict[str, Any], as_text: bool) -> None:
    item = {name: case[name] for name in PARTS if name in case}
    if "eval_input" in case:
        item |= {"input": case["eval_input"], "output": case["eval_output"]}
    script = [reply_of(told, as_text=as_text) for told in case.get("judge_replies", ())]
    error = case.get("right_error")
    try:
        got = judged(rule_of(case), script, case.get("embeddings"), **item)
    except msgspec.ValidationError:
        assert error in REFUSED_BY_SCHEMA
        return
    if case["evaluator"] == "create_agent_evaluator":
        assert got.verdict == ("pending", None, "review")
        assert judged(rule_of(case), grade=Grade(0.75, "seen"), **item).verdict == ("passed", 0.75, None)
    elif error:
        assert (got.outcome.score, got.outcome.reason) == (None, error)
    else:
        right = case["right_score"] if "right_score" in case else case["peer_score"]
        assert got.outcome.score == pytest.approx(right, abs=1e-9)


FILLED = [case for case in cases() if case["evaluator"] == "create_llm_evaluator" and "peer_prompt" in case]


@pytest.mark.parametrize("case", FILLED, ids=lambda case: case["id"])
def test_a_template_is_filled_as_the_peer_fills_it_but_for_the_fences(case: dict[str, Any]) -> None:
    got = judged(rule_of(case), ["Score: 0.5"], input=case["eval_input"], output=case["eval_output"],
                 **{"expected": case["expected"]} if "expected" in case else {})  # fmt: skip
    (prompt,) = got.prompts
    marker, filled = prompt.messages[1].content.split("\n\n", 1)
    opening, closing = marker.removeprefix("The material stands between ").removesuffix(".").split(" and ")
    assert filled.replace(opening, "").replace(closing, "") == case["peer_prompt"]
