"""A judge with a prompt of the caller's own: templates, scales, and scores as judges write them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.judging import Reply
from service.primitives import RuleFault
from service.scorers.judged.templates import NAMES, parsed
from tests.scorers.judged.driving import judged

RATE = {"type": "llm", "prompt_template": "Rate {eval_output}"}

TEMPLATES = [
    ("", (("", None),)),
    ("plain", (("plain", None),)),
    ("{eval_output}", (("", "eval_output"), ("", None))),
    ("a {eval_input}{expectation} b", (("a ", "eval_input"), ("", "expectation"), (" b", None))),
    ("{{eval_input}}", (("{eval_input}", None),)),
    ("{{{eval_input}}}", (("{", "eval_input"), ("}", None))),
    ("}}{{", (("}{", None),)),
]


@pytest.mark.parametrize(("template", "pairs"), TEMPLATES)
def test_a_template(template: str, pairs: Any) -> None:
    assert parsed(template) == pairs


FAULTY = [
    ("{", "line 1, column 1: the brace { is alone"),
    ("ab\n c}", "line 2, column 3: the brace } is alone"),
    ("{eval_inputs}", "column 1: {eval_inputs} is none of {eval_input}, {eval_output}, {expectation}: did you mean"),
    ("{}", "{} is none of"),
    ("{0}", "{0} is none of"),
    ("{ eval_input }", "{ eval_input } is none of"),
    ("{eval_input.__class__}", "{eval_input.__class__} is none of"),
    ("{eval_input[0]}", "{eval_input[0]} is none of"),
    ("{eval_input!r}", "{eval_input!r} is none of"),
    ("{eval_input:>9}", "{eval_input:>9} is none of"),
    ('{"score": {eval_input}}', "column 1: the brace { is alone"),
    ("{{eval_input}", "column 13: the brace } is alone"),
]


@pytest.mark.parametrize(("template", "told"), FAULTY)
def test_a_faulty_template_is_an_error_that_names_the_place(template: str, told: str) -> None:
    got = judged({"type": "llm", "prompt_template": template}, input="q", output="o")
    assert got.verdict == ("error", None, "invalid_template")
    assert told in got.outcome.explanation
    assert got.prompts == []


@given(st.text(alphabet="{}ab\n", max_size=30) | st.lists(st.sampled_from([*NAMES, "{", "}", " "])).map("".join))
def test_a_template_is_read_as_python_fills_it(template: str) -> None:
    values = {name: f"<{name}>" for name in NAMES}
    try:
        pairs = parsed(template)
    except RuleFault:
        return
    assert "".join(text + (f"<{name}>" if name else "") for text, name in pairs) == template.format(**values)


SHOWN = [
    # item, what the template becomes
    ({"output": "o"}, "In=(not provided) Out=[o] Exp=(not provided)"),
    ({"output": "o", "input": None, "expected": None}, "In= Out=[o] Exp="),
    ({"output": "o", "input": "", "expected": 0}, "In= Out=[o] Exp=[0]"),
    ({"output": {"a": [1, None]}, "input": True, "expected": [2.0]}, 'In=[true] Out=[{"a": [1, null]}] Exp=[[2.0]]'),
    ({"output": [{"name": "a", "value": None}], "input": [{"name": "q", "value": "x"}]},
     "In=[x] Out= Exp=(not provided)"),
    ({"output": "{eval_input} {{", "input": "{x"}, "In=[{x] Out=[{eval_input} {{] Exp=(not provided)"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "shown"), SHOWN)
def test_what_a_template_shows(item: Any, shown: str) -> None:
    template = "In={eval_input} Out={eval_output} Exp={expectation}"
    got = judged({"type": "llm", "prompt_template": template}, ["Score: 1"], **item)
    first, filled = got.prompts[0].messages[1].content.split("\n\n", 1)
    opening, closing = first.removeprefix("The material stands between ").removesuffix(".").split(" and ")
    assert filled.replace(opening, "[").replace(closing, "]") == shown
    assert got.outcome.score == 1


SCORES = [
    # scale, reply, score, reason
    ([0, 1], "Score: 0.8", 0.8, None),
    ([0, 1], "Good tone.\n0.6\nThat is all.", 0.6, None),
    ([0, 1], "Score: 7/10", 0.7, None),
    ([0, 1], {"score": 0.25, "reasoning": "poor"}, 0.25, None),
    ([0, 1], {"score": 7}, None, "judge_out_of_range"),
    ([0, 1], "Score: 7", None, "judge_out_of_range"),
    ([0, 1], "Score: NaN", None, "judge_unparseable"),
    ([0, 1], "Score: 0.9, or rather Score: 0.2", None, "judge_ambiguous"),
    ([0, 10], '{"score": "10", "reason": "all there"}', 1.0, None),
    ([1, 5], "Score: 3", 0.5, None),
    ([1, 5], "Score: 4", 0.75, None),
    ([1, 5], "Score: 4/5", 0.75, None),
    ([1, 5], "Score: 80%", 0.8, None),
    ([1, 5], "Score: 8/10", 0.8, None),
    ([-1, 1], {"reasoning": "so so", "score": 0}, 0.5, None),
    ([0, 10], "The event was in 1969 and the answer matches.", None, "judge_unparseable"),
    ([0, 1], 'Checking it.\n```json\n{"city": "Turin"}\n```\nVerdict:\n```json\n{"score": 0.2, "reason": "misses it"}\n```',
     0.2, None),
    ([0, 1], "I'm sorry, I can't help with that.", None, "judge_refused"),
    ([0, 1], Reply(text="Score: 0.", stop="truncated"), None, "judge_truncated"),
    ([1, 1], "Score: 1", None, "invalid_params"),
    ([5, 1], "Score: 1", None, "invalid_params"),
]  # fmt: skip


@pytest.mark.parametrize(("scale", "reply", "score", "reason"), SCORES)
def test_scores(scale: list[float], reply: Any, score: float | None, reason: str | None) -> None:
    got = judged(RATE | {"scale": scale}, [reply], output="o")
    assert got.outcome.score == (None if score is None else pytest.approx(score))
    assert got.outcome.reason == reason


def test_the_scale_is_told_and_the_rationale_kept() -> None:
    got = judged(RATE | {"scale": [1, 5]}, [{"reasoning": "Fine.", "score": 4}], output="o")
    (prompt,) = got.prompts
    assert "from 1, the worst, to 5, the best" in prompt.messages[0].content
    assert list(prompt.schema["properties"]) == ["reasoning", "score"]
    assert got.details["rationale"] == "Fine."
    assert got.outcome.explanation == "the judge's rating (score 0.75): Fine."
    got = judged(RATE | {"use_cot": False}, ["Score: 0.5\nClear."], output="o")
    assert list(got.prompts[0].schema["properties"]) == ["score"]
    assert (got.details["rationale"], got.details["reading"]) == ("Score: 0.5\nClear.", "clean")


def test_votes_are_averaged_and_the_nearest_speaks() -> None:
    replies = [{"score": score, "reasoning": f"r{score}"} for score in (0.2, 0.6, 0.7)]
    got = judged(RATE | {"samples": 3}, replies, output="o")
    assert got.outcome.score == pytest.approx(0.5)
    assert got.details["rationale"] == "r0.6"
    assert got.details["votes"] == [{"score": 0.2}, {"score": 0.6}, {"score": 0.7}]
    assert (got.details["agreement"], got.details["flip_rate"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert got.outcome.explanation.startswith("3 of 3 votes, score 0.5: ")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_a_mean_lies_among_its_votes(scores: list[float]) -> None:
    got = judged(RATE | {"samples": len(scores)}, [{"score": score} for score in scores], output="o")
    assert min(scores) - 1e-12 <= (got.outcome.score or 0) <= max(scores) + 1e-12
