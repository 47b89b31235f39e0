"""All queries in numbers."""

from service.engine.batch import Notice, Work
from service.engine.stability.compliance import mean
from service.engine.stability.results import Interaction, Session, StandardErrors
from service.engine.stability.vectors import Vectors
from service.engine.stability.wire import PromptMetrics
from service.primitives.stats import standard_error

MEANS = ("csr", "stability", "rss", "icr", "jq", "pair_agreement")


class Totals:
    """The numbers of the queries, added up as they come."""

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._values: dict[str, list[float]] = {name: [] for name in MEANS}

    def add(self, one: Interaction) -> None:
        """Count a query."""
        self._counts.append(one.k)
        for name, values in self._values.items():
            value = getattr(one, name)
            if value is not None:
                values.append(value)

    def session(self, request: PromptMetrics, vectors: Vectors, warnings: list[Notice], summary: Work) -> Session:
        """What they come to."""
        distinct = set(self._counts)
        return Session(
            session_id=request.session_id,
            assistant_id=request.assistant_id,
            language=request.language,
            seed_prompt=request.seed_prompt,
            k=distinct.pop() if len(distinct) == 1 else None,
            tau=request.tau,
            recommended_tau=vectors.recommended_tau,
            linkage=request.linkage,
            model=vectors.model,
            statistical_mode=request.statistical_mode,
            **{name: mean(values) for name, values in self._values.items()},
            standard_errors=StandardErrors(**{name: standard_error(values) for name, values in self._values.items()}),
            n_queries=len(self._counts),
            warnings=warnings,
            summary=summary,
        )
