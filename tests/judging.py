"""Rules on items through the engine, as a request would go, but without a socket."""

from time import perf_counter
from typing import Any

import msgspec

from service.api.codec import decode
from service.config import Limits
from service.engine.batch import Batch
from service.engine.evaluating import evaluating
from service.engine.lanes import drain

LIMITS = Limits()


def results(body: dict[str, Any], limits: Limits = LIMITS) -> dict[str, Any]:
    """The answer to a batch."""
    sent = msgspec.json.encode(body)
    batch, replaced = decode(sent, Batch, limits.json_depth)
    answered = drain(evaluating(batch, limits, perf_counter(), len(sent), replaced))
    return msgspec.json.decode(answered.body)  # type: ignore[no-any-return]


def evaluation(rule: dict[str, Any], limits: Limits = LIMITS, **item: Any) -> dict[str, Any]:
    """The one evaluation of a rule on an item."""
    only = results({"items": [item], "evaluators": [rule]}, limits)["results"][0]["evaluations"]
    return only[0]  # type: ignore[no-any-return]


def verdict(rule: dict[str, Any], **item: Any) -> tuple[str, float | None, str | None]:
    """Status, score and reason: what most tables compare."""
    got = evaluation(rule, **item)
    return got["status"], got["score"], got["reason"]
