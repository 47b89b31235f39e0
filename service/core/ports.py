"""What the engine asks of others."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from service.core.errors import ServiceError
from service.core.judging import JudgeInfo, NoReply, Prompt, Reply

Matrix = NDArray[np.float32]


class Model(Struct, frozen=True, kw_only=True):
    """The model that vectors come from. Equal fingerprints, equal vectors."""

    id: str
    fingerprint: str
    dimensions: int
    max_tokens: int | None = None
    """Tokens of a text that are read, the special ones included; None where nobody says."""
    batch_invariant: bool = True
    """A text's vector does not depend on the texts embedded beside it."""
    sizes: tuple[int, ...] = ()
    """Smaller dimensions for which the model was trained."""
    tau: float | None = None
    """The cosine from which on two answers to one question are likely to mean the same; None where nobody says."""


class Reading(NamedTuple):
    """Tokens of a text, the special ones included, and how many of them the model read; 0 where nobody says."""

    tokens: int
    read: int

    @property
    def is_truncated(self) -> bool:
        """Whether the model saw only the beginning."""
        return self.read < self.tokens


class Embedded(Struct):
    """What became of texts, in their order."""

    vectors: Matrix
    """(texts, dimensions), rows of length 1; zero for texts that have no vector."""
    readings: list[Reading]
    late: frozenset[int] = frozenset()
    """Places of the texts that were not embedded before the deadline."""
    faults: dict[int, ServiceError] = {}
    """Places of the texts that could not be embedded, and why."""


class Figures(Struct):
    """What an embedder has done since it began, and what it holds now."""

    texts: int = 0
    tokens: int = 0
    padding: int = 0
    """Tokens that were computed only because a longer text was in the run."""
    truncated: int = 0
    runs: int = 0
    run_seconds: float = 0.0
    queue_seconds: float = 0.0
    cache_hits: int = 0
    cache_misses: int = 0
    waiting: int = 0
    """Texts that wait or are in a run."""
    cached: int = 0
    """Vectors that are kept."""

    def add_run(self, readings: Sequence[Reading], length: int, seconds: float, waited: float) -> None:
        """Count a run of texts that were padded to `length`, and waited so many seconds in sum."""
        self.texts += len(readings)
        self.tokens += sum(one.read for one in readings)
        self.padding += sum(length - one.read for one in readings if one.read)
        self.truncated += sum(one.is_truncated for one in readings)
        self.runs += 1
        self.run_seconds += seconds
        self.queue_seconds += waited


class Embedder(Protocol):
    """Makes vectors of texts; safe to call from any thread.

    ModelUnavailable and Overloaded may be raised at once. A future ends soon after `deadline` (of perf_counter)
    whatever happens; a caller that goes away cancels it.
    """

    @property
    def model(self) -> Model:
        """Whose vectors they are."""

    @property
    def fault(self) -> ServiceError | None:
        """Why nothing could be embedded when that was last tried; None as long as all is well."""

    @property
    def figures(self) -> Figures:
        """What has been done so far."""

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:
        """The vectors of texts, in their order."""

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:
        """How many tokens each text has, without the special ones and however many the model would read.

        Late where they were not counted before the deadline.
        """

    def close(self) -> None:
        """Stop; whoever waits is told so."""


class Account:
    """Whatever is asked of judges on one account is spent together; it ends when nobody holds it any more."""


class Judges(Protocol):
    """The judges there are; safe to call from any thread.

    What `ask` promises ends soon after `deadline` (of perf_counter) whatever happens; a caller that goes away cancels
    it, and what has not been sent by then never is.
    """

    @property
    def known(self) -> Mapping[str, JudgeInfo]:
        """Every judge by its name; `caller` is always among them."""

    def ask(
        self,
        judge: str,
        prompts: Sequence[Prompt],
        deadline: float,
        trace: Mapping[str, str],
        account: Account | None = None,
    ) -> Future[list[Reply | NoReply]]:
        """What a judge answers, in the order of the prompts. `trace` are headers that travel on.

        What is asked on one `account` shares what a request may spend; None is an account of its own.
        """

    def close(self) -> None:
        """Stop; whoever waits is told so."""
