"""Requests to measure, as they would go, but without a socket."""

from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.api.codec import decode
from service.config import Limits
from service.core.errors import Invalid
from service.core.ports import Embedder, Judges
from service.engine.lanes import drain
from service.engine.run import Outside
from service.engine.stability.answering import measuring
from service.engine.stability.wire import PromptMetrics
from tests.judging import LIMITS, NO_JUDGES, NO_MODEL

Body = dict[str, Any]


def answered(body: Body, limits: Limits = LIMITS, embedder: Embedder = NO_MODEL, judges: Judges = NO_JUDGES) -> bytes:
    """The answer's bytes."""
    sent = msgspec.json.encode(body)
    request, replaced = decode(sent, PromptMetrics, limits.json_depth)
    outside = Outside(embedder, judges)
    return drain(measuring(request, limits, outside, perf_counter(), len(sent), replaced)).body


def measured(body: Body, limits: Limits = LIMITS, embedder: Embedder = NO_MODEL, judges: Judges = NO_JUDGES) -> Any:
    """The answer."""
    return msgspec.json.decode(answered(body, limits, embedder, judges))


def refused(body: Body, limits: Limits = LIMITS, judges: Judges = NO_JUDGES) -> list[tuple[str, str]]:
    """Pointers and codes of the faults for which there is no answer."""
    with pytest.raises(Invalid) as caught:
        answered(body, limits, judges=judges)
    return [(fault.pointer, fault.code) for fault in caught.value.faults]


def asked(embeddings: list[list[float]], **more: Any) -> Body:
    """A query with a response for each vector."""
    return {"responses": [f"response {place}" for place in range(len(embeddings))], "embeddings": embeddings} | more


def interaction(
    query: Body, embedder: Embedder = NO_MODEL, judges: Judges = NO_JUDGES, limits: Limits = LIMITS, **more: Any
) -> Body:
    """The one interaction of a request with one query."""
    only = measured({"queries": [query]} | more, limits, embedder, judges)["interactions"]
    assert len(only) == 1
    return only[0]  # type: ignore[no-any-return]


def codes(one: Body) -> list[str]:
    """The warnings of an interaction."""
    return [warning["code"] for warning in one["warnings"]]
