"""Prompts of any length: bounded in memory, and handed to the caller as they are."""

from typing import Any

import pytest

from service.config import Limits
from service.core.asking import MAX_PROMPT_CHARS
from service.core.errors import TooLarge
from service.engine import inquiring
from service.judge.scripted import Scripted
from tests.judging import results

CALLER = {"type": "factuality", "judge": "caller"}
LONG = {"input": "q" * 5_000, "output": "x", "expected": "y"}
MEGABYTE = {"input": "q" * 900_000, "output": "x" * 900_000, "expected": "y"}
RATE = {"type": "llm", "prompt_template": "Rate {eval_output}"}


def first(answer: dict[str, Any]) -> dict[str, Any]:
    return answer["results"][0]["evaluations"][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("echo", ["cut", "full"])
def test_the_caller_gets_whole_prompts(echo: str) -> None:
    got = first(results({"items": [LONG], "evaluators": [CALLER], "echo": echo}))
    assert LONG["input"] in got["details"]["prompts"][0]["messages"][1]["content"]
    assert "truncated" not in got["details"]


def test_an_answer_with_prompts_keeps_its_limit() -> None:
    body = {"items": [LONG | {"output": str(number)} for number in range(100)], "evaluators": [CALLER]}
    with pytest.raises(TooLarge, match="response_bytes"):
        results(body, Limits(response_bytes=100_000))


TOO_LONG = {
    "votes": CALLER | {"samples": 100},
    "values": RATE | {"path": "$.*", "from": "metadata", "prompt_template": "{eval_output} {eval_input}"},
    "a template": RATE | {"prompt_template": "{eval_output}" * 1_000},
}


@pytest.mark.parametrize("rule", TOO_LONG.values(), ids=TOO_LONG)
def test_a_judgement_asks_within_bounds(rule: dict[str, Any]) -> None:
    judges = Scripted(lambda _: {"score": 1})
    item = MEGABYTE | {"metadata": {str(number): str(number) for number in range(100)}}
    got = first(results({"items": [item], "evaluators": [rule]}, judges=judges))
    assert (got["status"], got["reason"], judges.asked) == ("error", "limit_exceeded", [])
    assert f"{MAX_PROMPT_CHARS:,}" in got["explanation"]


def test_long_prompts_are_asked_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = []

    class Watched(Scripted):
        def ask(self, judge: str, prompts: Any, *rest: Any) -> Any:
            rounds.append(len(prompts))
            return super().ask(judge, prompts, *rest)

    monkeypatch.setattr(inquiring, "MAX_CHARS_IN_HAND", 15_000)
    items = [LONG | {"output": str(number // 2)} for number in range(20)]
    answer = results(
        {"items": items, "evaluators": [CALLER | {"judge": "default"}]}, judges=Watched(lambda _: {"choice": "A"})
    )
    assert rounds == [3, 3, 3, 1]
    assert answer["summary"]["failed"] == 20
    assert answer["summary"]["judge"]["default"]["calls"] == 10
