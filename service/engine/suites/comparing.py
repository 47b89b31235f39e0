"""One version held against another, case by case and as a whole."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, get_args

from service.core.assess import TOLERANCE
from service.engine.lanes import Steps
from service.engine.suites.evidence import evidence
from service.engine.suites.results import CaseChange, CaseResult, Change, Comparison, Tests
from service.engine.suites.scoring import graded_scores, reaches
from service.engine.suites.testing import moved, run_test, score_test, test_cases, verdict_test, worse
from service.engine.suites.wire import Suite
from service.primitives.stats import Row, Table, min_cases, min_repeats

CASES_AT_ONCE = 64

_CHANGES: tuple[Change, ...] = get_args(Change)


class _Pair(NamedTuple):
    """A case under the baseline and under the candidate."""

    before: CaseResult
    after: CaseResult

    @property
    def change(self) -> Change:
        """What became of it."""
        before, after = self.before.status, self.after.status
        if before != after and "missing" in (before, after):
            return "missing" if after == "missing" else "new"
        if self.delta is None:
            return "not_comparable"
        if before == after:
            return "unchanged"
        return "improved" if after == "passed" else "regressed"

    @property
    def delta(self) -> float | None:
        """How far its score has risen; what floating point loses is no rise."""
        if self.before.score is None or self.after.score is None:
            return None
        delta = self.after.score - self.before.score
        return delta if abs(delta) > TOLERANCE else 0.0

    def row(self) -> CaseChange:
        """The case as it is shown, untested."""
        return CaseChange(
            id=self.before.id,
            change=self.change,
            delta=self.delta,
            baseline_score=self.before.score,
            candidate_score=self.after.score,
            baseline_unstable=self.before.unstable,
            candidate_unstable=self.after.unstable,
            evidence=evidence(self.after.runs) if (self.delta or 0) < 0 else None,
        )


def comparing(
    suite: Suite, names: tuple[str, str], before: Sequence[CaseResult], after: Sequence[CaseResult]
) -> Steps[Comparison]:
    """The candidate, second, against the baseline; both have the cases of the suite in its order."""
    pairs = [_Pair(one, other) for one, other in zip(before, after, strict=True)]
    rows, tables = yield from _tabled(pairs, suite.case_threshold)
    yield from test_cases(tables, rows, suite.alpha)
    counts = Counter(row.change for row in rows)
    deltas = [row.delta for row in rows if row.delta is not None]
    scores = yield from score_test(deltas, suite.alpha)
    runs = yield from run_test(list(tables.values()), suite.alpha)
    drops, gains = moved(rows, tables)
    tests = Tests(
        alpha=suite.alpha,
        worse=worse(drops, tables, rows, scores, runs),
        runs=runs,
        scores=scores,
        verdicts=verdict_test(counts["regressed"], counts["improved"], len(deltas), suite.alpha),
        significant_drops=drops,
        significant_gains=gains,
        min_repeats=min_repeats(suite.alpha, len(deltas)),
        min_cases=min_cases(suite.alpha),
    )
    named = {change: counts[change] for change in _CHANGES}
    return Comparison(baseline=names[0], candidate=names[1], counts=named, significance=tests, cases=rows)


def _tabled(pairs: Sequence[_Pair], threshold: float) -> Steps[tuple[list[CaseChange], dict[int, Table]]]:
    """The row of each pair, and of those graded under both by their place the passing and failing runs."""
    rows: list[CaseChange] = []
    tables: dict[int, Table] = {}
    for place, pair in enumerate(pairs):
        rows.append(pair.row())
        if pair.delta is not None:
            tables[place] = _row(pair.before, threshold), _row(pair.after, threshold)
        if place % CASES_AT_ONCE == 0:
            yield None
    return rows, tables


def _row(case: CaseResult, threshold: float) -> Row:
    passing = [reaches(score, threshold) for score in graded_scores(case.runs)]
    return sum(passing), len(passing) - sum(passing)
