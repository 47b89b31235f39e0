"""What is refused, with its place and code."""

from typing import Any

import pytest

from service.config import Limits
from service.core.errors import Invalid
from service.core.judging import JudgeInfo
from service.judge.scripted import Scripted
from tests.judging import LIMITS
from tests.stability.asking import Body, answered, asked, refused

ONE = asked([[1, 0]])
JUDGES = Scripted([], judges=[JudgeInfo(name="mute", kind="openai", model="m")])
REGEX = {"type": "regex", "pattern": "("}


def of(query: Body, **more: Any) -> Body:
    return {"queries": [query]} | more


FAULTS = [
    ("no response", of({"query": "q"}), "/queries/0/responses", "too_short_or_long"),
    ("an id twice", {"queries": [ONE | {"qa_id": "a"}] * 2}, "/queries/1/qa_id", "duplicate_id"),
    ("an id that is a position", {"queries": [ONE | {"qa_id": "2"}, ONE]}, "/queries/1/qa_id", "duplicate_id"),
    ("fewer vectors", of(ONE | {"embeddings": []}), "/queries/0/embeddings", "invalid_embedding"),
    ("more vectors", of(ONE | {"embeddings": [[1], [2]]}), "/queries/0/embeddings", "invalid_embedding"),
    ("a missing vector", of(asked([[1], [2]]) | {"embeddings": [[1], None]}), "/queries/0/embeddings", "invalid_embedding"),
    ("unequal vectors", of(asked([[1], [1, 2]])), "/queries/0/embeddings", "invalid_embedding"),
    ("a short reference", of(ONE | {"reference_embedding": [1]}), "/queries/0/embeddings", "invalid_embedding"),
    ("an empty vector", of(asked([[]])), "/queries/0/embeddings/0", "too_short_or_long"),
    ("some of the vectors", of({"responses": ["a", "b"]}, vectors={"a": [1]}), "/queries/0/responses", "invalid_embedding"),
    ("vectors of two lengths", of({"responses": ["a", "b"]}, vectors={"a": [1], "b": [1, 2]}), "/queries/0/responses", "invalid_embedding"),
    ("a reference alone", of({"responses": ["a"], "reference_embedding": [1]}), "/queries/0/responses", "invalid_embedding"),
    ("a reference in vectors alone", of({"responses": ["a"], "ground_truth_assistant": "r"}, vectors={"r": [1]}), "/queries/0/responses", "invalid_embedding"),
    ("tau above", of(ONE, tau=1.01), "/tau", "out_of_range"),
    ("tau below", of(ONE, tau=-1.01), "/tau", "out_of_range"),
    ("an unknown linkage", of(ONE, linkage="ward"), "/linkage", "not_allowed"),
    ("an unknown mode", of(ONE, statistical_mode={"type": "exact"}), "/statistical_mode/type", "not_allowed"),
    ("a certain level", of(ONE, statistical_mode={"type": "bayesian", "ci_level": 1}), "/statistical_mode/ci_level", "out_of_range"),
    ("a low level", of(ONE, statistical_mode={"ci_level": 0.4}), "/statistical_mode/ci_level", "out_of_range"),
    ("an unknown field", of(ONE, taw=0.5), "/taw", "unknown_field"),
    ("a response of another type", of(ONE | {"responses": [1]}), "/queries/0/responses/0", "wrong_type"),
    ("a blank objective", of(ONE, jq={"objective": " \n"}), "/jq/objective", "blank"),
    ("an unknown judge", of(ONE, jq={"objective": "x", "judge": "mut"}), "/jq/judge", "unknown_judge"),
    ("replies that do not align", of(ONE | {"replies": []}, jq={"objective": "x", "judge": "caller"}), "/queries/0/replies", "misaligned"),
    ("replies that nobody reads", of(ONE | {"replies": [{"score": 1}]}), "/queries/0/replies", "unused"),
    ("a pattern", of(ONE, constraints=[REGEX]), "/constraints/0", "invalid_pattern"),
    ("an unknown constraint", of(ONE, constraints=[{"type": "regexp"}]), "/constraints/0/type", "unknown_type"),
    ("a judge as constraint", of(ONE, constraints=[{"type": "factuality"}]), "/constraints/0/type", "not_allowed"),
    ("a rubric as constraint", of(ONE, constraints=[{"type": "llm_rubric"}]), "/constraints/0/type", "not_allowed"),
    ("a person as constraint", of(ONE, constraints=[{"type": "review", "criteria": "x"}]), "/constraints/0/type", "not_allowed"),
    ("bounds", of(ONE, constraints=[{"type": "length", "min": 2, "max": 1}]), "/constraints/0", "invalid_params"),
    ("a path", of(ONE, constraints=[{"type": "valid_json", "path": "$["}]), "/constraints/0", "invalid_path"),
    ("a schema", of(ONE, constraints=[{"type": "json_schema", "schema": {"type": "text"}}]), "/constraints/0", "invalid_schema"),
    ("a variable", of(ONE, constraints=[{"type": "contains", "expected": "{{name}}"}]), "/constraints/0", "unknown_variable"),
    ("a constraint twice", of(ONE, constraints=[{"type": "valid_json", "id": "a"}] * 2), "/constraints/1/id", "duplicate_id"),
    ("a long deadline", of(ONE, deadline_ms=600_001), "/deadline_ms", "limit_exceeded"),
    ("a generator that may not", of(ONE, generate={"judge": "mute"}), "/generate/judge", "not_allowed"),
    ("a generator that is not", of(ONE, generate={"judge": "loud"}), "/generate/judge", "unknown_judge"),
    ("no generator", of(ONE, generate={}), "/generate/judge", "unknown_judge"),
    ("the caller as generator", of(ONE, generate={"judge": "caller"}), "/generate/judge", "not_allowed"),
    ("no sample", of(ONE, generate={"k": 0}), "/generate/k", "out_of_range"),
    ("too many samples", of(ONE, generate={"k": 101}), "/generate/k", "out_of_range"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "pointer", "code"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_what_is_refused(body: Body, pointer: str, code: str) -> None:
    assert refused(body, judges=JUDGES) == [(pointer, code)]


def test_every_fault_is_told() -> None:
    body = {"queries": [ONE, {"query": "q"}], "constraints": [REGEX], "jq": {"objective": ""}}
    assert [pointer for pointer, _ in refused(body)] == ["/queries/1/responses", "/constraints/0", "/jq/objective"]
    assert len(refused({"queries": [{"query": "q"}] * 200})) == 100


DETAILS = [
    (of(ONE | {"replies": [1] * 2}, jq={"objective": "x", "judge": "caller"}), "`replies` has 2 for 1 responses: one for each, and null where there is none yet"),
    (of(ONE | {"embeddings": [[1], [2]]}), "`embeddings` has 2 for 1 responses: give one for each"),
    (of(ONE, constraints=[{"type": "contains", "expected": "{{name}}"}]), "This can run for no query (see `variables`); for the first: {{name}} is not among the item's variables (none); template: false leaves braces alone"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "detail"), DETAILS)
def test_what_a_refusal_says(body: Body, detail: str) -> None:
    with pytest.raises(Invalid) as caught:
        answered(body)
    assert [fault.detail for fault in caught.value.faults] == [detail]


TEN = {"responses": list("abcdefghij")}
LIMITED = [
    (Limits(items=9), of(TEN), "/queries"),
    (Limits(texts=10), of(TEN | {"ground_truth_assistant": "r"}), "/queries"),
    (Limits(evaluations=19), of(TEN, constraints=[{"type": "valid_json"}] * 2), "/constraints"),
    (Limits(evaluations=9), of(TEN, jq={"objective": "x"}), "/constraints"),
    (Limits(evaluators_per_item=1), of(TEN, constraints=[{"type": "valid_json"}] * 2), "/constraints"),
    (Limits(text_chars=5), of(ONE), "/queries/0/responses/0"),
    (Limits(text_chars=10), of(ONE, context=["ok", "x" * 11]), "/context/1"),
    (Limits(text_chars=10), of(ONE, jq={"objective": "x" * 11}), "/jq/objective"),
    (LIMITS, of({"responses": ["x"] * 2_001}, linkage="complete"), "/queries/0/responses"),
    (LIMITS, of({"responses": ["x"] * 2_001}, linkage="average"), "/queries/0/responses"),
    (LIMITS, of({"responses": ["x"] * 10_000, "query": "q" * 6_800}, jq={"objective": "x", "judge": "caller"}), "/jq"),
]  # fmt: skip


@pytest.mark.parametrize(("limits", "body", "pointer"), LIMITED)
def test_what_is_over_a_limit(limits: Limits, body: Body, pointer: str) -> None:
    assert refused(body, limits) == [(pointer, "limit_exceeded")]
