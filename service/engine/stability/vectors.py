"""The vectors of the responses and of the reference: the request's own, else the model's."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.core.errors import Late, ModelUnavailable, ServiceError
from service.core.ports import Embedded, Embedder
from service.engine.gathering import LATE, promised
from service.engine.lanes import Steps, all_awaited
from service.engine.stability.own import Own, has_reference, looked_up, own_vectors
from service.engine.stability.responses import Responses
from service.engine.stability.wire import PromptMetrics, Query
from service.primitives.vectors import stacked

Rows = NDArray[np.floating[Any]]


class Found(NamedTuple):
    """The vectors of one query, or why there are none; and how many of its responses the model read in part."""

    rows: Rows | None = None
    reference: Rows | None = None
    fault: ServiceError | None = None
    reference_fault: ServiceError | None = None
    truncated: int = 0


class Vectors:
    """The vectors of all queries, once `make` has ended."""

    def __init__(self, request: PromptMetrics, responses: Sequence[Responses]) -> None:
        self._request = request
        self._responses = responses
        self._own: list[Own | None] = []
        self._unread = dict.fromkeys(request.vectors)
        self._model = _Model()

    @property
    def model(self) -> str | None:
        """Who made vectors; None where nobody had to, or could."""
        return self._model.id

    @property
    def recommended_tau(self) -> float | None:
        """What suits that model, if anybody says."""
        return self._model.tau

    @property
    def unread(self) -> list[str]:
        """Texts among `vectors` that are none of the responses and references that are looked up there."""
        return list(self._unread)

    def make(self, embedder: Embedder, deadline: float, meanwhile: Steps[None]) -> Steps[None]:
        """Have the model make those that the request has not, all at once, with something to do meanwhile."""
        texts = list((yield from self._sort()))
        if not texts:
            yield from meanwhile
            return
        future = promised(lambda: embedder.embed(texts, deadline))
        yield from all_awaited([future], meanwhile)
        self._model = _made(embedder, texts, future)

    def of(self, place: int) -> Steps[Found]:
        """Those of one query."""
        own, texts = self._own[place], self._responses[place].texts
        if not texts:
            return Found()
        if own is None:
            return self._model.found(texts, reference_of(self._request.queries[place]))
        rows = yield from stacked(own.rows)
        return Found(rows, None if own.reference is None else np.array(own.reference))

    def _sort(self) -> Steps[dict[str, None]]:
        """Find out what the request has itself; the distinct texts of the rest."""
        texts: dict[str, None] = {}
        for query, responses in zip(self._request.queries, self._responses, strict=True):
            own = None if responses.written else own_vectors(query, responses, self._request.vectors)
            if own is None:
                texts |= dict.fromkeys(texts_of(query, responses))
            else:
                for text in looked_up(query, responses):
                    self._unread.pop(text, None)
            self._own.append(own)
            yield None
        return texts


class _Model(NamedTuple):
    """What the model made of texts, or why there is nothing."""

    places: Mapping[str, int] = {}
    embedded: Embedded | ServiceError = LATE
    id: str | None = None
    tau: float | None = None

    def found(self, texts: Sequence[str], reference: str | None) -> Found:
        """The vectors of one query."""
        if isinstance(self.embedded, ServiceError):
            return Found(fault=self.embedded)
        places = [self.places[text] for text in texts]
        if fault := _fault(self.embedded, places):
            return Found(fault=fault)
        rows = self.embedded.vectors[places]
        truncated = sum(self.embedded.readings[place].is_truncated for place in places)
        if reference is None:
            return Found(rows, truncated=truncated)
        at = self.places[reference]
        if fault := _fault(self.embedded, [at]):
            return Found(rows, reference_fault=fault, truncated=truncated)
        return Found(rows, self.embedded.vectors[at], truncated=truncated)


def texts_of(query: Query, responses: Responses) -> list[str]:
    """The texts of a query that the model is asked for; the reference alone is of no use."""
    reference = reference_of(query) if responses.kept else None
    return responses.texts if reference is None else [*responses.texts, reference]


def reference_of(query: Query) -> str | None:
    """The text of the reference, if there is one that says something."""
    return query.ground_truth_assistant if has_reference(query) else None


def _made(embedder: Embedder, texts: Sequence[str], future: Future[Embedded]) -> _Model:
    try:
        embedded = future.result()
    except (ModelUnavailable, Late) as fault:
        return _Model(embedded=fault)
    model = embedder.model
    return _Model({text: place for place, text in enumerate(texts)}, embedded, model.id, model.tau)


def _fault(embedded: Embedded, places: Sequence[int]) -> ServiceError | None:
    """Why one of these texts has no vector; None if all have."""
    fault = next((embedded.faults[place] for place in places if place in embedded.faults), None)
    return fault or (LATE if embedded.late.intersection(places) else None)
