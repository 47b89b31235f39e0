"""Queries with their responses and vectors: invented, always the same."""

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks import workload

SESSIONS = 40
QUERIES = 5
MOST_RESPONSES = 20
FEW_DIMENSIONS = 64
TAUS = (0.6, 0.7, 0.8)
CHAINED_SHARE = 0.3
WITHOUT_REFERENCE_SHARE = 0.2

LEAST_FROM_TAU = 1e-3
"""Nearer to tau a cosine may fall to either side, as the peer allows for no error of its arithmetic."""

MANY_QUERIES = 50
MANY_RESPONSES = 40
MANY_DIMENSIONS = 384

Vectors = NDArray[np.float32]
Draw = Callable[[Generator, int, int, float], NDArray[np.float64]]


class Query(NamedTuple):
    """One query, its responses with a vector each, and a reference with its own; a text of "" is none."""

    text: str
    responses: list[str]
    with_reference: Vectors
    """The vectors of the responses, and that of the reference below them."""
    reference: str


class Session(NamedTuple):
    """Queries with `k` responses each, which mean the same from a cosine of `tau` on."""

    k: int
    tau: float
    queries: list[Query]


def small() -> list[Session]:
    """SESSIONS x QUERIES queries with every K from 2 to MOST_RESPONSES, in groups well apart or in chains."""
    chance = workload.source("prompts")
    counts = [2 + place % (MOST_RESPONSES - 1) for place in range(SESSIONS)]
    return [_session(chance, k, chance.choice(TAUS), QUERIES, FEW_DIMENSIONS) for k in counts]


def large() -> Session:
    """What is timed."""
    return _session(workload.source("large"), MANY_RESPONSES, 0.8, MANY_QUERIES, MANY_DIMENSIONS)


def _session(chance: Random, k: int, tau: float, queries: int, dimensions: int) -> Session:
    return Session(k, tau, [_query(chance, k, tau, dimensions) for _ in range(queries)])


def _query(chance: Random, k: int, tau: float, dimensions: int) -> Query:
    draw = _chain if chance.random() < CHAINED_SHARE else _groups
    vectors = _far_from_tau(draw, np.random.default_rng(chance.randrange(2**32)), k, dimensions, tau)
    return Query(
        text=workload.prose(chance, 60),
        responses=[_response(chance) for _ in range(k)],
        with_reference=np.vstack([vectors, _reference(chance, vectors[0])]),
        reference="" if chance.random() < WITHOUT_REFERENCE_SHARE else workload.prose(chance, 80),
    )


def _response(chance: Random) -> str:
    """Prose, or JSON in one of three."""
    text = workload.prose(chance, chance.randrange(20, 120))
    return json.dumps({"answer": text}) if chance.random() < 0.33 else text


def _reference(chance: Random, response: Vectors) -> Vectors:
    """More or less as a response, or opposed to it."""
    noise = np.random.default_rng(chance.randrange(2**32)).standard_normal(len(response))
    return (chance.choice([1, 1, -1]) * response + chance.random() * noise).astype(np.float32)


def _far_from_tau(draw: Draw, chance: Generator, k: int, dimensions: int, tau: float) -> Vectors:
    while True:
        vectors = chance.permutation(draw(chance, k, dimensions, tau)).astype(np.float32)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        if np.abs(unit @ unit.T - tau).min() > LEAST_FROM_TAU:
            return vectors


def _groups(chance: Generator, k: int, dimensions: int, tau: float) -> NDArray[np.float64]:  # noqa: ARG001
    """Around one to K random directions."""
    centres = chance.standard_normal((chance.integers(1, k + 1), dimensions))
    noise = chance.uniform(0.05, 0.3) * chance.standard_normal((k, dimensions))
    return centres[chance.integers(len(centres), size=k)] + noise


def _chain(chance: Generator, k: int, dimensions: int, tau: float) -> NDArray[np.float64]:
    """Along an arc, each similar to its neighbours and to no other, but for up to half, which stand alone."""
    vectors = chance.standard_normal((k, dimensions))
    linked = int(chance.integers(-(-k // 2), k + 1))
    plane = np.linalg.qr(chance.standard_normal((dimensions, 2))).Q
    angles = np.arange(linked) * np.arccos(tau) * chance.uniform(0.6, 0.95)
    vectors[:linked] = np.column_stack([np.cos(angles), np.sin(angles)]) @ plane.T
    return vectors
