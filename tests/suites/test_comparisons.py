"""One version held against another: what changed, and whether that is more than chance."""

from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact
from scipy.stats import t as student

from tests.suites.driving import EXACT, answer, body_of, scored, suite


def compared(before: dict[str, list[Any]], after: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    (only,) = answer(suite(before, after, **more))["comparisons"]
    return only  # type: ignore[no-any-return]


def near(number: Any) -> Any:
    return pytest.approx(number, abs=1e-9)


CHANGES: list[tuple[str, list[Any], list[Any], str, float | None]] = [
    ("fails now", scored(1), scored(0), "regressed", -1),
    ("passes now", scored(0), scored(1), "improved", 1),
    ("passes still", scored(1), scored(0.75), "unchanged", -0.25),
    ("fails still", scored(0), scored(0.25), "unchanged", 0.25),
    ("there now", [], scored(1), "new", None),
    ("there now, not graded", [], scored(None), "new", None),
    ("gone", scored(1), [], "missing", None),
    ("gone, never graded", scored(None), [], "missing", None),
    ("there in neither", [], [], "not_comparable", None),
    ("not graded before", scored(None), scored(1), "not_comparable", None),
    ("not graded now", scored(1), scored(None), "not_comparable", None),
    ("graded in neither", scored(None), scored(None), "not_comparable", None),
    ("graded in part", scored(None, 1), scored(0, None), "regressed", -1),
]


@pytest.mark.parametrize(
    ("before", "after", "change", "delta"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_changes(before: list[Any], after: list[Any], change: str, delta: float | None) -> None:
    got = compared({"a": before}, {"a": after})
    (row,) = got["cases"]
    assert (row["id"], row["change"], row["delta"]) == ("a", change, delta)
    assert got["counts"] == {
        "regressed": 0, "improved": 0, "unchanged": 0, "new": 0, "missing": 0, "not_comparable": 0} | {change: 1}  # fmt: skip
    tested = delta is not None
    for name in ("p", "p_adjusted", "min_p", "min_p_adjusted", "underpowered"):
        assert (row[name] is not None) is tested
    assert row["significant"] is None
    assert got["significance"]["scores"]["cases"] == got["significance"]["verdicts"]["cases"] == tested


def test_an_absent_case_and_one_without_outputs_are_the_same() -> None:
    assert compared({"a": scored(1), "b": []}, {"a": scored(1)})["counts"] == compared(
        {"a": scored(1)}, {"a": scored(1)}, cases=[{"id": "a"}, {"id": "b"}])["counts"]  # fmt: skip


def test_rows_say_which_side_is_unstable() -> None:
    (row,) = compared({"a": scored(1, 0)}, {"a": scored(1, 1)})["cases"]
    assert (row["baseline_score"], row["candidate_score"]) == (0.5, 1)
    assert (row["baseline_unstable"], row["candidate_unstable"]) == (True, False)


# Cases -------------------------------------------------------------------------------------------------------------


def test_a_single_flip_is_underpowered() -> None:
    (row,) = compared({"a": scored(1)}, {"a": scored(0)})["cases"]
    assert (row["p"], row["min_p"], row["significant"], row["underpowered"]) == (1, 1, None, True)


def test_twenty_repeats_are_enough() -> None:
    got = compared({"a": scored(*[1] * 20), "b": scored(1)}, {"a": scored(*[1] * 8, *[0] * 12), "b": scored(1)})
    row, other = got["cases"]
    p = fisher_exact(np.array([[20, 0], [8, 12]])).pvalue
    assert (row["change"], row["p"], row["p_adjusted"]) == ("regressed", near(p), near(2 * p))
    assert row["min_p"] == near(2 / comb(40, 20))
    assert (row["significant"], row["underpowered"]) == (True, False)
    assert (other["p"], other["p_adjusted"], other["significant"], other["underpowered"]) == (1, 1, None, True)
    assert (got["significance"]["significant_drops"], got["significance"]["significant_gains"]) == (1, 0)


def test_enough_repeats_that_show_nothing() -> None:
    (row,) = compared({"a": scored(*[1] * 20)}, {"a": scored(*[1] * 19, 0)})["cases"]
    assert (row["p"], row["significant"], row["underpowered"]) == (near(1), False, False)


def test_a_case_that_falls_and_still_passes() -> None:
    got = compared({"a": scored(*[1] * 20)}, {"a": scored(*[1] * 12, *[0] * 8)})
    assert got["cases"][0]["change"] == "unchanged"
    assert (got["cases"][0]["significant"], got["significance"]["significant_drops"]) == (True, 1)


def test_many_cases_take_more() -> None:
    """Two of C(8, 4) = 70 tables: enough for one case, not for two."""
    one = compared({"a": scored(1, 1, 1, 1)}, {"a": scored(0, 0, 0, 0)})["cases"]
    assert [(row["p_adjusted"], row["significant"]) for row in one] == [(near(2 / 70), True)]
    many = compared(*({name: scored(*[score] * 4) for name in "ab"} for score in (1, 0)))
    assert [(row["p"], row["p_adjusted"]) for row in many["cases"]] == [(near(2 / 70), near(4 / 70))] * 2
    assert [(row["significant"], row["underpowered"]) for row in many["cases"]] == [(None, True)] * 2
    assert many["significance"]["min_repeats"] == 5


def test_whether_a_case_could_have_been_significant_depends_on_the_others_as_they_are() -> None:
    before = {"a": scored(1, 1, 1, 1), "b": scored(*[1] * 20)}
    rows = compared(before, {"a": scored(1, 0, 0, 0), "b": scored(*[0] * 20)})["cases"]
    assert rows[0]["min_p_adjusted"] == near(2 / 70)  # it comes second, after a smaller one
    assert [(row["significant"], row["underpowered"]) for row in rows] == [(False, False), (True, False)]


@pytest.mark.parametrize(("alpha", "significant"), [(0.02, None), (2 / 70, True), (0.03, True), (0.5, True)])
def test_alpha(alpha: float, significant: bool | None) -> None:
    got = compared({"a": scored(1, 1, 1, 1)}, {"a": scored(0, 0, 0, 0)}, alpha=alpha)
    (row,) = got["cases"]
    assert (row["significant"], row["underpowered"]) == (significant, significant is None)
    assert got["significance"]["alpha"] == alpha


def test_small_levels_are_taken_at_their_word() -> None:
    sent = ({"a": scored(*[1] * 20)}, {"a": scored(*[0] * 20)})
    p = 2 / comb(40, 20)
    for alpha, significant in ((p * 2, True), (p / 2, None)):
        assert compared(*sent, alpha=alpha)["cases"][0]["significant"] is significant


def test_the_least_level_is_answered() -> None:
    assert compared({"a": scored(1)}, {"a": scored(0)}, alpha=1e-12)["significance"]["min_cases"] == 41


# All cases ---------------------------------------------------------------------------------------------------------


def test_six_cases_that_all_fall() -> None:
    names = "abcdef"
    got = compared(*({name: scored(score) for name in names} for score in (1, 0)))["significance"]
    for test in (got["scores"], got["verdicts"]):
        assert (test["cases"], test["p"], test["min_p"]) == (6, near(1 / 32), near(1 / 32))
        assert (test["significant"], test["underpowered"]) == (True, False)
    assert (got["scores"]["delta"], got["scores"]["standard_error"], got["scores"]["moved"]) == (-1, 0, 6)
    assert got["scores"]["interval"] is None  # that all fell alike does not make it certain
    assert (got["verdicts"]["regressed"], got["verdicts"]["improved"], got["min_cases"]) == (6, 0, 6)


def test_five_cases_can_show_nothing() -> None:
    got = compared(*({name: scored(score) for name in "abcde"} for score in (1, 0)))["significance"]
    for test in (got["scores"], got["verdicts"]):
        assert (test["p"], test["significant"], test["underpowered"]) == (near(1 / 16), None, True)


def test_deltas_by_hand() -> None:
    before = {name: scored(0.5) for name in "abcdef"}
    after = dict(zip("abcdef", map(scored, (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)), strict=True))
    test = compared(before, after)["significance"]["scores"]
    deltas = [0.4, 0.3, 0.2, 0.1, 0, -0.1]
    mean = sum(deltas) / 6
    error = sqrt(sum((one - mean) ** 2 for one in deltas) / 5 / 6)
    margin = float(student.ppf(0.975, 5)) * error
    assert (test["delta"], test["standard_error"], test["moved"]) == (near(mean), near(error), 5)
    assert test["interval"] == near([mean - margin, mean + margin])
    # sums of at least 0.9 either way: all signs alike but for 0.1 (either of two), or for none
    assert test["p"] == near(6 / 32)


def test_what_floating_point_loses_is_no_change() -> None:
    names = [f"case {number}" for number in range(30)]
    before = {name: scored(0.1, 0.2, 0.3) for name in names}
    after = {name: scored(0.2, 0.2, 0.2) for name in names}
    assert before != after
    got = compared(before, after)
    test = got["significance"]["scores"]
    assert (test["delta"], test["moved"], test["p"], test["significant"]) == (0, 0, 1, False)


def test_a_suite_held_against_itself() -> None:
    sent = {f"case {number}": scored(1, number % 2, 0.5) for number in range(8)}
    got = compared(sent, sent)
    assert got["counts"]["unchanged"] == 8
    assert {(row["delta"], row["p"], row["p_adjusted"]) for row in got["cases"]} == {(0, 1, 1)}
    for test in (got["significance"]["scores"], got["significance"]["verdicts"]):
        assert (test["p"], test["significant"]) == (1, False)
    assert (got["significance"]["scores"]["delta"], got["significance"]["scores"]["moved"]) == (0, 0)


def test_nothing_to_compare() -> None:
    got = compared({"a": scored(1)}, {"b": scored(1)})["significance"]
    assert got["scores"] == {
        "cases": 0, "p": 1, "min_p": 1, "significant": None, "underpowered": True, "moved": 0, "delta": None,
        "standard_error": None, "interval": None}  # fmt: skip
    untested = {"cases": 0, "p": 1, "min_p": 1, "significant": None, "underpowered": True}
    assert got["verdicts"] == untested | {"regressed": 0, "improved": 0}
    assert got["runs"] == untested | {"surplus": 0}
    assert got["worse"] is None


def test_more_cases_than_all_flips_can_be_tried_of() -> None:
    before = {f"case {number}": scored(0.5) for number in range(40)}
    after = {f"case {number}": scored(0.6 + number / 200) for number in range(40)}
    test = compared(before, after)["significance"]["scores"]
    assert (test["p"], test["significant"]) == (near(1 / 10_001), True)


# Versions ----------------------------------------------------------------------------------------------------------


def test_the_baseline_may_stand_anywhere() -> None:
    sent = [{"a": scored(score)} for score in (0, 1, 0.75)]
    got = answer(suite(*sent, baseline="v2"))
    assert [one["version"] for one in got["versions"]] == ["v1", "v2", "v3"]
    pairs = [(one["baseline"], one["candidate"], one["cases"][0]["delta"]) for one in got["comparisons"]]
    assert pairs == [("v2", "v1", -1), ("v2", "v3", -0.25)]


def test_the_first_version_is_the_baseline_unless_one_is_named() -> None:
    sent = [{"a": scored(score)} for score in (0, 1, 0.75)]
    got = answer(suite(*sent))["comparisons"]
    assert [(one["baseline"], one["candidate"]) for one in got] == [("v1", "v2"), ("v1", "v3")]


def test_one_version_is_compared_with_nothing() -> None:
    assert answer(suite({"a": scored(1)}))["comparisons"] == []


def test_a_comparison_is_that_of_its_two_versions_alone() -> None:
    first, second, third = ({"a": scored(1, one), "b": scored(one)} for one in (1, 0, 0.5))
    (_, beside) = answer(suite(first, second, third))["comparisons"]
    assert beside["cases"] == compared(first, third)["cases"]
    assert beside["significance"] == compared(first, third)["significance"]


def test_equal_requests_equal_bytes() -> None:
    outputs = {f"case {number}": ["x", {"score": number / 40}, "y"] for number in range(40)}
    other = {f"case {number}": ["y", {"score": number**2 / 1_600}, "y"] for number in range(40)}
    body = suite(outputs, other, graders=[EXACT | {"expected": "x"}])
    assert body_of(body) == body_of(body)


@pytest.mark.parametrize(("alpha", "significant"), [(1e-3, True), (1 / 10_001, True), (9e-5, None), (1e-5, None)])
def test_random_flips_cannot_answer_for_less_than_one_in_their_number(alpha: float, significant: bool | None) -> None:
    before = {f"case {number}": scored(0) for number in range(40)}
    after = {name: scored(0.5 + place / 100) for place, name in enumerate(before)}
    scores = compared(before, after, alpha=alpha)["significance"]["scores"]
    assert (scores["p"], scores["min_p"]) == (1 / 10_001, 1 / 10_001)
    assert (scores["significant"], scores["underpowered"]) == (significant, significant is None)
