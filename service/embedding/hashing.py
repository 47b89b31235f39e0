"""An embedder that needs no weights: for tests, demonstrations and load, never for meaning."""

import zlib
from collections.abc import Sequence

import numpy as np

from service.core.ports import Matrix, Model
from service.embedding.encoder import Prepared

SPECIAL_TOKENS = 2
FORM = "hashing-trigrams-1"
"""Changes whenever a text's vector would."""


class HashingEncoder:
    """Counts hashed trigrams of characters: no model of meaning. Implements `embedding.encoder.Encoder`.

    Texts that share spelling are near, whatever they say; case and the kind of white space do not count. The same text
    has the same vector on every machine and beside any other texts. Words are tokens, and two special ones are added,
    as in models of the BERT family; what goes past `max_tokens` is not read. Feature hashing with signs: Weinberger et
    al., "Feature Hashing for Large Scale Multitask Learning", 2009.
    """

    def __init__(self, dimensions: int = 64, max_tokens: int = 256) -> None:
        if dimensions < 2 or max_tokens < SPECIAL_TOKENS:
            raise ValueError(f"HashingEncoder needs 2 dimensions and {SPECIAL_TOKENS} tokens at least")
        self._dimensions = dimensions
        self._words = max_tokens - SPECIAL_TOKENS
        self.model = Model(
            id=f"hashing-{dimensions}",
            fingerprint=f"{FORM}/{dimensions}/{max_tokens}",
            dimensions=dimensions,
            max_tokens=max_tokens,
        )

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """The texts with the hashes of their trigrams as ids; length is the number of tokens read."""
        return [self._prepared(text) for text in texts]

    def run(self, prepared: Sequence[Prepared]) -> Matrix:
        """(texts, dimensions): their vectors, rows of length 1."""
        rows = np.zeros((len(prepared), self._dimensions))
        # The first dimension stands for the special tokens alone, so that no text is zero however its signs cancel.
        rows[:, 0] = 1
        for row, one in zip(rows, prepared, strict=True):
            hashes = np.array(one.ids, np.uint32)
            np.add.at(row, 1 + (hashes >> 1) % (self._dimensions - 1), 1 - 2.0 * (hashes & 1))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Words of each text."""
        return [len(text.split()) for text in texts]

    def rest(self) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nothing is held."""

    def _prepared(self, text: str) -> Prepared:
        words = text.split()
        read = min(len(words), self._words) + SPECIAL_TOKENS
        return Prepared(text, _trigrams(words[: self._words]), read, tokens=len(words) + SPECIAL_TOKENS, read=read)


def _trigrams(words: Sequence[str]) -> list[int]:
    padded = f" {' '.join(words).lower()} "
    return [zlib.crc32(padded[start : start + 3].encode(errors="replace")) for start in range(len(padded) - 2)]
