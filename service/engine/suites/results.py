"""What /v1/suites answers."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from service.core.outcome import Evaluation, Score, Status
from service.engine.batch import Notice, Work
from service.engine.suites.wire import Metric, Operator, Sampling

EXPLANATION_CHARS = 2_000
"""Longer ones are cut, of runs that came with one and of evidence."""

Interval = Annotated[tuple[float, float], Meta(description="95 %.")]
CaseStatus = Literal["passed", "failed", "not_graded", "missing"]
Change = Literal["regressed", "improved", "unchanged", "new", "missing", "not_comparable"]


class RunResult(Struct, kw_only=True):
    """One run of a case. A graded one passes when its score reaches `case_threshold`, whatever each grader says."""

    status: Annotated[Status, Meta(description="passed or failed if graded, else as its item's.")]
    score: Annotated[Score | None, Meta(description="Null unless graded.")]
    reason: Annotated[str | None, Meta(description="Why it was not graded.")] = None
    explanation: Annotated[str | None, Meta(description="The same in a sentence; or what came with a score.")] = None
    output: Annotated[Any, Meta(description="What was generated; what was sent is not repeated.")] = UNSET
    truncated: Annotated[bool | UnsetType, Meta(description="true: the generated output was cut at its length.")] = (
        UNSET
    )
    evaluations: list[Evaluation] = []


class CaseResult(Struct, kw_only=True):
    """A case under one version."""

    id: str
    status: CaseStatus
    score: Annotated[Score | None, Meta(description="Mean of its graded runs.")]
    score_interval: Annotated[Interval | None, Meta(description="Wilson, over its runs.")]
    spread: Annotated[float | None, Meta(description="The largest score less the smallest.")]
    standard_deviation: Annotated[float | None, Meta(description="Null under two graded runs.")]
    unstable: Annotated[bool, Meta(description="Some of its runs pass and others do not.")]
    flaky_posterior: Annotated[
        float | None,
        Meta(description="How likely its pass rate lies between 0.05 and 0.95 (uniform prior); null under two runs."),
    ]
    graded_runs: int
    not_graded_runs: int
    pass_at_k: Annotated[list[float], Meta(description="For k = 1, 2, ... 10: one of k runs passes, or more do.")]
    pass_hat_k: Annotated[list[float], Meta(description="For k = 1, 2, ... 10: all of k runs pass.")]
    repeats_to_decide: Annotated[
        int | None,
        Meta(description="Runs after which score_interval excludes case_threshold, if the score stays as it is."),
    ]
    runs: list[RunResult] = []


class SuiteScore(Struct, kw_only=True):
    """A version in numbers. Cases that were not graded count neither way."""

    score: Annotated[Score | None, Meta(description="Mean over the graded cases.")]
    pass_rate: Annotated[Score | None, Meta(description="passed / (passed + failed).")]
    total: Annotated[int, Meta(description="Cases with outputs: passed + failed + not_graded.")]
    passed: int
    failed: int
    not_graded: int
    missing: Annotated[int, Meta(description="Cases without outputs.")]
    score_interval: Annotated[Interval | None, Meta(description="Other cases like these: Wilson.")]
    pass_rate_interval: Annotated[Interval | None, Meta(description="Other cases like these: Wilson.")]
    repeat_interval: Annotated[
        Interval | None, Meta(description="The score if these same cases were run again; null without repeats.")
    ]
    pass_at_k: Annotated[list[float], Meta(description="Mean over graded cases, as far as all have k graded runs.")]
    pass_hat_k: Annotated[list[float], Meta(description="Mean over graded cases, as far as all have k graded runs.")]


class ConditionResult(Struct, kw_only=True):
    """What became of a condition: of pass_when, or of the default rule; and of fail_on_not_graded."""

    metric: Metric
    operator: Operator
    value: float
    actual: float | None
    holds: bool
    straddles: Annotated[
        bool | None, Meta(description="The metric's interval contains the bound: other cases may turn the verdict.")
    ]
    straddles_repeats: Annotated[
        bool | None, Meta(description="repeat_interval contains it: the same cases, run again, may turn the verdict.")
    ]


class VersionResult(Struct, kw_only=True):
    """A version: its verdict, its numbers, its cases in the order of the suite."""

    version: str
    model: Annotated[str | None, Meta(description="As it was sent; else the judge's that generated.")]
    sampling: Sampling | None
    passed: bool
    score: SuiteScore
    conditions: list[ConditionResult]
    warnings: list[Notice]
    cases: list[CaseResult] = []


class Evidence(Struct):
    """The run with the least score, the first of equals, and what is told of it by the grader that failed it."""

    run: Annotated[int, Meta(description="Its place among the candidate's runs of the case, from 0.")]
    evaluator: Annotated[str | None, Meta(description="The grader; null of a run that came with a score.")]
    explanation: Annotated[str | None, Meta(description="The grader's, or what came with the score.")]


class CaseChange(Struct, kw_only=True):
    """A case under the baseline and under the candidate. p compares their passing runs (Fisher, two-sided)."""

    id: str
    change: Change
    delta: Annotated[float | None, Meta(description="The candidate's score less the baseline's.")]
    baseline_score: Score | None
    candidate_score: Score | None
    baseline_unstable: bool
    candidate_unstable: bool
    evidence: Annotated[Evidence | None, Meta(description="Why the score fell; null where it did not.")] = None
    p: float | None = None
    p_adjusted: Annotated[float | None, Meta(description="Holm, over the cases compared.")] = None
    min_p: Annotated[float | None, Meta(description="The least p that so many runs could have given.")] = None
    min_p_adjusted: Annotated[
        float | None, Meta(description="The p_adjusted that min_p would give, the other cases as they are.")
    ] = None
    significant: Annotated[
        bool | None, Meta(description="p_adjusted <= alpha; null where nothing was tested or underpowered.")
    ] = None
    underpowered: Annotated[
        bool | None, Meta(description="min_p_adjusted > alpha: no outcome of so many runs could have been significant.")
    ] = None


class Significance(Struct, kw_only=True):
    """A test of the candidate against the baseline over all cases that both have graded.

    Not significant means that there is no evidence of a difference, not that there is none.
    """

    cases: Annotated[int, Meta(description="Cases compared.")]
    p: float
    min_p: Annotated[
        float,
        Meta(description="The least p that the test could have given: of so many cases, and where flips are drawn."),
    ]
    significant: Annotated[bool | None, Meta(description="p <= alpha; null where min_p > alpha.")]
    underpowered: Annotated[bool, Meta(description="min_p > alpha: no outcome could have been significant.")]


class ScoreTest(Significance, kw_only=True):
    """Whether the scores moved: sign-flip test on the deltas of the cases, two-sided."""

    moved: Annotated[int, Meta(description="Cases with a delta other than 0: only they can speak.")]
    delta: Annotated[float | None, Meta(description="Mean of the deltas.")]
    standard_error: Annotated[float | None, Meta(description="Of that mean; null under two cases.")]
    interval: Annotated[
        tuple[float, float] | None,
        Meta(description="Of the delta, 95 % by Student's t; null where all are equal."),
    ]


class RunTest(Significance, kw_only=True):
    """Whether these same cases, run again, would differ: passing runs compared within each case, all cases together.

    The exact conditional test of Mantel and Haenszel, two-sided.
    """

    surplus: Annotated[
        float,
        Meta(description="So many more of the candidate's runs pass than if the versions were alike; negative: fewer."),
    ]


class VerdictTest(Significance, kw_only=True):
    """Whether the verdicts moved one way: exact McNemar test, two-sided."""

    regressed: int
    improved: int


class Tests(Struct):
    """All tests at the level alpha."""

    alpha: float
    worse: Annotated[
        bool | None,
        Meta(
            description="What to gate on: fewer runs pass, all together or in a single case, or the scores as a whole "
            "fell, significantly. false: no evidence of it; null: none of these tests could have been significant. "
            "Scores are left out where a case has other numbers of runs in the two versions."
        ),
    ]
    runs: RunTest
    scores: ScoreTest
    verdicts: VerdictTest
    significant_drops: Annotated[int, Meta(description="Cases of which significantly fewer runs pass.")]
    significant_gains: Annotated[int, Meta(description="Cases of which significantly more runs pass.")]
    min_repeats: Annotated[
        int,
        Meta(
            description="With fewer runs a case, in either version, not even one that falls from all passing to none "
            "is significant by itself. A lesser fall takes several times as many."
        ),
    ]
    min_cases: Annotated[
        int, Meta(description="With fewer cases not even scores, or verdicts, that all fall are significant.")
    ]


class Comparison(Struct, kw_only=True):
    """The candidate against the baseline."""

    baseline: str
    candidate: str
    counts: Annotated[dict[Change, int], Meta(description="Cases by what became of them.")]
    significance: Tests
    cases: list[CaseChange] = []


class SuiteSummary(Work, kw_only=True):
    """What the suite took."""

    runs: int


class SuiteResults(Struct, kw_only=True):
    """The answer to a suite."""

    name: str
    passed: Annotated[bool, Meta(description="All versions but the baseline pass; if there is but one, it does.")]
    versions: list[VersionResult]
    comparisons: Annotated[list[Comparison], Meta(description="Every other version against the baseline.")]
    summary: SuiteSummary
