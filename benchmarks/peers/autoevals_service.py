# mypy: disable-error-code="import-not-found, misc"
"""What one would write with FastAPI, pydantic and autoevals: typed bodies in and out, a scorer called an evaluation."""

from typing import Any, Literal

from autoevals.json import JSONDiff, ValidJSON
from autoevals.string import Levenshtein
from autoevals.value import ExactMatch
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.peers.serving import serve

Type = Literal["levenshtein", "exact_match", "valid_json", "json_diff"]

_SCORERS = {
    "levenshtein": Levenshtein(),
    "exact_match": ExactMatch(),
    "valid_json": ValidJSON(),
    "json_diff": JSONDiff(),
}


class Item(BaseModel):
    """One output with the answer that was expected."""

    output: str
    expected: Any


class Rule(BaseModel):
    """A scorer by name; `schema` is for valid_json."""

    model_config = ConfigDict(populate_by_name=True)

    type: Type
    json_schema: dict[str, Any] | None = Field(None, alias="schema")


class Batch(BaseModel):
    """Items x rules."""

    items: list[Item]
    evaluators: list[Rule]


class Evaluation(BaseModel):
    """One score, with the fields of the service."""

    evaluator: str
    type: str
    label: str | None
    status: Literal["passed", "failed"]
    score: float
    reason: str | None
    explanation: str
    actual: Any
    expected: Any
    details: dict[str, Any]


class ItemResult(BaseModel):
    """All scores of an item."""

    id: str
    status: Literal["passed", "failed"]
    score: float
    evaluations: list[Evaluation]


class Results(BaseModel):
    """The answer."""

    results: list[ItemResult]
    pass_rate: float


async def evaluate(batch: Batch) -> Results:
    """Every scorer on every item."""
    results = [_item_result(str(number), item, batch.evaluators) for number, item in enumerate(batch.items, 1)]
    passed = sum(result.status == "passed" for result in results)
    return Results(results=results, pass_rate=passed / len(results))


def _item_result(name: str, item: Item, rules: list[Rule]) -> ItemResult:
    evaluations = [_evaluation(rule, item) for rule in rules]
    passed = all(one.status == "passed" for one in evaluations)
    score = sum(one.score for one in evaluations) / len(evaluations)
    return ItemResult(id=name, status="passed" if passed else "failed", score=score, evaluations=evaluations)


def _evaluation(rule: Rule, item: Item) -> Evaluation:
    # Its second argument is the schema, whatever its name says.
    other = rule.json_schema if rule.type == "valid_json" else item.expected
    scored = _SCORERS[rule.type].eval(item.output, *([] if other is None else [other]))
    return Evaluation(
        evaluator=rule.type,
        type=rule.type,
        label=None,
        status="passed" if scored.score >= 0.5 else "failed",
        score=scored.score,
        reason=None,
        explanation=f"{scored.name}: {scored.score:.4g}",
        actual=item.output,
        expected=None if rule.type == "valid_json" else item.expected,
        details=scored.metadata,
    )


application = FastAPI()
application.add_api_route("/v1/evaluations", evaluate, methods=["POST"])

if __name__ == "__main__":
    serve(application)
