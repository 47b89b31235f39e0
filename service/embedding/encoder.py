"""What the batcher asks of a model."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from service.core.ports import Matrix, Model


class Prepared(Struct):
    """A text made ready for the model.

    `length` is what it adds to a run in tokens, padding included. `tokens` it has in all, of which `read` reach the
    model; both are 0 where nobody knows.
    """

    text: str
    ids: Sequence[int]
    length: int
    tokens: int
    read: int


class Encoder(Protocol):
    """A model, called from several threads at once.

    ModelUnavailable where it cannot answer, TextRefused where that is due to one of the texts of a run: it may take
    the others.
    """

    @property
    def model(self) -> Model:
        """Whose vectors they are."""

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """The texts made ready, in their order."""

    def run(self, prepared: Sequence[Prepared]) -> Matrix:
        """(texts, dimensions): their vectors, rows of length 1."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without the special ones."""

    def rest(self) -> None:
        """Give back the memory that only runs need; there is nothing to do for a while."""

    def close(self) -> None:
        """Let go of what is held."""
