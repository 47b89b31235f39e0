"""One version held against another, case by case and as a whole."""

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import NamedTuple, get_args

from service.core.assess import TOLERANCE
from service.engine.lanes import Steps
from service.engine.suites.results import CaseChange, CaseResult, Change, Comparison, ScoreTest, Tests, VerdictTest
from service.engine.suites.scoring import graded_scores, reaches
from service.engine.suites.wire import Suite
from service.primitives.stats import (
    Test,
    cases_needed,
    fisher,
    holm,
    least_adjusted,
    mcnemar,
    mean_interval,
    repeats_needed,
    sign_flip,
    standard_error,
)

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
        )


def comparing(
    suite: Suite, names: tuple[str, str], before: Sequence[CaseResult], after: Sequence[CaseResult]
) -> Steps[Comparison]:
    """The candidate, second, against the baseline; both have the cases of the suite in its order."""
    pairs = [_Pair(one, other) for one, other in zip(before, after, strict=True)]
    rows = [pair.row() for pair in pairs]
    yield from _test_cases(suite, pairs, rows)
    counts = Counter(row.change for row in rows)
    deltas = [row.delta for row in rows if row.delta is not None]
    scores = yield from _score_test(deltas, suite.alpha)
    drops = sum(row.significant is True and (row.delta or 0) < 0 for row in rows)
    tests = Tests(
        alpha=suite.alpha,
        scores=scores,
        verdicts=_verdict_test(counts["regressed"], counts["improved"], len(deltas), suite.alpha),
        worse=drops > 0 or (scores.significant is True and (scores.delta or 0) < 0),
        significant_drops=drops,
        significant_gains=sum(row.significant is True and (row.delta or 0) > 0 for row in rows),
        repeats_needed=repeats_needed(suite.alpha, len(deltas)),
        cases_needed=cases_needed(suite.alpha),
    )
    named = {change: counts[change] for change in _CHANGES}
    return Comparison(baseline=names[0], candidate=names[1], counts=named, significance=tests, cases=rows)


def judged(test: Test, alpha: float) -> tuple[bool | None, bool]:
    """Whether a test is significant, and whether nothing could have been: then the first is None."""
    level = alpha * (1 + TOLERANCE)
    underpowered = test.min_p > level
    return None if underpowered else test.p <= level, underpowered


def _test_cases(suite: Suite, pairs: Sequence[_Pair], rows: Sequence[CaseChange]) -> Steps[None]:
    """Test each case that both have graded, and put into its row what comes of it."""
    tested: dict[int, Test] = {}
    for place, pair in enumerate(pairs):
        if pair.delta is not None:
            tested[place] = fisher(_table(pair.before, suite.case_threshold), _table(pair.after, suite.case_threshold))
        if place % CASES_AT_ONCE == 0:
            yield None
    ps, least = [test.p for test in tested.values()], [test.min_p for test in tested.values()]
    for place, adjusted in zip(tested, map(Test, holm(ps), least_adjusted(ps, least)), strict=True):
        row = rows[place]
        row.p, row.min_p = tested[place]
        row.p_adjusted, row.min_p_adjusted = adjusted
        row.significant, row.underpowered = judged(adjusted, suite.alpha)


def _table(case: CaseResult, threshold: float) -> tuple[int, int]:
    """How many of its runs pass, and how many do not."""
    passing = [reaches(score, threshold) for score in graded_scores(case.runs)]
    return sum(passing), len(passing) - sum(passing)


def _score_test(deltas: Sequence[float], alpha: float) -> Steps[ScoreTest]:
    test = yield from sign_flip(deltas)
    significant, underpowered = judged(test, alpha)
    return ScoreTest(
        cases=len(deltas),
        moved=sum(delta != 0 for delta in deltas),
        p=test.p,
        min_p=test.min_p,
        significant=significant,
        underpowered=underpowered,
        delta=fsum(deltas) / len(deltas) if deltas else None,
        standard_error=standard_error(deltas),
        interval=mean_interval(deltas),
    )


def _verdict_test(regressed: int, improved: int, cases: int, alpha: float) -> VerdictTest:
    test = mcnemar(regressed, improved, cases)
    significant, underpowered = judged(test, alpha)
    return VerdictTest(
        cases=cases,
        p=test.p,
        min_p=test.min_p,
        significant=significant,
        underpowered=underpowered,
        regressed=regressed,
        improved=improved,
    )
