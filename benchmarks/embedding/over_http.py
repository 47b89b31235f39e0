"""POST /v1/embeddings beside the same embedder in process: what HTTP and JSON take away."""

import asyncio
import json
from contextlib import AsyncExitStack
from itertools import count
from time import perf_counter
from typing import Literal

import numpy as np

from benchmarks.client import answer_of, connected, post
from benchmarks.comparison import Comparison, interleaved
from benchmarks.embedding.contestant import SETTINGS, Contestant, Turns, contestant, shared
from benchmarks.embedding.loads import MIXED, SHARED, SHORT, Load
from benchmarks.embedding.model import settings
from benchmarks.embedding.scaling import CALLERS, LEAST_OF_MANY
from benchmarks.machine import SERVER_CORE
from benchmarks.servers import Server, scorewright

LEAST = 0.85

Encoding = Literal["base64", "float"]
ENCODINGS: tuple[Encoding, ...] = ("base64", "float")
SAMPLE = MIXED.texts(-1)
MOST_APART = 1e-6


def compare() -> list[Comparison]:
    """Time by the clock, one worker on one core each, the client on another core.

    RuntimeError if the vectors are not the same.
    """
    with contestant("ours", "1", cores={SERVER_CORE}) as ours, scorewright(SETTINGS | settings(1)) as server:
        _check(ours, server)
        beside = [row for load in (MIXED, SHORT) for row in _beside_in_process(load, ours, server)]
        return [*beside, _callers(server)]


class Posts:
    """The server on one load, in the same turn the same texts as any contestant."""

    def __init__(self, server: Server, load: Load, encoding: Encoding, callers: int = 1) -> None:
        self._server = server
        self._load = load
        self._encoding = encoding
        self._callers = callers
        self._numbers = count()

    def wall(self) -> float:
        """Take a turn; milliseconds a text by the clock, until the last caller has its answer."""
        texts = self._load.texts(next(self._numbers))
        seconds = asyncio.run(
            _asked(self._server, [_request(own, self._encoding) for own in shared(texts, self._callers)])
        )
        return seconds / len(texts) * 1000


def _request(texts: list[str], encoding: Encoding) -> bytes:
    body = {"input": texts, "model": "default", "encoding_format": encoding}
    return post("/v1/embeddings", json.dumps(body, ensure_ascii=False).encode())


def _check(ours: Contestant, server: Server) -> None:
    answer = json.loads(answer_of(server, _request(SAMPLE, "float")))
    apart = np.array([row["embedding"] for row in answer["data"]]) - ours.ask([SAMPLE], show=True).vectors[0]
    if np.abs(apart).max() > MOST_APART:
        raise RuntimeError("the service gives other vectors than its embedder")


async def _asked(server: Server, requests: list[bytes]) -> float:
    """Seconds until all requests, sent at the same time, are answered."""
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(connected(server)) for _ in requests]
        began = perf_counter()
        await asyncio.gather(*[one.ask(request) for one, request in zip(connections, requests, strict=True)])
        return perf_counter() - began


def _beside_in_process(load: Load, ours: Contestant, server: Server) -> list[Comparison]:
    runs = {"in_process": Turns(ours, load).wall}
    for encoding in ENCODINGS:
        runs[encoding] = Posts(server, load, encoding).wall
    rounds = interleaved(runs)
    return [
        Comparison(
            name=f"{load.name} over HTTP as {encoding}, and in process",
            unit="ms",
            ours=min(rounds[encoding]),
            peer=min(rounds["in_process"]),
            sense="at least",
            target=LEAST,
            rounds={name: rounds[name] for name in ("in_process", encoding)},
        )
        for encoding in ENCODINGS
    ]


def _callers(server: Server) -> Comparison:
    many, one = Posts(server, SHARED, "base64", CALLERS), Posts(server, SHARED, "base64")
    rounds = interleaved({"many": many.wall, "one": one.wall})
    return Comparison(
        name=f"{SHARED.name} of {CALLERS} over HTTP, and of one",
        unit="ms",
        ours=min(rounds["many"]),
        peer=min(rounds["one"]),
        sense="at least",
        target=LEAST_OF_MANY,
        rounds=rounds,
    )
