"""Whether a version passes."""

from collections.abc import Callable

from service.core.assess import TOLERANCE
from service.engine.suites.results import ConditionResult, SuiteScore
from service.engine.suites.wire import Condition, Operator, Suite

DEFAULT = (
    Condition(metric="failed", operator="equals", value=0),
    Condition(metric="passed", operator="greater_than_or_equal", value=1),
)
ALL_GRADED = (
    Condition(metric="not_graded", operator="equals", value=0),
    Condition(metric="missing", operator="equals", value=0),
)

_HOLDS: dict[Operator, Callable[[float, float], bool]] = {
    "greater_than_or_equal": lambda actual, bound: actual >= bound - TOLERANCE,
    "greater_than": lambda actual, bound: actual > bound + TOLERANCE,
    "less_than_or_equal": lambda actual, bound: actual <= bound + TOLERANCE,
    "less_than": lambda actual, bound: actual < bound - TOLERANCE,
    "equals": lambda actual, bound: abs(actual - bound) <= TOLERANCE,
}


def conditions_of(suite: Suite, score: SuiteScore) -> list[ConditionResult]:
    """What becomes of each condition for a version to pass."""
    conditions = [*(suite.pass_when or DEFAULT), *(ALL_GRADED if suite.fail_on_not_graded else ())]
    return [_met(one, score) for one in conditions]


def passes(score: SuiteScore, conditions: list[ConditionResult]) -> bool:
    """The verdict: a case was graded, and all conditions hold."""
    return score.score is not None and all(one.holds for one in conditions)


def _met(condition: Condition, score: SuiteScore) -> ConditionResult:
    actual = getattr(score, condition.metric)
    return ConditionResult(
        metric=condition.metric,
        operator=condition.operator,
        value=condition.value,
        actual=actual,
        holds=actual is not None and _HOLDS[condition.operator](actual, condition.value),
        straddles=_contains(getattr(score, f"{condition.metric}_interval", None), condition.value),
        straddles_repeats=_contains(score.repeat_interval if condition.metric == "score" else None, condition.value),
    )


def _contains(interval: tuple[float, float] | None, bound: float) -> bool | None:
    return None if interval is None else interval[0] <= bound <= interval[1]
