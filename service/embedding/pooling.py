"""Vectors of texts from vectors of tokens. Formulas are those of sentence-transformers' Pooling and Dense."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from service.core.errors import ModelUnavailable
from service.core.ports import Matrix

Lengths = NDArray[np.int64]

SMALLEST_NORM = 1e-12


class Dense(Struct, frozen=True):
    """activation(x W' + b)."""

    weight: Matrix
    """(out, in)"""
    bias: Matrix | None
    activation: str

    def __call__(self, vectors: Matrix) -> Matrix:
        """(texts, out) of (texts, in). ModelUnavailable where there are not as many in."""
        if vectors.shape[1] != self.weight.shape[1]:
            raise ModelUnavailable(
                f"A Dense module takes vectors of {self.weight.shape[1]} dimensions, and the pooling gives "
                f"{vectors.shape[1]}: download the model again, with all its files."
            )
        out = vectors @ self.weight.T
        return _ACTIVATIONS[self.activation](out if self.bias is None else out + self.bias)


_ACTIVATIONS: dict[str, Callable[[Matrix], Matrix]] = {
    "Tanh": np.tanh,
    "Identity": lambda x: x,
    "ReLU": lambda x: np.maximum(x, np.float32(0)),
}


def pool(tokens: NDArray[np.float32], lengths: Lengths, modes: Sequence[str]) -> Matrix:
    """(texts, modes x width): the vectors of each mode, joined.

    `tokens` is (texts, longest, width), padded on the right; `lengths`, each at least 1, tells how many are real.
    """
    pooled = [_MODES[mode](tokens, lengths) for mode in modes]
    return pooled[0] if len(pooled) == 1 else np.concatenate(pooled, axis=1)


def unit(vectors: Matrix, dimensions: int | None = None) -> Matrix:
    """The rows' leading dimensions, made length 1.

    ModelUnavailable where a row is zero or not finite: it has no direction, and one made up would be scored like a real
    one.
    """
    kept = vectors[:, :dimensions].astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", kept, kept))
    if not np.all(np.isfinite(norms) & (norms > SMALLEST_NORM)):
        raise ModelUnavailable("The model gave a vector that is zero or not finite: its file is damaged or unsuitable.")
    return np.asarray(kept / norms[:, None], dtype=np.float32)


def _weighted(tokens: NDArray[np.float32], weights: NDArray[np.floating]) -> Matrix:
    """Sums over the tokens; padding has weight 0 but may hold anything finite."""
    return np.asarray(np.matmul(weights[:, None, :], tokens)[:, 0, :], dtype=np.float32)


def _mask(tokens: NDArray[np.float32], lengths: Lengths) -> NDArray[np.float32]:
    return (np.arange(tokens.shape[1]) < lengths[:, None]).astype(np.float32)


def _mean(tokens: NDArray[np.float32], lengths: Lengths) -> Matrix:
    return _weighted(tokens, _mask(tokens, lengths) / lengths.astype(np.float32)[:, None])


def _mean_sqrt(tokens: NDArray[np.float32], lengths: Lengths) -> Matrix:
    return _weighted(tokens, _mask(tokens, lengths) / np.sqrt(lengths.astype(np.float32))[:, None])


def _weighted_mean(tokens: NDArray[np.float32], lengths: Lengths) -> Matrix:
    """A token's weight is its place, from 1."""
    places = np.arange(1, tokens.shape[1] + 1, dtype=np.float32)
    total = (lengths * (lengths + 1) // 2).astype(np.float32)[:, None]
    return _weighted(tokens, _mask(tokens, lengths) * places / total)


def _max(tokens: NDArray[np.float32], lengths: Lengths) -> Matrix:
    real = _mask(tokens, lengths)[:, :, None] > 0
    return np.asarray(np.max(tokens, axis=1, where=real, initial=-np.inf), dtype=np.float32)


def _first(tokens: NDArray[np.float32], lengths: Lengths) -> Matrix:  # noqa: ARG001
    return tokens[:, 0]


def _last(tokens: NDArray[np.float32], lengths: Lengths) -> Matrix:
    return tokens[np.arange(len(tokens)), lengths - 1]


_MODES: dict[str, Callable[[NDArray[np.float32], Lengths], Matrix]] = {
    "cls": _first,
    "max": _max,
    "mean": _mean,
    "mean_sqrt_len_tokens": _mean_sqrt,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
