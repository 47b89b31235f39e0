"""What came with a suite and is read by nobody."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from service.catalogue import type_name
from service.core.evaluator import Evaluator
from service.core.judging import CALLER
from service.engine.batch import Notice
from service.engine.consulting import judge_of
from service.engine.naming import Names
from service.engine.suites.runs import case_ids, sample
from service.engine.suites.wire import SentRun, Suite
from service.primitives.text import cut

_READERS = {"grades": "of type review", "replies": "with judge `caller`"}


def unread(suite: Suite, sent: Sequence[Sequence[SentRun]], names: Names) -> Iterator[Notice]:
    """The warnings of a version with these runs, by case and repeat."""
    yield from _settings(suite)
    for field, reader in _READERS.items():
        found = [
            (case, grader)
            for case, graders, runs in zip(case_ids(suite.cases), _graders(suite, names, sent), sent, strict=True)
            for run in runs
            if (grader := next((one for one in getattr(run, field) if not _reads(graders[one], field)), None))
        ]
        if found:
            case, grader = (cut(name, 100) for name in found[0])
            told = f"Runs with {field} that are not read: {len(found):,}, first of case {case!r} for {grader!r}"
            yield Notice(f"unused_{field}", f"{told}: only a grader {reader} takes {field}")


def _settings(suite: Suite) -> Iterator[Notice]:
    if any(version.prompt is not UNSET for version in suite.versions):
        return
    counts = {len(runs) for version in suite.versions for runs in (version.outputs or {}).values()}
    if suite.repeat != 1 and counts != {suite.repeat}:
        told = "`repeat` is for versions with a `prompt`: of `outputs` there are as many runs as were sent"
        yield Notice("unused_repeat", told)
    if suite.generate is not None:
        yield Notice("unused_generate", "`generate` is for versions with a `prompt`: all versions have `outputs`")


def _graders(suite: Suite, names: Names, sent: Sequence[Sequence[SentRun]]) -> Iterator[dict[str | None, Evaluator]]:
    """Those of each case by their ids, as far as its runs have something for them."""
    for case, runs in zip(suite.cases, sent, strict=True):
        bearing = next((run for run in runs if run.grades or run.replies), None)
        rules = () if bearing is None else (*names.shared, *names.own(sample(case, bearing, 0)))
        yield {rule.id: rule for rule in rules}


def _reads(rule: Evaluator, field: str) -> bool:
    return type_name(type(rule)) == "review" if field == "grades" else judge_of(rule) == CALLER
