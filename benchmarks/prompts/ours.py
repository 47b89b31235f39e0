"""POST /v1/prompt-metrics without HTTP."""

from time import perf_counter
from typing import Any, cast

import msgspec

from benchmarks.prompts.constraints import KEYWORD, MOST_WORDS, PATTERN
from benchmarks.prompts.measures import Measures
from benchmarks.prompts.queries import Query, Session
from service.api.codec import decode
from service.config import Limits
from service.core.errors import ModelUnavailable
from service.embedding.choosing import NoModel
from service.engine.lanes import drain
from service.engine.run import Outside
from service.engine.stability.answering import measuring
from service.engine.stability.wire import PromptMetrics, Vector
from service.judge.scripted import Scripted
from service.primitives.vectors import stacked

CONSTRAINTS = [
    {"type": "valid_json", "allow_scalars": True, "extract": "whole"},
    {"type": "length", "unit": "words", "max": MOST_WORDS},
    {"type": "keywords", "keywords": [KEYWORD], "whole_word": False},
    {"type": "regex", "pattern": PATTERN},
]

_LIMITS = Limits()
_OUTSIDE = Outside(NoModel(ModelUnavailable("Every vector is in the request")), Scripted([], judges=()))


class Ours:
    """A session, ready to be measured any number of times."""

    def __init__(self, session: Session) -> None:
        sent = {
            "tau": session.tau,
            "constraints": CONSTRAINTS,
            "queries": [_query(query) for query in session.queries],
        }
        self._body = msgspec.json.encode(sent)
        self._request = self._decoded()

    def run(self) -> bytes:
        """The answer to the request, which is decoded already."""
        return self._answer(self._request)

    def run_from_json(self) -> bytes:
        """The answer to the request's body."""
        return self._answer(self._decoded())

    def stack(self) -> object:
        """The least that lists of numbers take: an array of each query's."""
        return _stacked(self._request)

    def stack_from_json(self) -> object:
        """The same, and the body decoded before."""
        return _stacked(self._decoded())

    def measures(self) -> list[Measures]:
        """What the answer says."""
        answer = msgspec.json.decode(self.run())
        return [Measures(one["csr"], one["stability"], one["rss"], one["icr"]) for one in answer["interactions"]]

    def _decoded(self) -> PromptMetrics:
        return decode(self._body, PromptMetrics, _LIMITS.json_depth)[0]

    def _answer(self, request: PromptMetrics) -> bytes:
        return drain(measuring(request, _LIMITS, _OUTSIDE, perf_counter(), len(self._body), 0)).body


def _stacked(request: PromptMetrics) -> object:
    return [drain(stacked(cast("list[Vector]", query.embeddings))) for query in request.queries]


def _query(query: Query) -> dict[str, Any]:
    *vectors, reference = query.with_reference.tolist()
    sent = {"query": query.text, "responses": query.responses, "embeddings": vectors}
    if not query.reference:
        return sent
    return sent | {"ground_truth_assistant": query.reference, "reference_embedding": reference}
