"""Many requests at once: small ones are all answered whatever they ask for, and too much of large ones is refused."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.serving import Served, served

TEXTS = ["Billing", "Billing", "Other", "billing"]
SUITE = {
    "cases": [{"id": "a", "expected": "Billing"}, {"id": "b", "expected": "Other"}],
    "versions": [
        {"version": "v1", "outputs": {"a": TEXTS, "b": TEXTS}},
        {"version": "v2", "outputs": {"a": TEXTS[::-1], "b": ["Other"] * 3}},
    ],
    "graders": [{"type": "exact_match"}],
}
METRICS = {
    "queries": [{"responses": TEXTS, "embeddings": [[1, 0], [1, 0.1], [0, 1], [0.1, 1]]}],
    "constraints": [{"type": "length", "max": 5}],
}
BATCH = {
    "items": [{"output": {"a": text}, "expected": "Billing"} for text in TEXTS],
    "evaluators": [{"type": "exact_match", "path": "$.a"}, {"type": "levenshtein", "path": "$.a"}],
}
SMALL: dict[str, dict[str, Any]] = {
    "/v1/suites": SUITE,
    "/v1/prompt-metrics": METRICS,
    "/v1/prompt-metrics?of=texts": {"queries": [{"responses": TEXTS}]},
    "/v1/evaluations": BATCH,
    "/v1/evaluations/validate": BATCH,
    "/v1/paths": {"path": "$.a", "document": {"a": 1}},
    "/v1/clusters": {"embeddings": [[1, 0], [0, 1], [1, 1]], "tau": 0.9},
    "/v1/similarity": {"pairs": [["a", "b"]]},
    "/v1/embeddings": {"input": TEXTS},
}
CROWD = 200

BUSY = 30
"""Requests at once, where two large ones may be in work."""


@pytest.fixture(scope="module")
def hashing() -> Iterator[Served]:
    with served(EMBEDDER="hashing") as running:
        yield running


async def crowd(url: str, path: str, bodies: list[bytes]) -> list[httpx.Response]:
    """The answers to as many requests at once."""
    limits = httpx.Limits(max_connections=None)
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits, headers=headers) as client:
        return await asyncio.gather(*(client.post(path, content=body) for body in bodies))


@pytest.mark.parametrize("path", SMALL)
async def test_small_requests_are_all_answered_and_alike(path: str, hashing: Served) -> None:
    answers = await crowd(hashing.url, path, [json.dumps(SMALL[path]).encode()] * CROWD)
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


def laborious(path: str) -> bytes:
    """A body that is nearly a large one, of 60,000 comparisons."""
    texts = [f"{number:06}{'x' * 60}" for number in range(3000)]
    rules = [{"type": "levenshtein", "expected": "y" * 60, "id": str(number)} for number in range(20)]
    if path == "/v1/suites":
        version = {"version": "v", "outputs": {"a": texts}}
        return json.dumps({"cases": [{"id": "a"}], "versions": [version], "graders": rules}).encode()
    return json.dumps({"queries": [{"responses": texts}], "constraints": rules}).encode()


@pytest.mark.parametrize("path", ["/v1/suites", "/v1/prompt-metrics"])
async def test_too_much_is_refused_and_the_rest_is_done(path: str) -> None:
    body = laborious(path)
    with served(EMBEDDER="hashing", LIMITS__WAITING_REQUESTS="2") as running:
        answers = await crowd(running.url, path, [body] * BUSY)
        (after,) = await crowd(running.url, path, [body])
    assert {answer.content for answer in answers if answer.status_code == 200} == {after.content}
    refused = [answer for answer in answers if answer.status_code != 200]
    assert {answer.status_code for answer in refused} == {429}
    assert {answer.headers["retry-after"] for answer in refused} == {"1"}
    assert {answer.headers["content-type"] for answer in refused} == {"application/problem+json"}
    assert all("waiting_requests" in answer.json()["detail"] for answer in refused)
