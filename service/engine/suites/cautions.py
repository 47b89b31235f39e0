"""What to know before the numbers of a version are believed."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from service.engine.batch import Notice
from service.engine.lanes import Steps
from service.engine.suites.drawing import settings_of
from service.engine.suites.results import CaseResult
from service.engine.suites.runs import is_plain_object
from service.engine.suites.ungraded import lapses, of_lapses
from service.engine.suites.wire import Sampling, Suite, Version

_LEFT_OUT = {"not_graded": "not graded in any run", "missing": "without runs"}


def cautions(suite: Suite, version: Version, cases: Sequence[CaseResult]) -> Steps[list[Notice]]:
    """The warnings of a version."""
    found = yield from lapses(cases)
    return [
        *_of_drawing(suite, version, cases),
        *_of_cases_left_out(cases),
        *of_lapses(found),
        *_of_runs(cases),
        *_of_objects(suite, version, cases),
    ]


def _of_runs(cases: Sequence[CaseResult]) -> Iterator[Notice]:
    if unpaid := sum(run.reason == "budget_exceeded" for case in cases for run in case.runs):
        yield Notice(
            "budget_exceeded", f"{unpaid} runs were not made or graded: this request may ask no more of judges"
        )
    if partly := [case.id for case in cases if case.graded_runs and case.not_graded_runs]:
        told = f"{_count(partly)} scored by some of the runs only, first {partly[0]!r}"
        yield Notice("partly_graded", told)
    if torn := [case.id for case in cases if case.status == "passed" and _all_failed_somewhere(case)]:
        told = f"{_count(torn)} passed by the mean although a grader failed every run of it, first {torn[0]!r}"
        yield Notice("graders_disagree", f"{told}: see `combine`")


def _of_objects(suite: Suite, version: Version, cases: Sequence[CaseResult]) -> Iterator[Notice]:
    """Of texts that were sent inside of objects."""
    if version.outputs is UNSET:
        return
    misread = [
        found.id
        for case, found in zip(suite.cases, cases, strict=True)
        if isinstance(case.expected, str)
        and found.status == "failed"
        and not found.unstable
        and all(map(is_plain_object, version.outputs[found.id]))
        and not any(rule.path for rule in (*suite.graders, *case.graders))
    ]
    if misread:
        told = f"{_count(misread)} failed by runs that are all objects while `expected` is a text, first {misread[0]!r}"
        yield Notice("objects_for_text", f"{told}: they are judged as JSON; send the text, or give graders a `path`")


def _of_cases_left_out(cases: Sequence[CaseResult]) -> Iterator[Notice]:
    if all(case.score is None for case in cases):
        yield Notice("nothing_graded", "No run of this version was graded, so that it does not pass")
        return
    for status, what in _LEFT_OUT.items():
        if left := [case.id for case in cases if case.status == status]:
            told = f"{_count(left)} {what}, first {left[0]!r}: it counts neither way (see fail_on_not_graded)"
            yield Notice(f"cases_{status}", told)


def _of_drawing(suite: Suite, version: Version, cases: Sequence[CaseResult]) -> Iterator[Notice]:
    if version.prompt is UNSET or suite.generate is None:
        return
    if "{{input}}" in version.prompt:
        told = "`{{input}}` keeps a pair of its braces: only `{input}` is replaced, and there are no other variables"
        yield Notice("doubled_braces", told)
    if settings_of(version, suite.generate)[0] == 0:
        yield Notice("temperature_zero", "At temperature 0 repeats say little about how stable a prompt is")
    own = version.sampling or Sampling()
    if any(one is not None for one in (own.top_p, own.top_k, own.seed)):
        yield Notice("sampling_not_sent", "top_p, top_k and seed are given back but not sent to the judge")
    cut = sum(run.truncated is True for case in cases for run in case.runs)
    if cut:
        yield Notice("truncated_outputs", f"{cut} outputs were cut at their length")


def _count(cases: Sequence[str]) -> str:
    return "1 case was" if len(cases) == 1 else f"{len(cases)} cases were"


def _all_failed_somewhere(case: CaseResult) -> bool:
    """Whether every graded run has an evaluation that failed."""
    graded = [run for run in case.runs if run.score is not None]
    return all(any(one.status == "failed" for one in run.evaluations) for run in graded)
