"""Our clusters and statistics alone, on vectors that are arrays already."""

import numpy as np

from benchmarks.prompts.measures import Measures
from benchmarks.prompts.queries import Query, Session
from service.engine.lanes import drain
from service.primitives.clusters import components, unit_rows
from service.primitives.stats import stability


class Arrays:
    """A session, ready to be measured any number of times."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self) -> list[Measures]:
        """All that the peer measures without constraints."""
        return [_measured(query, self._session.tau) for query in self._session.queries]


def _measured(query: Query, tau: float) -> Measures:
    unit = drain(unit_rows(query.with_reference))
    rows, reference = unit[:-1], unit[-1]
    sizes = np.bincount(drain(components(rows, tau))).tolist()
    rss = float((rows @ reference).mean()) if query.reference else None
    return Measures(max(sizes) / len(rows), stability(sizes), rss, None)
