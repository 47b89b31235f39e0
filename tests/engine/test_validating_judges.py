"""What validation says of rules that ask judges."""

from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.config import Limits
from service.core.judging import JudgeInfo
from service.engine.batch import Batch
from service.engine.validating import Validation, validating
from service.judge.scripted import Scripted
from tests.judging import drain, results

ITEM = {"input": "Who?", "output": "Ann.", "expected": "Ann, in 1931.", "context": ["By Ann."]}
LLM = {"type": "llm", "prompt_template": "Rate {eval_output}"}
OPENAI = JudgeInfo(name="default", kind="openai", model="m")
STRICT = JudgeInfo(name="strict", kind="openai", model="m", allow_templates=False)
CLAUDE = JudgeInfo(name="claude", kind="anthropic", model="m")
OWN = JudgeInfo(name="own", kind="http", model=None)
KEYLESS = JudgeInfo(name="keyless", kind="openai", model="m", fault="has no key here")


def validated(rule: dict[str, Any], *judges: JudgeInfo, item: dict[str, Any] = ITEM, **more: Any) -> Validation:
    body = {"items": [item], "evaluators": [rule], **more}
    known = Scripted([], judges).known
    return drain(validating(msgspec.convert(body, Batch), Limits(), known, perf_counter(), 100))


def found(told: Validation) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    return [(one.pointer, one.code) for one in told.errors], [(one.pointer, one.code) for one in told.warnings]


JUDGE = "/evaluators/0/judge"
OF_JUDGES = [
    # name, rule, judges, errors, warnings, said
    ("no default, and others", {"type": "possible"}, [STRICT], [], [(JUDGE, "judge_unavailable")], "known are strict"),
    ("nobody at all", {"type": "possible"}, [], [], [(JUDGE, "judge_unavailable")], "no judge is configured"),
    ("an unknown one", {"type": "possible", "judge": "stric"}, [STRICT], [(JUDGE, "unknown_judge")], [], "'strict'"),
    ("no templates", LLM | {"judge": "strict"}, [STRICT], [(JUDGE, "invalid_params")], [], "allow_templates"),
    ("templates", LLM, [OPENAI], [], [], ""),
    ("a rubric is no template", {"type": "llm_rubric", "criteria": "c", "judge": "strict"}, [STRICT], [], [], ""),
    ("no moderation", {"type": "moderation", "judge": "claude"}, [CLAUDE], [], [(JUDGE, "judge_unavailable")],
     "of kind anthropic, which has no moderation"),
    ("an own moderation", {"type": "moderation", "judge": "own"}, [OWN], [], [], ""),
    ("no key", {"type": "possible", "judge": "keyless"}, [KEYLESS], [], [(JUDGE, "judge_unavailable")],
     "The judge keyless has no key here"),
    ("no judge is asked", {"type": "exact_match"}, [], [], [], ""),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "judges", "errors", "warnings", "said"), [row[1:] for row in OF_JUDGES],
                         ids=[row[0] for row in OF_JUDGES])  # fmt: skip
def test_judges_that_could_not_answer(rule: Any, judges: Any, errors: Any, warnings: Any, said: str) -> None:
    told = validated(rule, *judges)
    assert found(told) == (errors, warnings)
    assert told.valid == (not errors)
    assert said in "".join(one.detail for one in (*told.errors, *told.warnings))


@pytest.mark.parametrize(("judges", "said"), [([STRICT, CLAUDE], "known are strict, claude: name one in `judge`, add"),
                                              ([], "no judge is configured: add a table [judges.default]")])  # fmt: skip
def test_a_result_says_the_same_of_a_missing_default(judges: list[JudgeInfo], said: str) -> None:
    answer = results({"items": [ITEM], "evaluators": [{"type": "possible"}]}, judges=Scripted([], judges))
    (got,) = answer["results"][0]["evaluations"]
    assert (got["status"], got["reason"]) == ("not_graded", "judge_unavailable")
    assert said in got["explanation"]


ODD = [
    ({"type": "llm", "prompt_template": "Rate it"}, "/prompt_template", "output_not_shown", "never sees the output"),
    (
        {"type": "llm", "prompt_template": "Rate {{eval_output}}"},
        "/prompt_template",
        "output_not_shown",
        "single braces",
    ),
    ({"type": "llm", "prompt_template": "Rate {eval_input}"}, "/prompt_template", "output_not_shown", "never sees"),
    ({"type": "moderation", "threshold": 0.8}, "/threshold", "threshold_ignored", "`category_threshold`"),
]


@pytest.mark.parametrize(("rule", "field", "code", "said"), ODD)
def test_what_looks_odd(rule: Any, field: str, code: str, said: str) -> None:
    told = validated(rule, OPENAI)
    assert found(told) == ([], [(f"/evaluators/0{field}", code)])
    assert said in told.warnings[0].detail


@pytest.mark.parametrize("rule", [{"type": "moderation", "category_threshold": 0.8}, LLM | {"threshold": 0.8},
                                  {"type": "llm", "prompt_template": "{{eval_output}} is {eval_output}"}])  # fmt: skip
def test_what_does_not(rule: Any) -> None:
    assert found(validated(rule, OPENAI)) == ([], [])


def test_prompts_that_are_too_long_are_told_before() -> None:
    item = {"input": "i" * 900_000, "output": "o" * 900_000, "expected": "e"}
    rule = {"type": "factuality", "samples": 20}
    told = validated(rule, OPENAI, item=item)
    assert found(told) == ([("/evaluators/0", "limit_exceeded")], [])
    (got,) = results({"items": [item], "evaluators": [rule]}, judges=Scripted([]))["results"][0]["evaluations"]
    assert (got["status"], got["reason"], got["explanation"]) == ("error", "limit_exceeded", told.errors[0].detail)


COSTS = [
    # rule, texts that are surely embedded if the judge answers
    ({"type": "answer_relevancy"}, 1),
    ({"type": "answer_relevancy", "samples": 3}, 1),
    ({"type": "answer_correctness"}, 2),
    ({"type": "answer_correctness", "answer_similarity_weight": 0}, 0),
    ({"type": "answer_correctness", "judge": "caller"}, 2),
    ({"type": "faithfulness"}, 0),
]


@pytest.mark.parametrize(("rule", "texts"), COSTS)
def test_texts_that_are_embedded_after_the_judge_are_counted(rule: Any, texts: int) -> None:
    assert validated(rule, OPENAI).cost.texts == texts


def test_vectors_for_texts_after_the_judge_are_not_called_unused() -> None:
    vectors = {"Ann.": [1.0], "Ann, in 1931.": [1.0]}
    assert found(validated({"type": "answer_correctness"}, OPENAI, vectors=vectors)) == ([], [])
    odd = validated({"type": "answer_correctness"}, OPENAI, vectors=vectors | {"x": [1.0]})
    assert found(odd) == ([], [("/vectors/x", "unused")])
    guesses = {"Who?": [1.0], "Who was it?": [1.0]}
    assert found(validated({"type": "answer_relevancy"}, OPENAI, vectors=guesses)) == ([], [])
    half = validated({"type": "answer_correctness"}, OPENAI, vectors={"Ann.": [1.0]})
    assert found(half) == ([("/evaluators/0", "invalid_embedding")], [])
