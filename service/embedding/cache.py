"""Vectors that were made before."""

from collections import OrderedDict
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.ports import Reading

Vector = NDArray[np.float32]


class Made(NamedTuple):
    """A text's vector, and how much of the text it is of."""

    vector: Vector
    reading: Reading


class Cache:
    """The vectors used last, by text. It belongs to one model, prompt and length: those are not part of the key.

    Texts are kept as digests of 16 bytes, so a long text takes no more room than a short one.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._made: OrderedDict[bytes, Made] = OrderedDict()

    def __len__(self) -> int:
        return len(self._made)

    def get(self, text: str) -> Made | None:
        """What was made of a text, if it is still here."""
        key = _digest(text)
        made = self._made.get(key)
        if made is not None:
            self._made.move_to_end(key)
        return made

    def put(self, text: str, made: Made) -> None:
        """Keep a vector; the one not used for longest gives way."""
        if not self._capacity:
            return
        key = _digest(text)
        # a copy: a row would keep the whole run it was made in
        self._made[key] = Made(made.vector.copy(), made.reading)
        self._made.move_to_end(key)
        if len(self._made) > self._capacity:
            self._made.popitem(last=False)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
