"""Callers that come, go, run out of time and close, all at once."""

import random
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotAnswered
from time import perf_counter

import numpy as np
import pytest

from service.core.errors import Late, ModelUnavailable
from service.core.ports import Embedded
from tests.embedding.recording import WAIT, Recorder, batching, soon, want, words

KNOWN = {text: want([text])[0] for text in (words(n, n % 5) for n in range(2, 130))}
TEXTS = list(KNOWN)


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads give way after nearly every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def check(future: Future[Embedded], texts: list[str]) -> None:
    """A text is late, or has a fault, or has its vector: one of them, whenever the answer was written."""
    try:
        made = future.result(WAIT)
    except CancelledError:
        return
    assert not made.late & made.faults.keys()
    for place, text in enumerate(texts):
        without = place in made.late or place in made.faults
        assert bool(made.readings[place].tokens) != without
        if made.vectors.shape[1]:
            np.testing.assert_array_equal(made.vectors[place], KNOWN[text] * (not without))
        else:
            assert without


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("seed", range(4))
def test_callers_come_and_go(seed: int) -> None:
    def call(number: int) -> None:
        rng = random.Random(f"{seed} {number}")
        texts = rng.choices(TEXTS, k=rng.choice([1, 10, 60]))
        future = batcher.embed(texts, perf_counter() + rng.choice([0, 0.001, 0.003, 0.01, 0.03, WAIT]))
        if rng.random() < 0.3:
            future.cancel()
        if rng.random() < 0.2:
            counts = batcher.count(texts, perf_counter() + rng.choice([0, 0.001, WAIT]))
            fault = counts.exception(WAIT)
            assert isinstance(fault, Late | ModelUnavailable) or counts.result() == [
                len(text.split()) for text in texts
            ]
        check(future, texts)

    encoder = Recorder()
    encoder.refused = set(TEXTS[::9])
    encoder.faults = {TEXTS[1]: ModelUnavailable("It is down")}
    with batching(encoder, workers=3, cache_texts=20) as batcher, ThreadPoolExecutor(16) as threads:
        list(threads.map(call, range(150)))
        assert not batcher.embed(["the last"], soon()).result(WAIT).late
        # everything else was put in line before it, but may be in another worker's run
        batcher.close()
        assert batcher.figures.waiting == 0


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("seed", range(4))
def test_closing_amid_calls(seed: int) -> None:
    def call(number: int) -> None:
        rng = random.Random(f"{seed} {number}")
        texts = rng.choices(TEXTS, k=20)
        if number == 40:
            batcher.close()
        try:
            future = batcher.embed(texts, perf_counter() + rng.choice([0.002, WAIT]))
            counts = batcher.count(texts, soon())
        except ModelUnavailable:
            return
        check(future, texts)
        assert not isinstance(counts.exception(WAIT), NotAnswered)

    with batching(Recorder(), workers=2, cache_texts=0) as batcher, ThreadPoolExecutor(16) as threads:
        list(threads.map(call, range(80)))
    assert batcher.figures.waiting == 0
