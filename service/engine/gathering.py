"""What the judgements of a batch need of others: asked for at once, each distinct text once."""

from collections.abc import Mapping, Sequence
from itertools import chain

from service.core.asking import Need, Told
from service.core.errors import Late, ModelUnavailable, ServiceError
from service.core.ports import Embedder, Reading
from service.engine.lanes import Steps, awaited
from service.primitives import RuleFault
from service.primitives.text import cut, quote
from service.primitives.vectors import require_one_length

Answer = Told | RuleFault | ServiceError
"""What is told, or why nothing can be: the rule's fault, no model, no time."""

_LATE = Late("The deadline passed before the model had read this (see deadline_ms)")


class Gathering:
    """Asks for one batch: the request's own vectors where it has them, else the model.

    `meanwhile` is what there is to do while others work.
    """

    def __init__(
        self,
        own: Mapping[str, Sequence[float]],
        embedder: Embedder,
        deadline: float,
        most_texts: int,
        meanwhile: Steps[None],
    ) -> None:
        self._own = own
        self._embedder = embedder
        self._deadline = deadline
        self._most_texts = most_texts
        self._meanwhile = meanwhile

    def answers(self, needs: Sequence[Need]) -> Steps[list[Answer]]:
        """An answer for each need, in their order."""
        asked = _Asked(needs, self._own, self._most_texts)
        vectors, readings, missing = yield from self._embedded(list(asked.texts))
        counts = yield from self._counted([need.counts for need in needs])
        model = self._embedder.model.id if vectors or (isinstance(counts, dict) and counts) else None
        told = Told(vectors, readings, {} if isinstance(counts, ServiceError) else counts, model)
        return [
            asked.faults.get(place)
            or _first_missing(need, missing, counts)
            or (Told(vectors=self._own) if asked.is_own(need) else told)
            for place, need in enumerate(needs)
        ]

    def _embedded(
        self, texts: list[str]
    ) -> Steps[tuple[dict[str, Sequence[float]], dict[str, Reading], dict[str, ServiceError]]]:
        """Vectors and readings of the texts that have some, and what is told of the others."""
        if not texts:
            return {}, {}, {}
        try:
            embedded = yield from awaited(self._embedder.embed(texts, self._deadline), self._meanwhile)
        except ModelUnavailable as fault:
            return {}, {}, dict.fromkeys(texts, fault)
        missing: dict[str, ServiceError] = {texts[place]: _LATE for place in embedded.late}
        missing |= {texts[place]: fault for place, fault in embedded.faults.items()}
        made = {text: place for place, text in enumerate(texts) if text not in missing}
        vectors: dict[str, Sequence[float]] = {text: embedded.vectors[place] for text, place in made.items()}
        return vectors, {text: embedded.readings[place] for text, place in made.items()}, missing

    def _counted(self, needs: Sequence[tuple[str, ...]]) -> Steps[dict[str, int] | ServiceError]:
        texts = list(dict.fromkeys(chain.from_iterable(needs)))
        if not texts:
            return {}
        try:
            counts = yield from awaited(self._embedder.count(texts, self._deadline), self._meanwhile)
        except (ModelUnavailable, Late) as fault:
            return fault
        return dict(zip(texts, counts, strict=True))


class _Asked:
    """The texts that the model is asked for, and the needs that ask for too much or too little of it."""

    def __init__(self, needs: Sequence[Need], own: Mapping[str, Sequence[float]], most: int) -> None:
        self.texts: dict[str, None] = {}
        self.faults: dict[int, RuleFault] = {}
        self._own = own
        for place, need in enumerate(needs):
            if fault := own_fault(need.vectors, own) or self._over(need, most):
                self.faults[place] = fault
            elif not self.is_own(need):
                self.texts |= dict.fromkeys(need.vectors)

    def is_own(self, need: Need) -> bool:
        """Whether the request itself has the vectors that are needed."""
        return bool(need.vectors) and need.vectors[0] in self._own

    def _over(self, need: Need, most: int) -> RuleFault | None:
        if self.is_own(need) or len(self.texts) + len(set(need.vectors).difference(self.texts)) <= most:
            return None
        detail = f"The batch asks for the vectors of more than {most:,} distinct texts (texts at /v1/limits)"
        return RuleFault("limit_exceeded", detail)


def own_fault(texts: Sequence[str], own: Mapping[str, Sequence[float]]) -> RuleFault | None:
    """What is wrong with the request's own vectors of texts that are compared; nothing where it has none of them."""
    missing = next((text for text in texts if text not in own), None)
    given = [own[text] for text in texts if text in own]
    if not given:
        return None
    if missing is not None:
        detail = f"`vectors` has one of the texts compared but not {quote(cut(missing, 100))}: give all or none"
        return RuleFault("invalid_embedding", detail)
    try:
        require_one_length(given)
    except RuleFault as fault:
        return fault
    return None


def _first_missing(
    need: Need, missing: Mapping[str, ServiceError], counts: dict[str, int] | ServiceError
) -> ServiceError | None:
    if need.counts and isinstance(counts, ServiceError):
        return counts
    return next((missing[text] for text in need.vectors if text in missing), None)
