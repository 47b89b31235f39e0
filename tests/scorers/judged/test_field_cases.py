"""Faults of judges that users of other evaluation tools have reported in public, each with the right verdict.

Those of the other evaluators: tests/scorers/test_field_cases.py.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.judge.proxy import Proxy
from service.judge.scripted import Scripted
from service.judge.settings import JudgeSettings
from tests.counts import COUNTS
from tests.judge.serving import JudgeServer, chat, judging, told
from tests.judging import results

CASES = Path(__file__).parents[4] / "shared" / "reference" / "field_cases.jsonl"
KINDS = {
    "abstain", "aggregation", "choice_parse", "determinism", "factual_f1", "judge_choice_map", "judge_parse",
    "judge_reply_shape", "judge_rubric", "judge_scale", "judge_shortcut", "judge_type", "label_only", "position_bias",
    "ragas_nan", "rate_limit",
}  # fmt: skip

ITEM: dict[str, Any] = {"input": "q", "output": "o", "expected": "e"}
CLAIMS: dict[str, Any] = {"input": "What opens when?", "output": "Two claims.", "context": ["One."]}
RATE: dict[str, Any] = {"type": "llm", "prompt_template": "How good is {eval_output}?", "scale": [0, 10]}
F1: dict[str, Any] = {"type": "answer_correctness", "factuality_weight": 1, "answer_similarity_weight": 0}
OTHER_MAP = {"A": 0.5, "B": 0.5, "C": 1, "D": 0, "E": 1}


class Reported(NamedTuple):
    id: str
    what: str
    rule: dict[str, Any]
    item: dict[str, Any]
    replies: Sequence[Any]
    status: str
    score: float | None = None
    says: str = ""
    details: dict[str, Any] = {}
    calls: int = 1


def verdicts(*given: Any) -> dict[str, Any]:
    """What a judge says of the statements x, y and z."""
    rows = [{"statement": name, "verdict": one, "reason": ""} for name, one in zip("xyz", given, strict=False)]
    return {"faithfulness": rows}


REPORTED = [
    Reported("fc-019", "a comma after a letter does not hide it", {"type": "summary"}, ITEM, [{"choice": "B,"}],
             "passed", 1.0, details={"choice": "B"}),
    Reported("fc-019", "two letters are no choice", {"type": "factuality"}, ITEM, [{"choice": "B,C"}], "not_graded",
             says="'B,C' is none of the labels"),
    Reported("fc-040", "a refusal has no claims to check", {"type": "faithfulness"},
             CLAIMS | {"output": "I'm sorry, I can't find that."}, [{"statements": []}], "not_graded",
             says="no claims"),
    Reported("fc-041", "a null verdict is none", {"type": "faithfulness"}, CLAIMS,
             [{"statements": ["x", "y", "z"]}, verdicts(1, None, 0)], "not_graded", says="null", calls=2),
    Reported("fc-042", "one equal word is correct", {"type": "answer_correctness"},
             {"input": "?", "output": "甘草", "expected": "甘草"}, [{"TP": ["k"], "FP": [], "FN": []}], "passed", 1.0),
    Reported("fc-046", "nothing right is 0, not a division by it", F1, ITEM, [{"TP": [], "FP": ["x"], "FN": ["y"]}],
             "failed", 0.0),
    Reported("fc-049", "votes that differ", {"type": "closed_qa", "samples": 3}, ITEM,
             ['{"choice": "Y"}', '{"choice": "N"}', '{"choice": "Y"}'], "passed", 1.0,
             details={"agreement": pytest.approx(2 / 3),
                      "votes": [{"choice": one, "score": score} for one, score in (("Y", 1), ("N", 0), ("Y", 1))]},
             calls=3),
    Reported("fc-069", "a line break inside a text", {"type": "closed_qa"}, ITEM,
             ['{\n "choice": "Y",\n "reasons": "first\nsecond"}'], "passed", 1.0,
             details={"rationale": "first\nsecond", "reading": "repaired"}),
    Reported("fc-070", "a number written as a text", RATE, ITEM, ['{"score": "10", "reason": "all there"}'], "passed",
             1.0),
    Reported("fc-071", "a number in prose is no rating", RATE, ITEM, ["The event was in 1969 and the answer matches."],
             "not_graded", says="no score"),
    Reported("fc-074", "of two objects the one that fits", RATE | {"scale": [0, 1]}, ITEM,
             ['Checking it.\n```json\n{"city": "Turin"}\n```\nVerdict:\n```json\n{"score": 0.2, "reason": "misses it"}\n```'],
             "failed", 0.2),
    Reported("fc-076", "a verdict counts however its statement is echoed", {"type": "faithfulness"}, CLAIMS,
             [{"statements": ["Uses the lookup tool"]},
              {"faithfulness": [{"statement": "- **“Uses the lookup tool”**", "verdict": 1, "reason": "yes"}]}],
             "passed", 1.0, calls=2),
    Reported("fc-076", "a statement without a verdict is told", {"type": "faithfulness"}, CLAIMS,
             [{"statements": ["x", "y"]}, verdicts(1)], "not_graded", says="1 verdicts on 2 statements", calls=2),
    Reported("fc-077", "a map of one's own", {"type": "factuality", "choice_scores": OTHER_MAP}, ITEM,
             ['{"choice": "B"}'], "passed", 0.5, details={"choice": "B", "choice_scores": OTHER_MAP}),
    Reported("fc-078", "equal texts ask nobody", {"type": "factuality"}, ITEM | {"expected": "o"}, [], "passed", 1.0,
             calls=0),
    Reported("fc-079", "a label that passes is not shown as 0", {"type": "summary"}, ITEM, [{"choice": "B"}], "passed",
             1.0, details={"choice": "B"}),
    Reported("fc-080", "the first wins whichever it is", {"type": "battle", "swap": True},
             {"input": "t", "output": "one", "expected": "two"}, [{"choice": "Yes"}] * 2, "passed", 0.5,
             details={"flipped": True}, calls=2),
    Reported("fc-080", "and when they change places", {"type": "battle", "swap": True},
             {"input": "t", "output": "two", "expected": "one"}, [{"choice": "Yes"}] * 2, "passed", 0.5,
             details={"flipped": True}, calls=2),
    Reported("fc-084", "no context asks nobody", {"type": "context_relevancy"}, CLAIMS | {"context": []}, [],
             "no_data", calls=0),
    Reported("fc-084", "nor does it of its claims", {"type": "faithfulness"}, CLAIMS | {"context": []}, [], "no_data",
             calls=0),
]  # fmt: skip

ON_THE_WIRE = {"fc-047", "fc-078"}
UNKNOWN = {"fc-021": "a scorer of the leaves of json_diff is none that abstains"}

Ask = Callable[[Reported], tuple[dict[str, Any], int | None]]


def by_judge(case: Reported) -> tuple[dict[str, Any], int | None]:
    """The evaluation, its judge scripted, and how often that was asked."""
    judges = Scripted(case.replies)
    return evaluated(case.rule, case.item, judges), len(judges.asked)


def by_caller(case: Reported) -> tuple[dict[str, Any], int | None]:
    """The evaluation, its replies sent along."""
    item = case.item | {"replies": {"r": list(case.replies)}}
    return evaluated(case.rule | {"id": "r", "judge": "caller"}, item, Scripted([])), None


def evaluated(rule: dict[str, Any], item: dict[str, Any], judges: Scripted) -> dict[str, Any]:
    body = {"items": [item], "evaluators": [rule], "vectors": {"甘草": [1.0, 0.0]}}
    return results(body, judges=judges)["results"][0]["evaluations"][0]  # type: ignore[no-any-return]


def test_every_case_about_judges_is_here() -> None:
    if not CASES.exists():
        assert not os.environ.get("CI"), "the field cases are absent"
        pytest.skip("the field cases are absent")
    found = {case["id"] for case in map(json.loads, CASES.read_text().splitlines()) if case["kind"] in KINDS}
    here = {case.id for case in REPORTED} | ON_THE_WIRE
    COUNTS.append(f"judges: {len(here)} of {len(found)} field cases")
    assert here | UNKNOWN.keys() == found


@pytest.mark.parametrize("ask", [by_judge, by_caller])
@pytest.mark.parametrize("case", REPORTED, ids=lambda case: f"{case.id} {case.what}")
def test_reported(case: Reported, ask: Ask) -> None:
    got, calls = ask(case)
    assert (got["status"], got["score"]) == (case.status, case.score)
    assert (got["reason"] is None) == (case.score is not None)
    assert case.says in got["explanation"]
    assert got["details"] | case.details == got["details"]
    assert calls in (None, case.calls)


@pytest.mark.parametrize("case", [case for case in REPORTED if not case.calls], ids=lambda case: case.id)
def test_what_asks_nobody_comes_to_the_same_every_time(case: Reported) -> None:
    first, *others = [by_judge(case) for _ in range(3)]
    assert others == [first] * 2


def asked_over_http(server: JudgeServer, rule: dict[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
    proxy = Proxy({"default": JudgeSettings(kind="openai", base_url=server.url, model="m")}, {})
    items = [ITEM | {"output": output} for output in outputs]
    try:
        return results({"items": items, "evaluators": [rule], "deadline_ms": 3000}, judges=proxy)
    finally:
        proxy.close()


def test_fc_047_one_that_is_throttled_for_ever_is_left_out_of_the_mean_and_counted() -> None:
    with judging() as server:
        server.scripts = {
            name: [told(chat({"content": '{"reasons": "", "choice": "Y"}'}))] for name in ("1st", "2nd", "4th")
        }
        server.scripts["3rd"] = [told({}, 429, retry_after="1")] * 100
        answer = asked_over_http(server, {"type": "closed_qa"}, ["1st", "2nd", "3rd", "4th"])
        tries = len(server.calls("3rd"))
    statuses = [item["evaluations"][0]["status"] for item in answer["results"]]
    assert statuses == ["passed", "passed", "not_graded", "passed"]
    got = answer["results"][2]["evaluations"][0]
    assert got["score"] is None
    assert got["reason"] in ("judge_unavailable", "deadline_exceeded")
    assert "overloaded (status 429)" in got["explanation"]
    summary = answer["summary"]
    assert (summary["score"], summary["passed"], summary["not_graded"]) == (1.0, 3, 1)
    assert 1 <= tries <= 3  # a second apart at least, for three seconds


def test_fc_078_an_answer_that_tells_no_tokens_is_an_answer() -> None:
    with judging() as server:
        server.scripts["o"] = [told(chat({"content": '{"reasons": "", "choice": "C"}'}, usage=None))]
        answer = asked_over_http(server, {"type": "factuality"}, ["o"])
    got = answer["results"][0]["evaluations"][0]
    assert (got["status"], got["score"]) == ("passed", 1.0)
    assert answer["summary"]["judge"]["default"] == {"calls": 1, "input_tokens": 0, "output_tokens": 0}
