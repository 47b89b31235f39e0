"""The page of judges shows what really happens."""

import json
import re
import tomllib
from typing import Any, get_args

import pytest

from service.catalogue import BY_TYPE
from service.core.asking import Told
from service.core.assess import Assessor
from service.core.evaluator import Evaluator
from service.core.judging import Reply
from service.core.outcome import Evaluation
from service.judge.choosing import judges_of
from service.judge.faults import Cause
from service.judge.figures import Outcome
from service.judge.settings import JudgeSettings
from service.metrics import JUDGE_COUNTERS, JUDGE_GAUGES
from service.primitives.replies.faults import Reason
from tests.judge.conftest import Make
from tests.judge.serving import JudgeServer, told
from tests.judging import results
from tests.serving import ROOT

PAGE = (ROOT / "docs/judges.md").read_text()
BLOCKS = re.findall(r"^```(json \w+|toml|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
JSON = [(kind.removeprefix("json "), json.loads(text)) for kind, text in BLOCKS if kind.startswith("json")]
WITH_CALLER = [(one, JSON[place + 1]) for place, (kind, one) in enumerate(JSON) if kind == "request"]
WITH_SCORER = [dict(JSON[place : place + 5]) for place, (kind, _) in enumerate(JSON) if kind == "rule"]


def part_of(whole: Any, part: Any) -> Any:
    """As much of a value as another one shows; a list is shown by all its elements."""
    if isinstance(whole, dict) and isinstance(part, dict):
        return {key: part_of(whole[key], one) for key, one in part.items() if key in whole}
    if isinstance(whole, list) and isinstance(part, list) and len(whole) == len(part):
        return [part_of(one, other) for one, other in zip(whole, part, strict=True)]
    return whole


@pytest.mark.parametrize(("body", "shown"), WITH_CALLER)
def test_every_request_gets_the_answer_shown(body: Any, shown: tuple[str, Any]) -> None:
    kind, answer = shown
    assert kind == "answer"
    got = [one for item in results(body)["results"] for one in item["evaluations"]]
    assert part_of(got, answer) == answer


@pytest.mark.parametrize("shown", WITH_SCORER)
def test_a_scorer_gets_what_is_shown_and_is_read_as_shown(shown: Any, make: Make, server: JudgeServer) -> None:
    server.scripts[""] = [told(shown["replied"])]
    judges = make(kind="http", model=None)
    rule = shown["rule"] | {"judge": "default"}
    ((got,),) = [
        one["evaluations"]
        for one in results({"items": [shown["item"]], "evaluators": [rule]}, judges=judges)["results"]
    ]
    (asked,) = server.asked
    assert asked.json["metadata"] == shown["sent"]["metadata"]
    assert asked.json["schema"] == shown["sent"]["schema"]
    for message, whole in zip(shown["sent"]["messages"], asked.json["messages"], strict=True):
        assert message in (whole, whole | {"content": "..."})
    assert part_of(got, shown["evaluation"]) == shown["evaluation"]


def test_every_table_of_settings_makes_a_judge() -> None:
    tables = [tomllib.loads(text)["judges"] for kind, text in BLOCKS if kind == "toml"]
    assert len(tables) == 2
    for judges in tables:
        judges_of(judges, {}).close()


def test_the_evaluator_of_ones_own_holds() -> None:
    (code,) = [text for kind, text in BLOCKS if kind == "python"]
    names: dict[str, Any] = {"__name__": "house_rules"}
    exec(code, names)
    kind: type[Evaluator] = names["Apology"]
    assert str(kind.__struct_config__.tag) == "apology"
    for example in kind.spec.examples:
        got = _judged(kind(), example.case, example.replies)
        assert (got.status, got.score) == (example.status, example.score)


def test_every_reason_cause_outcome_and_metric_is_explained() -> None:
    rows = set(re.findall(r"`(\w+)(?:\{[a-z,]+\})?`", PAGE))
    reasons = {*get_args(Reason), "judge_unavailable", "judge_incomplete", "judge_tied", "undetermined"}
    metrics = {*(f"{name}_total" for name in JUDGE_COUNTERS), *JUDGE_GAUGES, "calls_total", "breaker", "call_seconds"}
    assert reasons | {"budget_exceeded", "deadline_exceeded"} <= rows
    assert {*get_args(Cause), *get_args(Outcome)} <= rows
    assert {f"scorewright_judge_{name}" for name in (*metrics, "unjudged_total")} <= rows


def test_every_setting_and_every_type_is_named() -> None:
    names = set(re.findall(r"`(\w+)`", PAGE))
    assert set(JudgeSettings.__struct_fields__) <= names
    assert {name for name, kind in BY_TYPE.items() if hasattr(kind, "judge_")} <= names


def test_every_block_of_json_is_marked_for_what_it_is() -> None:
    assert len(re.findall(r"^```json", PAGE, re.MULTILINE)) == len(JSON) == 2 * len(WITH_CALLER) + 5 * len(WITH_SCORER)


def _judged(rule: Evaluator, case: Any, replies: dict[str, Any]) -> Evaluation:
    judging = Assessor(rule).inquire(case)
    need = next(judging)
    told = Told(replies={prompt.key: Reply(fields=replies[prompt.key]) for prompt in need.prompts})
    with pytest.raises(StopIteration) as end:
        judging.send(told)
    return end.value.value  # type: ignore[no-any-return]
