"""An encoder that tells what it was asked for, and can be held."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from time import perf_counter
from typing import Any

from service.core.errors import TextRefused
from service.core.ports import Matrix
from service.embedding.batcher import Batcher
from service.embedding.encoder import Encoder, Prepared
from service.embedding.hashing import HashingEncoder
from tests.embedding.encoding import vectors

WAIT = 30.0
"""Far longer than anything here takes; only a deadlock gets there."""
PLUG = "plug"
OPTIONS: dict[str, Any] = {"workers": 1, "run_tokens": 64, "queue_texts": 10_000, "cache_texts": 10_000}


class Recorder(HashingEncoder):
    """The hashing encoder, with every run and its faults at the test's will. A run of PLUG lasts until `go`."""

    def __init__(self) -> None:
        super().__init__(dimensions=16)
        self.made_ready: list[list[str]] = []
        self.runs: list[list[str]] = []
        self.lengths: list[list[int]] = []
        self.counted: list[list[str]] = []
        self.refused: set[str] = set()
        self.faults: dict[str, BaseException] = {}
        self.during: Callable[[list[str]], Any] = len
        self.held, self.go, self.rested = Event(), Event(), Event()
        self.opens_on_close = True

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        self.made_ready.append(list(texts))
        return super().prepare(texts)

    def run(self, prepared: Sequence[Prepared]) -> Matrix:
        texts = [one.text for one in prepared]
        self.runs.append(texts)
        self.lengths.append([one.length for one in prepared])
        if PLUG in texts:
            self.held.set()
            assert self.go.wait(WAIT)
        self.during(texts)
        for text in texts:
            if text in self.faults:
                raise self.faults[text]
        if self.refused.intersection(texts):
            raise TextRefused("One of them is refused")
        return super().run(prepared)

    def count(self, texts: Sequence[str]) -> list[int]:
        self.counted.append(list(texts))
        for text in texts:
            if text in self.faults:
                raise self.faults[text]
        return super().count(texts)

    def rest(self) -> None:
        self.rested.set()

    def close(self) -> None:
        if self.opens_on_close:
            self.go.set()

    @property
    def texts(self) -> list[str]:
        """What ran, the plug aside."""
        return [text for run in self.runs for text in run if text != PLUG]


@contextmanager
def batching(encoder: Encoder, **options: Any) -> Iterator[Batcher]:
    batcher = Batcher(encoder, **{**OPTIONS, **options})
    try:
        yield batcher
    finally:
        batcher.close()


@contextmanager
def busy(batcher: Batcher, encoder: Recorder) -> Iterator[None]:
    """The one worker is in a run meanwhile; what was asked for is run once this ends."""
    plug = batcher.embed([PLUG], soon())
    assert encoder.held.wait(WAIT)
    yield
    encoder.go.set()
    plug.result(WAIT)


def soon() -> float:
    """A deadline that nothing misses."""
    return perf_counter() + 2 * WAIT


def past() -> float:
    return perf_counter() - 1


def want(texts: Sequence[str]) -> Matrix:
    return vectors(HashingEncoder(dimensions=16), texts)


def words(count: int, name: object = "") -> str:
    """A text of so many tokens, the special ones included."""
    return " ".join([f"word{name}"] * (count - 2))
