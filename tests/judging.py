"""Rules on items through the engine, as a request would go, but without a socket."""

from time import perf_counter
from typing import Any

import msgspec

from service.api.codec import decode
from service.config import Limits
from service.core.errors import ModelUnavailable
from service.core.ports import Embedder, Judges
from service.embedding.choosing import NoModel
from service.engine.batch import Batch
from service.engine.evaluating import evaluating
from service.engine.lanes import drain
from service.engine.run import Outside
from service.judge.scripted import Scripted

LIMITS = Limits()
NO_JUDGES = Scripted([], judges=())
NO_MODEL = NoModel(ModelUnavailable("There is no model in this test"))


def results(
    body: dict[str, Any], limits: Limits = LIMITS, embedder: Embedder = NO_MODEL, judges: Judges = NO_JUDGES
) -> dict[str, Any]:
    """The answer to a batch."""
    sent = msgspec.json.encode(body)
    batch, replaced = decode(sent, Batch, limits.json_depth)
    answered = drain(evaluating(batch, limits, Outside(embedder, judges), perf_counter(), len(sent), replaced))
    return msgspec.json.decode(answered.body)  # type: ignore[no-any-return]


def evaluation(
    rule: dict[str, Any], limits: Limits = LIMITS, vectors: dict[str, list[float]] | None = None, **item: Any
) -> dict[str, Any]:
    """The one evaluation of a rule on an item."""
    body = {"items": [item], "evaluators": [rule], "vectors": vectors or {}}
    only = results(body, limits)["results"][0]["evaluations"]
    return only[0]  # type: ignore[no-any-return]


def verdict(rule: dict[str, Any], **item: Any) -> tuple[str, float | None, str | None]:
    """Status, score and reason: what most tables compare."""
    got = evaluation(rule, **item)
    return got["status"], got["score"], got["reason"]
