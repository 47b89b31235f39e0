"""Whether what is run together changes a text's vector."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import groupby

import numpy as np

from service.core.errors import ModelUnavailable
from service.core.ports import Matrix

Ids = Sequence[int]

TEXTS = (
    "The answer is 42, yes.",
    "No: a graph with one scale for all that is run moves each vector, 100 °C, def f(x): return x, 你好, привет!",
)
TOLERANCE = 1e-5
LONGEST_PROBED = 512


class Company(Enum):
    """Which texts may run together without changing each other's vectors."""

    ANY = "any"
    EQUAL = "equal lengths"
    NONE = "none"

    def runs(self, lengths: Sequence[int]) -> Iterable[list[int]]:
        """Indices of the texts of each run."""
        if self is Company.ANY:
            return [list(range(len(lengths)))]
        if self is Company.NONE:
            return [[at] for at in range(len(lengths))]
        by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
        return [list(group) for _, group in groupby(by_length, lengths.__getitem__)]


def probe(vectors: Callable[[Sequence[Ids]], Matrix], texts: Sequence[Ids], max_tokens: int) -> Company:
    """How the model behind `vectors` may be run, found out with the ids of TEXTS.

    ModelUnavailable where it cannot read `max_tokens` tokens (no more than 512 are tried) or fails otherwise.
    """
    short, long = texts
    longest = (list(long) * LONGEST_PROBED)[: min(max_tokens, LONGEST_PROBED)]
    try:
        vectors([longest])
    except ModelUnavailable as exc:
        raise ModelUnavailable(f"{exc.detail} The model was to read up to {max_tokens} tokens.") from exc
    alone = vectors([short])

    def moved(other: Ids) -> bool:
        return bool(np.max(np.abs(_together(vectors, short, other) - alone)) > TOLERANCE)

    if moved(long[-len(short) :]):
        return Company.NONE
    return Company.EQUAL if moved(long) else Company.ANY


def _together(vectors: Callable[[Sequence[Ids]], Matrix], short: Ids, other: Ids) -> Matrix:
    """The vector of `short`; a graph made for one text at a time fails beside another, and that is an answer too."""
    try:
        return vectors([short, other])[:1]
    except ModelUnavailable:
        return np.full((1, 1), np.inf, dtype=np.float32)
