"""Vectors that the request has itself, instead of the model's."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.engine.stability.responses import Responses
from service.engine.stability.wire import Query
from service.primitives import RuleFault
from service.primitives.text import cut, quote
from service.primitives.vectors import require_one_length

Vector = Sequence[float]


class Own(NamedTuple):
    """The vectors of the responses that have a text, and of the reference if it has one."""

    rows: Sequence[Vector]
    reference: Vector | None


def has_reference(query: Query) -> bool:
    """Whether there is a reference, as a text or as a vector alone; a blank text is none."""
    if query.ground_truth_assistant is None:
        return query.reference_embedding is not None
    return bool(query.ground_truth_assistant.strip())


def embeddings_of(query: Query) -> Sequence[Vector | None] | None:
    """The `embeddings` of a query, if it has any; an empty list beside no responses is none."""
    return query.embeddings if query.embeddings or query.responses else None


def own_vectors(query: Query, responses: Responses, vectors: Mapping[str, Vector]) -> Own | None:
    """What the request has for a query, in `embeddings` or among `vectors`; None where the model is to be asked.

    Beside `embeddings` nothing is looked up among `vectors`, which may be there for a constraint and of another model.

    RuleFault invalid_embedding where it has some of them, or the reference's without theirs, and for unequal lengths.
    """
    embeddings = embeddings_of(query)
    to_be_written = not responses.all and query.reference_embedding is None
    if embeddings is None and not responses.texts and (responses.all or to_be_written):
        return None
    rows = _by_text(responses.texts, vectors) if embeddings is None else _aligned(embeddings, responses)
    reference = _reference(query, vectors)
    if rows is None and reference is None:
        return None
    if rows is None:
        raise _mixture("The reference has a vector of your own and the responses have none: give `embeddings`, too")
    require_one_length(rows if reference is None else [*rows, reference])
    return Own(rows, reference)


def looked_up(query: Query, responses: Responses) -> list[str]:
    """The texts of a query that `own_vectors` looks for among `vectors`."""
    if embeddings_of(query) is not None:
        return []
    by_text = has_reference(query) and query.reference_embedding is None
    return [*responses.texts, query.ground_truth_assistant or ""] if by_text else responses.texts


def _aligned(embeddings: Sequence[Vector | None], responses: Responses) -> list[Vector]:
    if len(embeddings) != len(responses.all):
        raise _mixture(f"`embeddings` has {len(embeddings):,} for {len(responses.all):,} responses: give one for each")
    rows = [embeddings[place] for place in responses.kept]
    present = [row for row in rows if row is not None]
    if len(present) < len(rows):
        missing = responses.kept[rows.index(None)]
        raise _mixture(f"There is no vector for the response at {missing}: give all or none")
    return present


def _by_text(texts: Sequence[str], vectors: Mapping[str, Vector]) -> list[Vector] | None:
    rows = [vectors[text] for text in texts if text in vectors]
    if rows and len(rows) < len(texts):
        missing = next(text for text in texts if text not in vectors)
        raise _mixture(f"`vectors` has some of the responses but not {quote(cut(missing, 100))}: give all or none")
    return rows or None


def _reference(query: Query, vectors: Mapping[str, Vector]) -> Vector | None:
    if not has_reference(query):
        return None
    if query.reference_embedding is not None or embeddings_of(query) is not None:
        return query.reference_embedding
    return vectors.get(query.ground_truth_assistant or "")


def _mixture(detail: str) -> RuleFault:
    return RuleFault("invalid_embedding", detail)
