"""Fair Forge's PromptEvaluator, with responses and vectors that are there already."""

from collections.abc import Iterator
from typing import Any

from fair_forge.core import Embedder, Retriever
from fair_forge.metrics.constraints import JsonConstraint, KeywordConstraint, RegexConstraint, WordCountConstraint
from fair_forge.metrics.prompt_evaluator import PromptEvaluator
from fair_forge.schemas import Batch, Dataset

from benchmarks.prompts.constraints import KEYWORD, MOST_WORDS, PATTERN
from benchmarks.prompts.measures import Measures
from benchmarks.prompts.queries import Query, Session, Vectors

CONSTRAINTS = [
    JsonConstraint(),
    WordCountConstraint(MOST_WORDS),
    KeywordConstraint(KEYWORD),
    RegexConstraint(PATTERN),
]


class Peer:
    """A session, ready to be measured any number of times."""

    def __init__(self, session: Session, *, checks: bool = True) -> None:
        """`checks`: with the constraints, else without any."""
        self._session = session
        self._constraints = CONSTRAINTS if checks else []
        self._dataset = Dataset(
            session_id="1",
            assistant_id="1",
            context="",
            conversation=[_batch(place, query) for place, query in enumerate(session.queries)],
        )

    def run(self) -> list[Measures]:
        """Measure every query."""
        texts = (text for query in self._session.queries for text in query.responses)
        [result] = PromptEvaluator.run(
            _Given,
            dataset=self._dataset,
            model=None,
            seed_prompt="",
            embedder=_Canned(query.with_reference for query in self._session.queries),
            k=self._session.k,
            tau=self._session.tau,
            constraints=self._constraints,
            executor=lambda *_: next(texts),
        )
        return [Measures(one.csr, one.stability, one.rss, one.icr) for one in result.interactions]


class _Given(Retriever):  # type: ignore[misc]
    def load_dataset(self) -> list[Any]:
        return [self.kwargs["dataset"]]


class _Canned(Embedder):  # type: ignore[misc]
    def __init__(self, vectors: Iterator[Vectors]) -> None:
        self._vectors = vectors

    def encode(self, sentences: list[str]) -> Vectors:
        return next(self._vectors)[: len(sentences)]


def _batch(place: int, query: Query) -> Any:
    return Batch(qa_id=str(place), query=query.text, assistant="", ground_truth_assistant=query.reference)
