"""The limit: a bare ASGI application that only decodes, scores and encodes.

It decodes the service's own request, calls the judgement of each evaluator, and encodes the service's own answer, field
by field. It has no routes, limits, errors, paths, templates, deduplication or metrics.
"""

from collections.abc import Awaitable, Callable, Sequence
from math import fsum
from typing import Any

import msgspec

from benchmarks.peers.serving import read_body, serve
from service.core.evaluator import Evaluator
from service.core.outcome import Evaluation
from service.engine.batch import Batch, ItemResult, Results, Summary, Tally
from service.primitives.stats import wilson

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_decode = msgspec.json.Decoder(Batch).decode
_encode = msgspec.json.Encoder().encode


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Answer any POST as POST /v1/evaluations."""
    if scope["type"] != "http":
        return
    body = _encode(evaluate(_decode(await read_body(receive))))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def evaluate(batch: Batch) -> Results:
    """Every rule on every output."""
    results = [
        _item_result(str(number), [_evaluation(rule, item.output) for rule in batch.evaluators])
        for number, item in enumerate(batch.items, 1)
    ]
    return Results(results, _summary(results, len(batch.evaluators)))


def _evaluation(rule: Evaluator, output: Any) -> Evaluation:
    kind = rule.__struct_config__.tag
    own = getattr(rule, "expected", None)
    verdict = rule.judge(output, own)
    score = verdict.score
    return Evaluation(
        kind,  # type: ignore[arg-type]
        kind,  # type: ignore[arg-type]
        None,
        "passed" if score == 1.0 else "failed",
        score,
        None,
        verdict.fact,
        output if verdict.actual is msgspec.UNSET else verdict.actual,
        own if verdict.expected is msgspec.UNSET else verdict.expected,
        verdict.details or {},
    )


def _item_result(name: str, evaluations: list[Evaluation]) -> ItemResult:
    score = fsum([one.score or 0.0 for one in evaluations]) / len(evaluations)
    return ItemResult(name, "passed" if score == 1.0 else "failed", score, evaluations)


def _summary(results: list[ItemResult], rules: int) -> Summary:
    columns = [[result.evaluations[position] for result in results] for position in range(rules)]
    tallies = {column[0].evaluator: Tally(**_counts(column)) for column in columns}
    count = len(results) * rules
    return Summary(
        **_counts(results), items=len(results), evaluators=tallies, evaluations=count, computed=count, deduplicated=0
    )


def _counts(graded: Sequence[ItemResult | Evaluation]) -> dict[str, Any]:
    total = len(graded)
    passed = sum([one.status == "passed" for one in graded])
    return {
        "passed": passed,
        "failed": total - passed,
        "score": fsum([one.score or 0.0 for one in graded]) / total,
        "pass_rate": passed / total,
        "pass_rate_interval": wilson(passed, total),
    }


if __name__ == "__main__":
    serve(application)
