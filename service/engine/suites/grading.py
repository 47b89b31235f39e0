"""The runs of a suite graded: all in one batch, those that came with a score or an error left as they are."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import UNSET

from service.core.assess import forget_documents
from service.core.outcome import GRADED, Evaluation, Status
from service.core.ports import Embedder
from service.engine.batch import Batch, Item, ItemResult
from service.engine.consulting import Consulting
from service.engine.generating import Written
from service.engine.lanes import Steps
from service.engine.run import Run
from service.engine.suites.results import EXPLANATION_CHARS, RunResult
from service.engine.suites.runs import sample
from service.engine.suites.scoring import reaches
from service.engine.suites.wire import SentRun, Suite
from service.primitives.jsontext import as_text
from service.primitives.text import cut

CASES_AT_ONCE = 500

Try = SentRun | Written
Tries = Sequence[Sequence[Sequence[Try]]]
"""By version, case and repeat."""

Graded = list[list[list[RunResult]]]
"""The same places, graded."""


def grading(
    suite: Suite, tries: Tries, run_of: Callable[[Batch], Run], embedder: Embedder, consulting: Consulting
) -> Steps[tuple[Graded, Run | None]]:
    """A result for each try, and the run that graded those with an output, if there were any."""
    results: list[ItemResult] = []
    run = None
    items = yield from _items(suite, tries)
    if items:
        batch = Batch(items=items, evaluators=suite.graders, vectors=suite.vectors, echo=suite.echo)
        run = run_of(batch)
        yield from run.inquire(embedder, consulting)
        for some in run.results():
            results += some
            yield None
        forget_documents()
    return (yield from _placed(suite, tries, iter(results))), run


def _items(suite: Suite, tries: Tries) -> Steps[list[Item]]:
    """The tries with an output."""
    items: list[Item] = []
    for of_version in tries:
        for place, (case, of_case) in enumerate(zip(suite.cases, of_version, strict=True)):
            items += [
                sample(case, one if isinstance(one, SentRun) else SentRun(output=one.text), slot)
                for slot, one in enumerate(of_case, 1)
                if _has_output(one)
            ]
            if place % CASES_AT_ONCE == 0:
                yield None
    return items


def _placed(suite: Suite, tries: Tries, found: Iterator[ItemResult]) -> Steps[Graded]:
    """The results of all tries, those of the tries with an output being found in their order."""
    graded: Graded = []
    for of_version in tries:
        graded.append([])
        for place, of_case in enumerate(of_version):
            graded[-1].append([_result(suite, one, found) for one in of_case])
            if place % CASES_AT_ONCE == 0:
                yield None
    return graded


def _has_output(one: Try) -> bool:
    return one.output is not UNSET if isinstance(one, SentRun) else one.text is not None


def _result(suite: Suite, one: Try, found: Iterator[ItemResult]) -> RunResult:
    if _has_output(one):
        graded = _graded(suite, next(found))
        if isinstance(one, Written):
            graded.output = one.text
            graded.truncated = one.truncated or UNSET
        return graded
    if isinstance(one, Written):
        return RunResult(status="not_graded", score=None, reason=one.reason, explanation=one.detail)
    if one.score is not UNSET:
        graded = _scored(one.score, suite, [])
        graded.explanation = None if one.explanation is None else cut(one.explanation, EXPLANATION_CHARS)
        return graded
    told = cut(as_text(one.error), EXPLANATION_CHARS)
    return RunResult(status="not_graded", score=None, reason="run_failed", explanation=told)


def _graded(suite: Suite, result: ItemResult) -> RunResult:
    """A run with its score, or with the reason that the first evaluation of its status gives."""
    scores = [one.score for one in result.evaluations if one.score is not None]
    if result.status in GRADED and result.score is not None:
        return _scored(min(scores) if suite.combine == "all" else result.score, suite, result.evaluations)
    cause = next(one for one in result.evaluations if one.status == result.status)
    return RunResult(
        status=result.status,
        score=None,
        reason=cause.reason,
        explanation=cause.explanation,
        evaluations=result.evaluations,
    )


def _scored(score: float, suite: Suite, evaluations: list[Evaluation]) -> RunResult:
    status: Status = "passed" if reaches(score, suite.case_threshold) else "failed"
    return RunResult(status=status, score=score, evaluations=evaluations)
