"""Why a case got worse: the run that shows it."""

from collections.abc import Sequence

from service.core.outcome import Evaluation
from service.engine.suites.results import EXPLANATION_CHARS, Evidence, RunResult
from service.primitives.text import cut


def evidence(runs: Sequence[RunResult]) -> Evidence:
    """Of the worst run, the first of equals: its place, and what is told of it."""
    place, worst = min(enumerate(runs), key=lambda one: 2 if one[1].score is None else one[1].score)
    if not worst.evaluations:
        return Evidence(run=place, evaluator=None, explanation=worst.explanation)
    blamed = min(worst.evaluations, key=_blame)
    return Evidence(run=place, evaluator=blamed.evaluator, explanation=cut(blamed.explanation, EXPLANATION_CHARS))


def _blame(evaluation: Evaluation) -> tuple[bool, float]:
    """The less, the more an evaluation has to do with a low score."""
    return evaluation.status != "failed", 2 if evaluation.score is None else evaluation.score
