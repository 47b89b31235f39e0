"""What an embedding server answered, held to what was asked. Nothing in an answer is taken on trust."""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from service.core.ports import Matrix

Rows = NDArray[np.float64]


class RemoteFault(Exception):
    """What went wrong with a server, as a sentence that tells callers nothing of where it is."""


class _Row(Struct):
    index: int
    embedding: list[float] | str


class _Reply(Struct):
    data: list[_Row] | None = None
    error: Any = None


class _Listed(Struct):
    id: Annotated[str, Meta(min_length=1, max_length=200)]


class _Listing(Struct):
    data: Annotated[list[_Listed], Meta(min_length=1)]


_replies = msgspec.json.Decoder(_Reply)
_listings = msgspec.json.Decoder(_Listing)


def vectors(body: bytes, count: int) -> Matrix:
    """(count, dimensions): the vectors of a reply in the order of its indices, each brought to length 1.

    Numbers may be JSON or base64 of little-endian float32. RemoteFault where they are not `count` vectors of one
    length, finite and not zero, under the indices 0 to count - 1.
    """
    reply = _decoded(body)
    if reply.error is not None:
        raise RemoteFault("The embedding server answered with an error in place of vectors")
    found = reply.data or []
    if len(found) != count:
        raise RemoteFault(f"The embedding server answered with {len(found)} vectors for {count} texts")
    ordered = sorted(found, key=lambda row: row.index)
    if [row.index for row in ordered] != list(range(count)):
        raise RemoteFault("The embedding server's vectors do not say which text each belongs to")
    return _unit(_rectangle([_numbers(row.embedding) for row in ordered]))


def first_model(body: bytes) -> str | None:
    """The model that is listed first; None where the body lists none."""
    try:
        return _listings.decode(body).data[0].id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _decoded(body: bytes) -> _Reply:
    try:
        return _replies.decode(body)
    except msgspec.ValidationError as exc:
        raise RemoteFault(f"The embedding server's answer has the wrong shape: {exc}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RemoteFault("The embedding server's answer is no JSON that can be read") from None


def _numbers(embedding: list[float] | str) -> Sequence[float] | NDArray[np.float32]:
    if isinstance(embedding, list):
        return embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    except (binascii.Error, ValueError):
        raise RemoteFault("The embedding server's base64 holds no whole numbers of four bytes") from None


def _rectangle(rows: list[Sequence[float] | NDArray[np.float32]]) -> Rows:
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise RemoteFault(f"The embedding server's vectors have {lengths[0]} to {lengths[-1]} dimensions in one answer")
    if lengths == [0]:
        raise RemoteFault("The embedding server's vectors are empty")
    return np.array(rows, np.float64)


def _unit(rows: Rows) -> Matrix:
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise RemoteFault("The embedding server's vectors hold numbers that are not finite")
    if not largest.all():
        raise RemoteFault("The embedding server answered with a zero vector, which has no direction")
    # Squares of very large or very small numbers leave the range of a double: bring the largest to 1 first.
    rows = rows / largest
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)
