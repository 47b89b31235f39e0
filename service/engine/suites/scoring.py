"""The numbers of a case and of a version."""

from collections import Counter
from collections.abc import Sequence
from math import fsum

from service.core.assess import TOLERANCE
from service.engine.suites.results import CaseResult, CaseStatus, RunResult, SuiteScore
from service.primitives.stats import (
    deviation,
    flaky,
    pass_at,
    pass_hat,
    repeat_interval,
    repeats_to_decide,
    wilson,
)

MAX_K = 10


def reaches(score: float, threshold: float) -> bool:
    """Whether a score is at the threshold, give or take what floating point loses."""
    return score >= threshold - TOLERANCE


def graded_scores(runs: Sequence[RunResult]) -> list[float]:
    """The scores of the runs that have one."""
    return [run.score for run in runs if run.score is not None]


def case_result(name: str, runs: list[RunResult], threshold: float) -> CaseResult:
    """A case from its runs."""
    scores = graded_scores(runs)
    passes, count = sum(reaches(score, threshold) for score in scores), len(scores)
    score = fsum(scores) / count if scores else None
    ks = range(1, min(count, MAX_K) + 1)
    return CaseResult(
        id=name,
        status=_status(runs, score, threshold),
        score=score,
        score_interval=None if score is None else wilson(score * count, count),
        spread=max(scores) - min(scores) if scores else None,
        standard_deviation=deviation(scores),
        unstable=0 < passes < count,
        flaky_posterior=flaky(passes, count) if count > 1 else None,
        graded_runs=count,
        not_graded_runs=len(runs) - count,
        pass_at_k=[pass_at(count, passes, k) for k in ks],
        pass_hat_k=[pass_hat(count, passes, k) for k in ks],
        repeats_to_decide=None if score is None else repeats_to_decide(score, threshold),
        runs=runs,
    )


def suite_score(cases: Sequence[CaseResult]) -> SuiteScore:
    """A version from its cases."""
    counts = Counter(case.status for case in cases)
    graded = [case for case in cases if case.score is not None]
    score = fsum(case.score for case in graded if case.score is not None) / len(graded) if graded else None
    passed, failed = counts["passed"], counts["failed"]
    return SuiteScore(
        score=score,
        pass_rate=passed / len(graded) if graded else None,
        total=len(cases) - counts["missing"],
        passed=passed,
        failed=failed,
        not_graded=counts["not_graded"],
        missing=counts["missing"],
        score_interval=None if score is None else wilson(score * len(graded), len(graded)),
        pass_rate_interval=wilson(passed, len(graded)) if graded else None,
        repeat_interval=repeat_interval([graded_scores(case.runs) for case in graded]),
        pass_at_k=_means([case.pass_at_k for case in graded]),
        pass_hat_k=_means([case.pass_hat_k for case in graded]),
    )


def _status(runs: Sequence[RunResult], score: float | None, threshold: float) -> CaseStatus:
    if not runs:
        return "missing"
    if score is None:
        return "not_graded"
    return "passed" if reaches(score, threshold) else "failed"


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """The means of columns, as far as all rows have them."""
    return [fsum(column) / len(column) for column in zip(*rows, strict=False)]
