"""The reference cases: suites and differences worked out by hand, as shares of scores graded elsewhere."""

from typing import Any, NamedTuple

import pytest

from tests.suites.driving import answer, scored, suite

THIRD = 1 / 3
AT_LEAST = "greater_than_or_equal"


class Known(NamedTuple):
    """A suite and what it comes to; a run of None was not graded."""

    threshold: float
    cases: dict[str, list[float | None]]
    score: tuple[float, float, int, int, int, int]
    """score, pass_rate, total, passed, failed, not_graded"""
    passes: bool
    told: dict[str, tuple[str, float | None, int, int, float | None, bool]]
    """status, score, graded, not graded, spread, unstable"""
    more: dict[str, Any] = {}


SUITES = {
    "suite-001": Known(
        1.0, {"double-charge": [1, 1, 1], "office": [1, 1, 1]}, (1, 1, 2, 2, 0, 0), True,
        {"double-charge": ("passed", 1, 3, 0, 0, False), "office": ("passed", 1, 3, 0, 0, False)},
    ),
    "suite-003": Known(
        1.0, {"double-charge": [1, 1, 0], "office": [1, 1, 1]}, (5 / 6, 0.5, 2, 1, 1, 0), False,
        {"double-charge": ("failed", 2 / 3, 3, 0, 1, True), "office": ("passed", 1, 3, 0, 0, False)},
    ),
    "suite-004": Known(
        0.6666666666666666, {"a": [1, 1, 0]}, (2 / 3, 1, 1, 1, 0, 0), True, {"a": ("passed", 2 / 3, 3, 0, 1, True)},
    ),
    "suite-006": Known(
        1.0, {"a": [1], "b": [None]}, (1, 1, 2, 1, 0, 1), False,
        {"a": ("passed", 1, 1, 0, 0, False), "b": ("not_graded", None, 0, 1, None, False)},
        {"fail_on_not_graded": True},
    ),
    "suite-008": Known(
        0.6, {"a": [1], "b": [1], "c": [0.5]}, (5 / 6, 2 / 3, 3, 2, 1, 0), True,
        {"a": ("passed", 1, 1, 0, 0, False), "c": ("failed", 0.5, 1, 0, 0, False)},
        {"pass_when": [{"metric": "score", "operator": AT_LEAST, "value": 0.8}]},
    ),
    "suite-009": Known(
        0.5, {"a": [1, None, 1], "b": [None, 0, 1]}, (0.75, 1, 2, 2, 0, 0), True,
        {"a": ("passed", 1, 2, 1, 0, False), "b": ("passed", 0.5, 2, 1, 1, True)},
    ),
    "suite-011": Known(
        1.0, {"a": [1, 0], "b": [1] * 6, "c": [0]}, (0.5, THIRD, 3, 1, 2, 0), True,
        {"a": ("failed", 0.5, 2, 0, 1, True), "b": ("passed", 1, 6, 0, 0, False), "c": ("failed", 0, 1, 0, 0, False)},
        {"pass_when": [{"metric": "pass_rate", "operator": AT_LEAST, "value": 0.3}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUITES)
def test_suites(name: str) -> None:
    known = SUITES[name]
    sent = {case: scored(*scores) for case, scores in known.cases.items()}
    version = answer(suite(sent, case_threshold=known.threshold, **known.more))["versions"][0]
    score = version["score"]
    got = [score[field] for field in ("score", "pass_rate", "total", "passed", "failed", "not_graded")]
    assert got == pytest.approx(list(known.score))
    assert version["passed"] is known.passes
    told = {case["id"]: case for case in version["cases"]}
    for case, (status, mean, graded, not_graded, spread, unstable) in known.told.items():
        one = told[case]
        counts = (one["status"], one["graded_runs"], one["not_graded_runs"], one["unstable"])
        assert counts == (status, graded, not_graded, unstable)
        assert (one["score"], one["spread"]) == (
            mean if mean is None else pytest.approx(mean), spread if spread is None else pytest.approx(spread))  # fmt: skip


Scores = dict[str, list[float | None]]

DIFFERENCES: dict[str, tuple[float, Scores, Scores, dict[str, tuple[str, float | None]], Any]] = {
    "diff-001": (
        1.0,
        {"a": [1], "b": [0], "c": [1], "d": [0], "gone": [1]},
        {"a": [0], "b": [1], "c": [1], "d": [0], "fresh": [1]},
        {"a": ("regressed", -1), "b": ("improved", 1), "c": ("unchanged", 0), "d": ("unchanged", 0),
         "gone": ("missing", None), "fresh": ("new", None)},
        ((0.6, 5, 3, 2, 0), (0.6, 5, 3, 2, 0)),
    ),
    "diff-002": (
        1.0,
        {"a": [1], "b": [None], "c": [1]},
        {"a": [None], "b": [1], "c": [None]},
        {"a": ("not_comparable", None), "b": ("not_comparable", None), "c": ("not_comparable", None)},
        ((1, 3, 2, 0, 1), (1, 3, 1, 0, 2)),
    ),
    "diff-004": (
        0.5,
        {"a": [1, 1, 0], "b": [1, 1, 1]},
        {"a": [1, 0, 0], "b": [1, 1, 0]},
        {"a": ("regressed", -THIRD), "b": ("unchanged", -THIRD)},
        ((5 / 6, 2, 2, 0, 0), (0.5, 2, 1, 1, 0)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences(name: str) -> None:
    threshold, before, after, rows, scores = DIFFERENCES[name]
    sent = [{case: scored(*runs) for case, runs in one.items()} for one in (before, after)]
    got = answer(suite(*sent, case_threshold=threshold))
    (comparison,) = got["comparisons"]
    assert {one["id"]: one["change"] for one in comparison["cases"]} == {case: row[0] for case, row in rows.items()}
    for one in comparison["cases"]:
        delta = rows[one["id"]][1]
        assert one["delta"] == (delta if delta is None else pytest.approx(delta))
    changes = [change for change, _ in rows.values()]
    assert comparison["counts"] == {change: changes.count(change) for change in comparison["counts"]}
    for version, (score, *counts) in zip(got["versions"], scores, strict=True):
        assert version["score"]["score"] == pytest.approx(score)
        assert [version["score"][field] for field in ("total", "passed", "failed", "not_graded")] == counts


def test_a_flip_within_three_repeats_is_noise() -> None:
    _, before, after, _, _ = DIFFERENCES["diff-004"]
    sent = [{case: scored(*runs) for case, runs in one.items()} for one in (before, after)]
    rows = answer(suite(*sent))["comparisons"][0]["cases"]
    assert [(one["p"], one["significant"], one["underpowered"]) for one in rows] == [(1, None, True), (1, None, True)]
