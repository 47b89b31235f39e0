"""Whether what changed between two versions is more than chance."""

from collections.abc import Mapping, Sequence
from math import fsum

from service.core.assess import TOLERANCE
from service.engine.lanes import Steps
from service.engine.suites.results import CaseChange, RunTest, ScoreTest, VerdictTest
from service.primitives.stats import (
    Row,
    Table,
    Test,
    fisher,
    holm,
    least_adjusted,
    mantel_haenszel,
    mcnemar,
    mean_interval,
    sign_flip,
    standard_error,
)

CASES_AT_ONCE = 64


def judged(test: Test, alpha: float) -> tuple[bool | None, bool]:
    """Whether a test is significant, and whether nothing could have been: then the first is None."""
    level = alpha * (1 + TOLERANCE)
    underpowered = test.min_p > level
    return None if underpowered else test.p <= level, underpowered


def worse(
    drops: int, tables: Mapping[int, Table], rows: Sequence[CaseChange], scores: ScoreTest, runs: RunTest
) -> bool | None:
    """Whether anything fell significantly, a single case among them; None where nothing could have.

    The scores are left out where a case has other numbers of runs in the two versions: a mean of few runs near 1 falls
    further than it rises, so that signs say nothing.
    """
    moves = [(runs.significant, runs.surplus)]
    if all(sum(one) == sum(other) for one, other in tables.values()):
        moves.append((scores.significant, scores.delta or 0))
    if all(significant is None for significant, _ in moves) and all(row.significant is None for row in rows):
        return None
    return drops > 0 or any(significant is True and move < 0 for significant, move in moves)


def moved(rows: Sequence[CaseChange], tables: Mapping[int, Table]) -> tuple[int, int]:
    """In how many cases significantly fewer runs pass, and in how many more."""
    rises = [_rise(*table) for place, table in tables.items() if rows[place].significant is True]
    return sum(rise < 0 for rise in rises), sum(rise > 0 for rise in rises)


def _rise(one: Row, other: Row) -> float:
    return other[0] / sum(other) - one[0] / sum(one)


def test_cases(tables: Mapping[int, Table], rows: Sequence[CaseChange], alpha: float) -> Steps[None]:
    """Test cases by their tables, and put what comes of it into the rows of the same places."""
    tested: dict[int, Test] = {}
    for place, table in tables.items():
        tested[place] = fisher(*table)
        if place % CASES_AT_ONCE == 0:
            yield None
    ps, min_ps = [test.p for test in tested.values()], [test.min_p for test in tested.values()]
    adjusted_ps = holm(ps)
    yield None
    adjusted_min_ps = least_adjusted(ps, min_ps)
    yield None
    for place, adjusted in zip(tested, map(Test, adjusted_ps, adjusted_min_ps), strict=True):
        row = rows[place]
        row.p, row.min_p = tested[place]
        row.p_adjusted, row.min_p_adjusted = adjusted
        row.significant, row.underpowered = judged(adjusted, alpha)
    yield None


def run_test(tables: Sequence[Table], alpha: float) -> Steps[RunTest]:
    """Whether more or fewer runs pass, case by case alike."""
    test, surplus = yield from mantel_haenszel(tables)
    significant, underpowered = judged(test, alpha)
    return RunTest(
        cases=len(tables),
        p=test.p,
        min_p=test.min_p,
        significant=significant,
        underpowered=underpowered,
        surplus=surplus,
    )


def score_test(deltas: Sequence[float], alpha: float) -> Steps[ScoreTest]:
    """Whether the scores moved."""
    test = yield from sign_flip(deltas)
    significant, underpowered = judged(test, alpha)
    return ScoreTest(
        cases=len(deltas),
        moved=sum(delta != 0 for delta in deltas),
        p=test.p,
        min_p=test.min_p,
        significant=significant,
        underpowered=underpowered,
        delta=fsum(deltas) / len(deltas) if deltas else None,
        standard_error=standard_error(deltas),
        interval=mean_interval(deltas),
    )


def verdict_test(regressed: int, improved: int, cases: int, alpha: float) -> VerdictTest:
    """Whether the verdicts moved one way."""
    test = mcnemar(regressed, improved, cases)
    significant, underpowered = judged(test, alpha)
    return VerdictTest(
        cases=cases,
        p=test.p,
        min_p=test.min_p,
        significant=significant,
        underpowered=underpowered,
        regressed=regressed,
        improved=improved,
    )
