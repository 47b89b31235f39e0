"""The bytes of a suite's answer, a few runs at a time."""

from collections.abc import Sequence

from msgspec.structs import replace

from service.engine.evaluating import echoed
from service.engine.lanes import Steps
from service.engine.suites.results import Comparison, RunResult, SuiteResults, VersionResult
from service.engine.writing import Writing, encode

RUNS_AT_ONCE = 16
ROWS_AT_ONCE = 64


def encoded(answer: SuiteResults, writing: Writing, *, measured: bool) -> Steps[bytes]:
    """All of it; TooLarge as soon as it is over the limit, where `measured` before runs are encoded."""
    empty = encode(replace(answer, versions=[], comparisons=[]))
    head, tail = empty.split(b'"versions":[],"comparisons":[]')
    writing.append(head + b'"versions":[')
    for place, version in enumerate(answer.versions):
        writing.append(b"," if place else b"")
        yield from _version(version, writing, measured=measured)
    writing.append(b'],"comparisons":[')
    for place, comparison in enumerate(answer.comparisons):
        writing.append(b"," if place else b"")
        yield from _comparison(comparison, writing)
    writing.append(b"]" + tail)
    return writing.body()


def _version(version: VersionResult, writing: Writing, *, measured: bool) -> Steps[None]:
    writing.append(encode(replace(version, cases=[])).removesuffix(b"]}"))
    for position, case in enumerate(version.cases):
        start = encode(replace(case, runs=[])).removesuffix(b"]}")
        writing.append((b"," if position else b"") + start)
        yield from _runs(case.runs, writing, measured=measured)
        writing.append(b"]}")
    writing.append(b"]}")


def _runs(runs: Sequence[RunResult], writing: Writing, *, measured: bool) -> Steps[None]:
    for start in range(0, len(runs), RUNS_AT_ONCE):
        some = runs[start : start + RUNS_AT_ONCE]
        if measured:
            writing.refuse_large(part for run in some for part in echoed(run.evaluations))
        writing.add(some)
        yield None


def _comparison(comparison: Comparison, writing: Writing) -> Steps[None]:
    writing.append(encode(replace(comparison, cases=[])).removesuffix(b"]}"))
    for start in range(0, len(comparison.cases), ROWS_AT_ONCE):
        writing.add(comparison.cases[start : start + ROWS_AT_ONCE])
        yield None
    writing.append(b"]}")
