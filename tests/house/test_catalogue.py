"""What every evaluator owes its users."""

import inspect

import msgspec
import pytest
from msgspec import UNSET, structs

from service.catalogue import BY_TYPE, EVALUATORS, entry
from service.core.evaluator import Evaluator, Example
from tests.judging import evaluation

BY_NAME = pytest.mark.parametrize("kind", EVALUATORS, ids=BY_TYPE)
EXAMPLES = [
    pytest.param(kind, example, id=f"{name}-{number}")
    for name, kind in BY_TYPE.items()
    for number, example in enumerate(kind.spec.examples)
]


def test_the_types_of_the_contract_are_there() -> None:
    assert set(BY_TYPE) == {
        "contains", "exact_match", "regex", "json_schema", "json_keys", "valid_json", "length", "keywords",
        "string_comparison", "numeric_comparison", "levenshtein", "numeric_diff", "json_diff", "list_contains",
        "embedding_similarity", "factuality", "closed_qa", "battle", "humor", "security", "sql", "summary", "translation",
        "possible", "llm", "llm_rubric", "moderation", "faithfulness", "context_relevancy", "answer_relevancy", "answer_correctness",
        "review", "external",
    }  # fmt: skip


@BY_NAME
def test_it_is_documented(kind: type[Evaluator]) -> None:
    purpose, blank, *rest = inspect.cleandoc(kind.__doc__ or "").splitlines()
    assert purpose.endswith(".")
    assert not blank
    assert rest


@BY_NAME
def test_every_parameter_says_what_it_means(kind: type[Evaluator]) -> None:
    properties = entry(kind).parameters["properties"]
    assert [name for name, schema in properties.items() if name != "type" and not schema.get("description")] == []


@BY_NAME
def test_it_has_an_example_that_passes_and_one_that_fails(kind: type[Evaluator]) -> None:
    assert {example.status for example in kind.spec.examples} >= {"passed", "failed"}


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_its_examples_hold(kind: type[Evaluator], example: Example) -> None:
    item = msgspec.json.decode(msgspec.json.encode(example.case))
    rule = {"type": kind.__struct_config__.tag, "id": "r", **example.params}
    if example.replies:
        rule["judge"] = "caller"
        item["replies"] = {"r": example.replies}
    if example.grade is not None:
        item["grades"] = {"r": msgspec.to_builtins(example.grade)}
    got = evaluation(rule, vectors=example.vectors, **item)
    assert got["status"] == example.status
    assert got["explanation"]
    if example.score is not None:
        assert got["score"] == pytest.approx(example.score, abs=1e-12)


@BY_NAME
def test_what_it_needs_is_what_it_cannot_do_without(kind: type[Evaluator]) -> None:
    row = entry(kind)
    example = next(one for one in row.examples if one.replies or one.case.output is not UNSET)
    case = msgspec.to_builtins(example.case)
    case |= {"expected": example.params["expected"]} if "expected" in example.params else {}
    params = {name: value for name, value in example.params.items() if name != "expected"}
    rule = {"type": row.type, "id": "r", "judge": "caller", **params}
    rule = rule if example.replies else {name: value for name, value in rule.items() if name != "judge"}
    item = case | {"replies": {"r": example.replies}} if example.replies else case
    assert evaluation(rule, vectors=example.vectors, **item)["status"] != "no_data"
    for part in ("output", "input", "context", "expected"):
        rest = {name: value for name, value in item.items() if name != part}
        got = evaluation(rule, vectors=example.vectors, **rest)
        if part in row.needs:
            assert got["status"] == "no_data", part
        elif row.type != "closed_qa":  # which falls back on `expected`
            assert got["status"] != "no_data", part


def test_the_prompts_of_judges_are_served_by_name() -> None:
    prompts = {one.name: one for kind in EVALUATORS for one in entry(kind).prompts}
    assert {
        "factuality",
        "faithfulness_statements",
        "faithfulness_verdicts",
        "llm_rubric",
        "external",
    } <= prompts.keys()
    for kind in EVALUATORS:
        assert bool(entry(kind).prompts) == (hasattr(kind, "judge_") and entry(kind).type != "moderation")
    one = prompts["factuality"]
    assert one.system.startswith("You are a fact checker.")
    assert one.system.endswith("{schema}")
    assert "The question: {input}" in one.user
    assert prompts["llm"].user.endswith("{prompt_template}")


@BY_NAME
def test_only_common_parameters_have_common_names(kind: type[Evaluator]) -> None:
    common = {field.encode_name for field in structs.fields(Evaluator)}
    own = {field.encode_name for field in structs.fields(kind)}
    assert common <= own
