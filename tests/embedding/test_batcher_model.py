"""The default model through the batcher: a text's vector does not depend on its company."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from service.core.ports import Matrix
from service.embedding.batcher import Batcher
from service.embedding.local import LocalEncoder, load_default
from tests.counts import COUNTS
from tests.embedding.encoding import TEXTS, alone
from tests.embedding.recording import WAIT, batching, soon
from tests.model import FETCHED, require_model

MIXED = [
    *TEXTS,
    *("the answer is no. " * n for n in range(1, 40, 3)),
    *(f"no. {n}" for n in range(20)),
    "\ud800 👩‍👩‍👧‍👦",
    "\0",
]


@pytest.fixture(scope="module")
def encoder() -> LocalEncoder:
    require_model()
    return load_default(FETCHED)


@pytest.fixture(scope="module")
def expected(encoder: LocalEncoder) -> Matrix:
    return alone(encoder, MIXED)


@pytest.fixture(params=[0, 1_000], ids=["nothing kept", "kept"])
def batcher(encoder: LocalEncoder, request: pytest.FixtureRequest) -> Iterator[Batcher]:
    with batching(Unclosed(encoder), workers=2, run_tokens=512, cache_texts=request.param) as running:
        yield running


class Unclosed(LocalEncoder):
    """The same encoder for several batchers."""

    def __init__(self, encoder: LocalEncoder) -> None:
        self.__dict__.update(encoder.__dict__)

    def close(self) -> None:
        """Others use it."""


def test_the_same_vectors_in_any_company(batcher: Batcher, expected: Matrix) -> None:
    """To the last bit where that was seen; other processors may differ in it."""

    def ask(seed: int) -> bool:
        places = random.Random(seed).choices(range(len(MIXED)), k=6)
        made = batcher.embed([MIXED[place] for place in places], soon()).result(WAIT)
        np.testing.assert_allclose(made.vectors, expected[places], atol=1e-6)
        return np.array_equal(made.vectors, expected[places])

    for _ in range(2):
        np.testing.assert_allclose(batcher.embed(MIXED, soon()).result(WAIT).vectors, expected, atol=1e-6)
    with ThreadPoolExecutor(16) as threads:
        same = sum(threads.map(ask, range(32)))
    COUNTS.append(f"embeddings in any company: {same} of 32 orders the same to the last bit")


def test_counts_and_readings(batcher: Batcher, encoder: LocalEncoder) -> None:
    texts = ["the answer", "", "the " * 300]
    assert batcher.count(texts, soon()).result(WAIT) == [2, 0, 300]
    readings = batcher.embed(texts, soon()).result(WAIT).readings
    assert [(one.tokens, one.read, one.is_truncated) for one in readings] == [
        (4, 4, False),
        (2, 2, False),
        (302, 256, True),
    ]
    assert batcher.figures.truncated == 1
