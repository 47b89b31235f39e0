"""POST /v1/suites from a decoded suite to the bytes of its answer, in steps."""

from collections.abc import Mapping, Sequence
from itertools import islice
from time import perf_counter

from msgspec import UNSET

from service.config import Limits
from service.core.counts import Counts
from service.core.errors import MAX_FAULTS, Invalid
from service.core.judging import JudgeInfo
from service.engine.batch import Batch, Item
from service.engine.consulting import Consulting
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.run import Outside, Run
from service.engine.suites.admission import admit, misnamed, refuse_many
from service.engine.suites.cautions import cautions
from service.engine.suites.comparing import comparing
from service.engine.suites.drawing import drawn
from service.engine.suites.encoding import encoded
from service.engine.suites.grading import Tries, grading
from service.engine.suites.results import Comparison, RunResult, SuiteResults, SuiteSummary, VersionResult
from service.engine.suites.runs import case_ids, read_runs
from service.engine.suites.scoring import case_result, suite_score
from service.engine.suites.unread import unread
from service.engine.suites.verdict import conditions_of, passes
from service.engine.suites.wire import Suite, Version
from service.engine.writing import Answered, Writing, account

CASES_AT_ONCE = 100

ADVICE = "send fewer runs at once, or leave out `echo: full`"


def answering(
    suite: Suite, limits: Limits, outside: Outside, arrived: float, body_bytes: int, replaced: int
) -> Steps[Answered]:
    """Grade and compare; Invalid if the suite is over a limit or makes no sense, TooLarge if its answer is."""
    refuse_many(suite, limits)
    faults = list(islice(misnamed(suite), MAX_FAULTS))
    sent = yield from read_runs(suite, faults)
    names = _names(suite)
    faults += yield from admit(suite, sent, names, outside.judges.known, limits, body_bytes)
    if faults:
        raise Invalid(faults[:MAX_FAULTS])
    deadline = arrived + (suite.deadline_ms or limits.deadline_ms) / 1000
    consulting = outside.consulting(deadline, limits)
    written = yield from drawn(suite, consulting, outside.judges.known, limits)
    tries: Tries = [written.get(place, runs) for place, runs in enumerate(sent)]
    graded, run = yield from grading(
        suite, tries, lambda batch: Run(batch, names, limits, deadline), outside.embedder, consulting
    )
    counts = None if run is None else run.counts()
    versions = []
    for version, of_version, runs in zip(suite.versions, graded, sent, strict=True):
        one = yield from _version(suite, version, of_version, outside.judges.known)
        one.warnings += unread(suite, runs, names)
        versions.append(one)
    answer = SuiteResults(
        name=suite.name,
        passed=_passed(suite, versions),
        versions=versions,
        comparisons=(yield from _comparisons(suite, versions)),
        summary=_summary(tries, counts, consulting, replaced),
    )
    body = yield from encoded(
        answer, Writing(limits.response_bytes, ADVICE), measured=suite.echo == "full" or consulting.hands_out_prompts
    )
    facts = {"runs": answer.summary.runs, "evaluations": answer.summary.evaluations}
    return Answered(body, counts, facts, perf_counter() - arrived)


def _names(suite: Suite) -> Names:
    """The names of all graders."""
    items = [Item(evaluators=case.graders) for case in suite.cases]
    return Names(Batch(items=items, evaluators=suite.graders))


def _version(
    suite: Suite, version: Version, graded: Sequence[list[RunResult]], judges: Mapping[str, JudgeInfo]
) -> Steps[VersionResult]:
    cases = []
    for place, (name, runs) in enumerate(zip(case_ids(suite.cases), graded, strict=True)):
        cases.append(case_result(name, runs, suite.case_threshold))
        if place % CASES_AT_ONCE == 0:
            yield None
    warnings = yield from cautions(suite, version, cases)
    score = suite_score(cases)
    yield None
    conditions = conditions_of(suite, score)
    return VersionResult(
        version=version.version,
        model=version.model or _writer(suite, version, judges),
        sampling=version.sampling,
        passed=passes(score, conditions),
        score=score,
        conditions=conditions,
        warnings=warnings,
        cases=cases,
    )


def _writer(suite: Suite, version: Version, judges: Mapping[str, JudgeInfo]) -> str | None:
    """The model that wrote the outputs, if they were generated."""
    return None if suite.generate is None or version.prompt is UNSET else judges[suite.generate.judge].model


def _baseline(suite: Suite) -> str:
    return suite.baseline or suite.versions[0].version


def _passed(suite: Suite, versions: Sequence[VersionResult]) -> bool:
    candidates = [one for one in versions if one.version != _baseline(suite)]
    return all(one.passed for one in candidates or versions)


def _comparisons(suite: Suite, versions: Sequence[VersionResult]) -> Steps[list[Comparison]]:
    """Every other version against the baseline."""
    (baseline,) = (one for one in versions if one.version == _baseline(suite))
    found: list[Comparison] = []
    for one in versions:
        if one is not baseline:
            found += [(yield from comparing(suite, (baseline.version, one.version), baseline.cases, one.cases))]
    return found


def _summary(tries: Tries, counts: Counts | None, consulting: Consulting, replaced: int) -> SuiteSummary:
    """What it took."""
    summary = SuiteSummary(runs=sum(len(of_case) for of_version in tries for of_case in of_version))
    account(summary, counts, consulting, replaced)
    return summary
