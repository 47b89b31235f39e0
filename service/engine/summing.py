"""Item results and the summary, added up as items finish."""

from math import fsum

import msgspec
from msgspec import Struct, field

from service.core.outcome import GRADED, STATUSES, Status, roll_up
from service.engine.batch import Evaluation, ItemResult, Summary, Tally
from service.primitives.stats import wilson


class Counts(Struct):
    """Statuses and scores met so far."""

    statuses: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    scores: list[float] = []

    def add(self, status: Status, score: float | None) -> None:
        """Count one more; only a graded one has a score."""
        self.statuses[status] += 1
        if score is not None:
            self.scores.append(score)

    def tally(self) -> Tally:
        """The counts with what follows from them."""
        graded = self.statuses["passed"] + self.statuses["failed"]
        tally = msgspec.convert(self.statuses, Tally)
        if graded:
            tally.score = fsum(self.scores) / graded
            tally.pass_rate = self.statuses["passed"] / graded
            tally.pass_rate_interval = wilson(self.statuses["passed"], graded)
        return tally


class Summing:
    """The summary of a batch in the making."""

    def __init__(self) -> None:
        self.items = Counts()
        self.evaluators: dict[str, Counts] = {}
        self.by_type: dict[tuple[str, Status], int] = {}

    def add(self, id: str, evaluations: list[Evaluation], weights: list[float], ignore_not_graded: bool) -> ItemResult:  # noqa: A002
        """The result of an item, counted."""
        for evaluation in evaluations:
            counts = self.evaluators.get(evaluation.evaluator)
            if counts is None:
                counts = self.evaluators[evaluation.evaluator] = Counts()
            counts.add(evaluation.status, evaluation.score)
            key = (evaluation.type, evaluation.status)
            self.by_type[key] = self.by_type.get(key, 0) + 1
        status = roll_up({evaluation.status for evaluation in evaluations}, ignore_not_graded=ignore_not_graded)
        score = _weighted_mean(evaluations, weights)
        self.items.add(status, score if status in GRADED else None)
        return ItemResult(id, status, score, evaluations)

    def summary(self, computed: int, deduplicated: int) -> Summary:
        """The batch in numbers."""
        tallies = {name: counts.tally() for name, counts in self.evaluators.items()}
        own = self.items.tally()
        return Summary(
            **{name: getattr(own, name) for name in Tally.__struct_fields__},
            items=sum(self.items.statuses.values()),
            evaluators=tallies,
            evaluations=sum(self.by_type.values()),
            computed=computed,
            deduplicated=deduplicated,
        )


def _weighted_mean(evaluations: list[Evaluation], weights: list[float]) -> float | None:
    """Over the graded evaluations; None where none was graded."""
    graded = [(one.score, weight) for one, weight in zip(evaluations, weights, strict=True) if one.score is not None]
    if not graded:
        return None
    total = fsum([weight for _, weight in graded])
    return min(1.0, fsum([score * weight for score, weight in graded]) / total)
