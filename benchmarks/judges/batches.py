"""A batch that waits for judges, and what the server is like meanwhile."""

import asyncio
from time import perf_counter
from typing import Any, NamedTuple

import msgspec

from benchmarks import workload
from benchmarks.client import Connection, connected, get, post
from benchmarks.machine import resident_megabytes
from benchmarks.servers import Server

ITEMS = 1_000
ITEM_CHARS = 300
DEADLINE_MS = 55_000
PAUSE_SECONDS = 0.005

RULES: list[dict[str, Any]] = [
    {"type": "factuality"},
    {"type": "closed_qa", "criteria": "Does the answer name a day and an amount?"},
    {"type": "humor"},
]
CALLS = ITEMS * len(RULES)


class Batch(NamedTuple):
    """What was seen of one batch: its time, and while it was in work the GETs' times and the server's memory."""

    seconds: float
    waits: list[float]
    """Milliseconds."""
    resident: list[float]
    """Megabytes."""


def request(judge: str) -> bytes:
    """A batch in which no two prompts are equal."""
    chance = workload.source("judges")
    items = [
        {name: workload.prose(chance, ITEM_CHARS) for name in ("input", "output", "expected")} for _ in range(ITEMS)
    ]
    rules = [rule | {"judge": judge} for rule in RULES]
    return post("/v1/evaluations", workload.batch(items, rules, deadline_ms=DEADLINE_MS))


def run(server: Server, judge: str) -> Batch:
    """Post a batch, and GET /livez again and again until it is answered. RuntimeError if not all of it is graded."""
    return asyncio.run(_run(server, judge))


async def _run(server: Server, judge: str) -> Batch:
    prepared = request(judge)
    waits, resident = [], []
    async with connected(server) as posting, connected(server) as probing:
        batch = asyncio.create_task(_timed(posting, prepared))
        while not batch.done():
            await asyncio.sleep(PAUSE_SECONDS)
            seconds, _ = await _timed(probing, get("/livez"))
            waits.append(seconds * 1000)
            resident.append(resident_megabytes(server.pid))
        seconds, answer = await batch
    _check(answer, judge)
    return Batch(seconds, waits, resident)


async def _timed(connection: Connection, prepared: bytes) -> tuple[float, bytes]:
    started = perf_counter()
    answer = await connection.ask(prepared)
    return perf_counter() - started, answer


def _check(answer: bytes, judge: str) -> None:
    results = msgspec.json.decode(answer)
    outcomes = [one for item in results["results"] for one in item["evaluations"]]
    ungraded = [one for one in outcomes if one["score"] is None]
    if ungraded:
        raise RuntimeError(f"{len(ungraded)} of {len(outcomes)} are not graded, such as {ungraded[0]}")
    calls = results["summary"]["judge"][judge]["calls"]
    if calls != CALLS:
        raise RuntimeError(f"{calls} calls were made in place of {CALLS}")
