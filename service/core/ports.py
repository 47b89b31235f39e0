"""What the engine asks of others."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from service.core.errors import ServiceError

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


class Embedder(Protocol):
    """Makes vectors of texts; safe to call from any thread.

    ModelUnavailable and Overloaded may be raised at once. A future ends soon after `deadline` (of perf_counter)
    whatever happens; a caller that goes away cancels it.
    """

    @property
    def model(self) -> Model:
        """Whose vectors they are."""

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:
        """The vectors of texts, in their order."""

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:
        """How many tokens each text has, without the special ones and however many the model would read.

        Late where they were not counted before the deadline.
        """
