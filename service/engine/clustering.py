"""POST /v1/clusters: groups of texts, or of vectors, that are near each other."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType
from numpy.typing import NDArray

from service.config import Limits
from service.core.errors import Fault, Invalid
from service.core.ports import Embedder
from service.engine.admission import deadline_of, over, over_deadline
from service.engine.comparing import TruncatedText
from service.engine.embeddings import DeadlineMs, long_texts, refuse, truncated, whole
from service.engine.lanes import Steps, awaited
from service.primitives.clusters import MAX_VECTORS, Clustering, Linkage, cluster
from service.primitives.vectors import stacked

Texts = Annotated[list[str], Meta(min_length=1, description="What is grouped; the model embeds it.")]
Vectors = Annotated[
    list[Annotated[list[float], Meta(min_length=1)]],
    Meta(min_length=1, description="Vectors of your own instead, all of one length."),
]


class ClustersRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts or vectors to be grouped: give one of them."""

    texts: Texts | UnsetType = UNSET
    embeddings: Vectors | UnsetType = UNSET
    tau: Annotated[float, Meta(ge=-1, le=1, description="Similar from this cosine on.")] = 0.8
    linkage: Annotated[
        Linkage,
        Meta(description="single: near one member; average: near the mean of them; complete: near each of them."),
    ] = "single"
    deadline_ms: DeadlineMs = None


class Group(Struct):
    """A cluster: its members by their places in the request, the one most like the others, the least similar two."""

    size: int
    members: list[int]
    medoid: int
    min_similarity: Annotated[float, Meta(description="The smallest cosine of two members; 1 for a single one.")]
    chained: Annotated[bool, Meta(description="Some members are less similar than tau, joined by others.")]


class TauPoint(Struct):
    """From this tau down there are so many clusters; csr is the share of the largest."""

    tau: float
    n_clusters: int
    csr: float


class Clusters(Struct):
    """`labels` count from 0 in the order of first appearance, and `clusters` are in their order."""

    labels: list[int]
    clusters: list[Group]
    tau_curve: Annotated[list[TauPoint] | None, Meta(description="Falling tau; null above 2,000 vectors.")]
    tau: float
    linkage: Linkage
    model: Annotated[str | None, Meta(description="Who made the vectors; null for your own.")]
    truncated: list[TruncatedText] | UnsetType = UNSET


def clustering(request: ClustersRequest, embedder: Embedder, limits: Limits, arrived: float) -> Steps[Clusters]:
    """Embed if need be, and group. Invalid, ModelUnavailable, Late or Overloaded where that cannot be."""
    if (request.texts is UNSET) == (request.embeddings is UNSET):
        raise Invalid([Fault("", "one_of", "Give either `texts` or `embeddings`")])
    refuse(over_deadline(request.deadline_ms, limits))
    deadline = deadline_of(request.deadline_ms, limits, arrived)
    if request.embeddings is not UNSET:
        rows = yield from _rows(request.embeddings, request.linkage)
        return _told(request, (yield from cluster(rows, request.tau, request.linkage)), None, [])
    assert request.texts is not UNSET
    _refuse_many("/texts", len(request.texts), request.linkage)
    refuse(long_texts(((f"/texts/{place}", text) for place, text in enumerate(request.texts)), limits))
    embedded = whole((yield from awaited(embedder.embed(request.texts, deadline))), "/texts/{}".format)
    found = yield from cluster(embedded.vectors, request.tau, request.linkage)
    too_long = truncated(embedded.readings).items()
    cut = [TruncatedText(f"/texts/{place}", one.tokens, one.read) for place, one in too_long]
    return _told(request, found, embedder.model.id, cut)


def _rows(vectors: list[list[float]], linkage: Linkage) -> Steps[NDArray[np.float64]]:
    _refuse_many("/embeddings", len(vectors), linkage)
    width = len(vectors[0])
    refuse(
        [
            Fault(f"/embeddings/{place}", "invalid_embedding", f"{len(one)} numbers, where the first has {width}")
            for place, one in enumerate(vectors)
            if len(one) != width
        ]
    )
    return (yield from stacked(vectors))


def _refuse_many(pointer: str, count: int, linkage: Linkage) -> None:
    refuse(over(pointer, count, MAX_VECTORS[linkage], f"clusters_{linkage}"))


def _told(request: ClustersRequest, found: Clustering, model: str | None, cut: list[TruncatedText]) -> Clusters:
    labels = found.labels.tolist()
    return Clusters(
        labels=labels,
        clusters=groups(found, range(len(labels))),
        tau_curve=tau_curve(found, len(labels)),
        tau=request.tau,
        linkage=request.linkage,
        model=model,
        truncated=cut or UNSET,
    )


def groups(found: Clustering, places: Sequence[int]) -> list[Group]:
    """The clusters of vectors that have these places in the request."""
    return [
        Group(len(one.members), [places[row] for row in one.members], places[one.medoid], one.smallest, one.chained)
        for one in found.clusters
    ]


def tau_curve(found: Clustering, count: int) -> list[TauPoint] | None:
    """The curve of so many vectors, if there is one."""
    if found.curve is None:
        return None
    return [TauPoint(tau, n_clusters, largest / count) for tau, n_clusters, largest in found.curve]
