"""Graders that did not judge, and what that does to the numbers of a version."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from service.core.outcome import Evaluation
from service.engine.batch import Notice
from service.engine.lanes import Steps
from service.engine.suites.results import CaseResult, RunResult
from service.primitives.text import cut

RUNS_AT_ONCE = 256

UNAVAILABLE = "judge_unavailable"


class Lapse(NamedTuple):
    """A run of which a grader did not judge; without an evaluation if there was no output to judge."""

    case: str
    run: RunResult
    evaluations: list[Evaluation]

    def told(self, evaluation: Evaluation | None = None) -> str:
        """Where it was, and why."""
        if evaluation is None:
            return f"first of case {cut(self.case, 100)!r}: {self.run.explanation}"
        where = f"first of case {cut(self.case, 100)!r}, grader {cut(evaluation.evaluator, 100)!r}"
        return f"{where}: {cut(evaluation.explanation, 500)}"


def lapses(cases: Sequence[CaseResult]) -> Steps[list[Lapse]]:
    """All runs of which a grader did not judge."""
    found: list[Lapse] = []
    seen = 0
    for case in cases:
        for run in case.runs:
            silent = [one for one in run.evaluations if one.score is None and one.status != "skipped"]
            if silent or run.reason == UNAVAILABLE:
                found.append(Lapse(case.id, run, silent))
            seen += 1
            if seen % RUNS_AT_ONCE == 0:
                yield None
    return found


def of_lapses(found: Sequence[Lapse]) -> Iterator[Notice]:
    """The warnings of them."""
    yield from _unavailable(found)
    yield from _in_error(found)
    if beside := [one for one in found if one.run.score is not None]:
        told = (
            f"{_count(beside)} counted as failed although a grader did not judge: another had failed it. A run that "
            "passes there is not counted, so that the score may be too low"
        )
        yield Notice("failed_beside_ungraded", f"{told}; {beside[0].told(beside[0].evaluations[0])}")


def _unavailable(found: Sequence[Lapse]) -> Iterator[Notice]:
    left = [(one, [by for by in one.evaluations if by.reason == UNAVAILABLE]) for one in found]
    left = [(one, by) for one, by in left if by or one.run.reason == UNAVAILABLE]
    if left:
        (first, by) = left[0]
        told = first.told(by[0] if by else None)
        yield Notice(UNAVAILABLE, f"{_count(left)} left without a judge, {told}")


def _in_error(found: Sequence[Lapse]) -> Iterator[Notice]:
    left = [(one, by) for one in found if (by := next((by for by in one.evaluations if by.status == "error"), None))]
    if left:
        first, by = left[0]
        yield Notice("graders_in_error", f"{_count(left)} met by a grader in error, {first.told(by)}")


def _count(runs: Sequence[object]) -> str:
    return "1 run was" if len(runs) == 1 else f"{len(runs):,} runs were"
