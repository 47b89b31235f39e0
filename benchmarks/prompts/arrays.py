"""What POST /v1/prompt-metrics tells of vectors, when they are arrays already and nothing is checked."""

from collections.abc import Sequence
from math import inf

import msgspec
import numpy as np

from benchmarks.prompts.measures import Measures
from benchmarks.prompts.ours import CONSTRAINTS
from benchmarks.prompts.queries import Query, Session
from service.catalogue import Rule
from service.config import Limits
from service.engine.batch import Batch, Sample
from service.engine.lanes import drain
from service.engine.naming import Names
from service.engine.screening import Column, Screening
from service.engine.stability.grouping import group
from service.engine.stability.results import Interaction
from service.engine.stability.vectors import Found
from service.engine.stability.wire import PromptMetrics
from service.primitives.clusters import components, unit_rows
from service.primitives.stats import stability


class Arrays:
    """A session, ready to be measured any number of times."""

    def __init__(self, session: Session) -> None:
        self._session = session
        sent = {"tau": session.tau, "queries": [{"responses": query.responses} for query in session.queries]}
        self._request = msgspec.convert(sent, PromptMetrics)
        self._constraints = Names(Batch(items=[], evaluators=msgspec.convert(CONSTRAINTS, list[Rule]))).shared
        self._items = [[Sample(output=text) for text in query.responses] for query in session.queries]

    def run(self) -> list[Measures]:
        """What the peer measures without constraints, and whatever else the service tells of vectors."""
        return [self._grouped(query) for query in self._session.queries]

    def run_bare(self) -> list[Measures]:
        """What the peer measures, and no more."""
        return [_measured(query, self._session.tau) for query in self._session.queries]

    def run_bare_with_icr(self) -> list[Measures]:
        """What the peer measures, constraints too, and no more."""
        screening = Screening(self._constraints, Limits(), inf)
        icrs = [_complied(drain(screening.columns(items))) for items in self._items]
        queries = self._session.queries
        return [_measured(query, self._session.tau, icr) for query, icr in zip(queries, icrs, strict=True)]

    def _grouped(self, query: Query) -> Measures:
        into = Interaction(qa_id="", k=self._session.k, failed=0, stripped=0, empty=0)
        rows, reference = query.with_reference[:-1], query.with_reference[-1]
        found = Found(rows, reference if query.reference else None)
        drain(group(into, self._request, found, range(into.k)))
        assert into.csr is not None
        assert into.stability is not None
        return Measures(into.csr, into.stability, into.rss, None)


def _measured(query: Query, tau: float, icr: float | None = None) -> Measures:
    unit = drain(unit_rows(query.with_reference))
    rows, reference = unit[:-1], unit[-1]
    sizes = np.bincount(drain(components(rows, tau))).tolist()
    rss = float((rows @ reference).sum()) / len(rows) if query.reference else None
    return Measures(max(sizes) / len(rows), stability(sizes), rss, icr)


def _complied(columns: Sequence[Column]) -> float:
    return sum(column.count(True) for column in columns) / sum(map(len, columns))
