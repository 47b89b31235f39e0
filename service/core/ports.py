"""What the engine asks of others."""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

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


class Embedded(Struct):
    """What became of texts, in their order."""

    vectors: Matrix
    """(texts, dimensions), rows of length 1."""
    tokens: list[int]
    """Tokens of each text, the special ones included."""
    read: list[int]
    """Tokens of each text that the model read: fewer than `tokens` where the text was truncated."""


class Embedder(Protocol):
    """Makes vectors of texts; safe to call from any thread.

    What it promises may end in ModelUnavailable, or in Late once `deadline` (of perf_counter) has passed; Overloaded is
    raised at once. A caller that goes away cancels the future.
    """

    @property
    def model(self) -> Model: ...

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:
        """The vectors of texts, in their order."""

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:
        """How many tokens each text has, without the special ones and however many the model would read."""
