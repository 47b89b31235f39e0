"""POST /v1/similarity: the cosines of pairs of texts."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from service.config import Limits
from service.core.ports import Embedder
from service.engine.admission import deadline_of, over, over_deadline
from service.engine.embeddings import DeadlineMs, long_texts, refuse, truncated, whole
from service.engine.lanes import Steps, awaited
from service.primitives.vectors import paired_cosines

TEXTS_AT_ONCE = 512
"""Vectors that are compared between two pauses, an even number."""


class SimilarityRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Pairs of texts."""

    pairs: Annotated[list[tuple[str, str]], Meta(min_length=1, description="Two texts each.")]
    deadline_ms: DeadlineMs = None


class TruncatedText(Struct):
    """A text of the request that the model did not read to its end, and how much of it, in tokens."""

    pointer: str
    tokens: int
    read: int


class Similarity(Struct):
    """The cosines, in the order of the pairs."""

    cosines: list[float]
    model: str
    truncated: list[TruncatedText] | UnsetType = UNSET


def comparing(request: SimilarityRequest, embedder: Embedder, limits: Limits, arrived: float) -> Steps[Similarity]:
    """Embed every text once and compare. Invalid, ModelUnavailable, Late or Overloaded where that cannot be."""
    refuse(over_deadline(request.deadline_ms, limits))
    deadline = deadline_of(request.deadline_ms, limits, arrived)
    texts = [text for pair in request.pairs for text in pair]
    pointers = [f"/pairs/{place // 2}/{place % 2}" for place in range(len(texts))]
    refuse(over("/pairs", len(request.pairs), limits.items, "items"))
    refuse(long_texts(zip(pointers, texts, strict=True), limits))
    embedded = whole((yield from awaited(embedder.embed(texts, deadline))), pointers.__getitem__)
    found: list[float] = []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        some = embedded.vectors[start : start + TEXTS_AT_ONCE]
        found += paired_cosines(some[::2], some[1::2])
        yield None
    cut = [TruncatedText(pointers[place], one.tokens, one.read) for place, one in truncated(embedded.readings).items()]
    return Similarity(found, embedder.model.id, cut or UNSET)
