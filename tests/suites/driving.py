"""Suites through the engine, as a request would go, but without a socket."""

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
from service.engine.suites.answering import answering
from service.engine.suites.wire import Suite
from tests.judging import LIMITS, NO_JUDGES, NO_MODEL

EXACT = {"type": "exact_match"}


def body_of(
    suite: dict[str, Any], limits: Limits = LIMITS, judges: Judges = NO_JUDGES, embedder: Embedder = NO_MODEL
) -> bytes:
    """The bytes that answer a suite."""
    sent = msgspec.json.encode(suite)
    decoded, replaced = decode(sent, Suite, limits.json_depth)
    outside = Outside(embedder, judges)
    return drain(answering(decoded, limits, outside, perf_counter(), len(sent), replaced)).body


def answer(suite: dict[str, Any], limits: Limits = LIMITS, judges: Judges = NO_JUDGES) -> dict[str, Any]:
    """The answer to a suite."""
    return msgspec.json.decode(body_of(suite, limits, judges))  # type: ignore[no-any-return]


def faults(suite: dict[str, Any], limits: Limits = LIMITS, judges: Judges = NO_JUDGES) -> list[tuple[str, str, str]]:
    """Pointer, code and detail of everything for which a suite is refused."""
    with pytest.raises(Invalid) as refused:
        body_of(suite, limits, judges)
    return [(one.pointer, one.code, one.detail) for one in refused.value.faults]


def suite(*versions: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    """Versions v1, v2 and so on, each given by its runs; the cases are all that they name, and have an input."""
    names = dict.fromkeys(name for outputs in versions for name in outputs)
    own = [{"version": f"v{number}", "outputs": outputs} for number, outputs in enumerate(versions, 1)]
    return {"cases": [{"id": name, "input": "Who?"} for name in names], "versions": own} | more


def scored(*scores: float | None) -> list[dict[str, Any]]:
    """Runs graded before; None for one that has an error instead."""
    return [{"error": "quota"} if score is None else {"score": score} for score in scores]


def case_of(*scores: float | None, **more: Any) -> dict[str, Any]:
    """What becomes of one case with these scores."""
    return answer(suite({"a": scored(*scores)}, **more))["versions"][0]["cases"][0]  # type: ignore[no-any-return]


def runs_of(*runs: Any, **more: Any) -> list[dict[str, Any]]:
    """What becomes of the runs of one case under one version."""
    return answer(suite({"a": list(runs)}, **more))["versions"][0]["cases"][0]["runs"]  # type: ignore[no-any-return]
