"""Item results and the summary, added up as items finish."""

from collections import Counter
from functools import cached_property
from math import fsum

import msgspec

from service.core.outcome import GRADED, Evaluation, Status, roll_up
from service.engine.batch import ItemResult, Summary, Tally
from service.primitives.stats import wilson


class Column:
    """Statuses and scores of one evaluator, or of the items, in the order they came; `counts` once all have come."""

    def __init__(self, type: str = "") -> None:  # noqa: A002
        self.type = type
        self.statuses: list[Status] = []
        self.scores: list[float] = []

    @cached_property
    def counts(self) -> Counter[Status]:
        """How many there are of each status."""
        return Counter(self.statuses)

    def tally(self) -> Tally:
        """The counts with what follows from them."""
        counts = self.counts
        tally = msgspec.convert(counts, Tally)
        graded = counts["passed"] + counts["failed"]
        if graded:
            tally.score = fsum(self.scores) / graded
            tally.pass_rate = counts["passed"] / graded
            tally.pass_rate_interval = wilson(counts["passed"], graded)
        return tally


class Summing:
    """The summary of a batch in the making."""

    def __init__(self, *, ignore_not_graded: bool) -> None:
        self.items = Column()
        self._columns: dict[tuple[str, str], Column] = {}
        self._ignore_not_graded = ignore_not_graded

    def column(self, name: str, kind: str) -> Column:
        """Where the evaluations of the rules of one name and type are counted."""
        return self._columns.setdefault((name, kind), Column(kind))

    def add(
        self,
        name: str,
        evaluations: list[Evaluation],
        present: set[Status],
        scores: list[float | None],
        weights: list[float] | None,
    ) -> ItemResult:
        """The result of an item, counted, from what its evaluations are; `weights` is None where all weigh the same."""
        status = roll_up(present, ignore_not_graded=self._ignore_not_graded)
        score = _mean(scores, weights)
        self.items.statuses.append(status)
        if score is not None and status in GRADED:
            self.items.scores.append(score)
        return ItemResult(name, status, score, evaluations)

    def summary(self, computed: int, deduplicated: int) -> Summary:
        """The batch in numbers."""
        own = self.items.tally()
        return Summary(
            **{name: getattr(own, name) for name in Tally.__struct_fields__},
            items=len(self.items.statuses),
            evaluators=self._tallies(),
            evaluations=sum(len(column.statuses) for column in self._columns.values()),
            computed=computed,
            deduplicated=deduplicated,
        )

    def count(self, *, but: Status) -> int:
        """How many evaluations there are, those of one status left out."""
        return sum(len(column.statuses) - column.counts[but] for column in self._columns.values())

    def by_type(self) -> Counter[tuple[str, Status]]:
        """How many evaluations there are of each type and status."""
        found: Counter[tuple[str, Status]] = Counter()
        for column in self._columns.values():
            for status, count in column.counts.items():
                found[column.type, status] += count
        return found

    def _tallies(self) -> dict[str, Tally]:
        """Rules of different items may share a name, though not a type."""
        merged: dict[str, Column] = {}
        for (name, _), column in self._columns.items():
            if name in merged:
                whole = Column()
                whole.statuses = merged[name].statuses + column.statuses
                whole.scores = merged[name].scores + column.scores
                merged[name] = whole
            else:
                merged[name] = column
        return {name: column.tally() for name, column in merged.items()}


def _mean(scores: list[float | None], weights: list[float] | None) -> float | None:
    """Over the scores there are; None where there is none."""
    if scores and weights is None and None not in scores:
        return fsum(scores) / len(scores)  # type: ignore[arg-type]
    pairs = zip(scores, weights or [1.0] * len(scores), strict=True)
    graded = [(score, weight) for score, weight in pairs if score is not None]
    if not graded:
        return None
    most = max(weight for _, weight in graded)
    shares = [weight / most for _, weight in graded]
    return min(1.0, fsum([score * share for (score, _), share in zip(graded, shares, strict=True)]) / fsum(shares))
