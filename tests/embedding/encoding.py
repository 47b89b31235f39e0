"""Texts through an encoder."""

from collections.abc import Sequence

import numpy as np

from service.core.ports import Matrix
from service.embedding.encoder import Encoder

TEXTS = [
    "the cat runs.",
    "",
    "no",
    "sydney is large and canberra is small, the answer is canberra.",
    "dog house tree",
    "the " * 200,
]


def vectors(encoder: Encoder, texts: Sequence[str]) -> Matrix:
    return encoder.run(encoder.prepare(texts))


def alone(encoder: Encoder, texts: Sequence[str]) -> Matrix:
    return np.vstack([vectors(encoder, [text]) for text in texts])
