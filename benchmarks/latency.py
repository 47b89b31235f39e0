"""How long a small request waits while large ones are in work."""

import asyncio
import json
from itertools import cycle, islice
from statistics import median, quantiles
from time import perf_counter

from benchmarks import servers, workload
from benchmarks.client import Connection, connected, get, post
from benchmarks.comparison import ROUNDS, Comparison
from benchmarks.servers import Server

POSTERS = 4
PROBES = 1_000
PAUSE_SECONDS = 0.002
MOST_MILLISECONDS = 10.0

RULES = [{"type": "json_diff"}, {"type": "regex", "pattern": "(refund|return) [a-z]+ZX-[0-9]{6}"}]


def compare() -> Comparison:
    """The 99th percentile of GET /livez beside four connections that post heavy batches: the median of the rounds."""
    requests = [post("/v1/evaluations", body) for body in (_many_items(), _large_items())]
    with servers.scorewright() as server:
        seen = [asyncio.run(_round(server, requests)) for _ in range(ROUNDS)]
    rounds = {
        "p99": [quantiles(waits, n=100)[98] for waits, _ in seen],
        "p50": [median(waits) for waits, _ in seen],
        "posts_per_second": [rate for _, rate in seen],
    }
    return Comparison(
        name="GET p99 beside heavy posts, and its limit",
        unit="ms",
        ours=median(rounds["p99"]),
        peer=MOST_MILLISECONDS,
        sense="at least",
        target=1.0,
        rounds=rounds,
        note=f"GET p50 {median(rounds['p50']):.2f} ms, {median(rounds['posts_per_second']):.0f} posts/s",
    )


async def _round(server: Server, requests: list[bytes]) -> tuple[list[float], float]:
    """Milliseconds that each probe took, and the posts answered in a second meanwhile."""
    answered: list[float] = []
    started = perf_counter()
    async with asyncio.TaskGroup() as group, connected(server) as connection:
        turns = islice(cycle(requests), POSTERS)
        posters = [group.create_task(_keep_posting(server, request, answered)) for request in turns]
        waits = [await _probe(connection) for _ in range(PROBES)]
        for poster in posters:
            poster.cancel()
    return waits, len(answered) / (perf_counter() - started)


async def _keep_posting(server: Server, request: bytes, answered: list[float]) -> None:
    async with connected(server) as connection:
        while True:
            await connection.ask(request)
            answered.append(perf_counter())


async def _probe(connection: Connection) -> float:
    await asyncio.sleep(PAUSE_SECONDS)
    started = perf_counter()
    await connection.ask(get("/livez"))
    return (perf_counter() - started) * 1000


def _many_items() -> bytes:
    """Some 310 kB: 95 items, each an object with a longer text, and another to compare it with."""
    chance = workload.source("many items")
    documents = [{**workload.nested(chance), "report": {"text": workload.prose(chance, 700)}} for _ in range(95)]
    items = [{"output": document, "expected": workload.altered(chance, document)} for document in documents]
    return workload.batch(items, RULES)


def _large_items() -> bytes:
    """Some 410 kB: two items, each the JSON text of 110 objects, and the objects to compare it with."""
    chance = workload.source("large items")
    items = []
    for _ in range(2):
        documents = [workload.nested(chance) for _ in range(110)]
        expected = [workload.altered(chance, document) for document in documents]
        items.append({"output": json.dumps(documents, ensure_ascii=False), "expected": expected})
    return workload.batch(items, RULES)
