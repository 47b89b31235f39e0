"""What holds of every suite."""

from math import isclose
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.judging import results
from tests.suites.driving import EXACT, answer, body_of, scored, suite

SCORES = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))
RUNS = st.lists(st.one_of(st.none(), SCORES), max_size=5).map(lambda scores: scored(*scores))
NAMES = st.sampled_from(["a", "b", "c", "d/e", "~f", "g ", "\u00e9"])
OUTPUTS = st.dictionaries(NAMES, RUNS, max_size=7)
PAIRS = st.tuples(OUTPUTS, OUTPUTS).filter(any)
THRESHOLDS = st.sampled_from([0.0, 0.5, 2 / 3, 1.0])


def agree(one: Any, other: Any) -> bool:
    """Equal, but for what the order of adding loses."""
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(agree, one, other))
    return bool(one == other)


def by_id(cases: list[dict[str, Any]], *, without: str) -> dict[str, Any]:
    return {case["id"]: {key: value for key, value in case.items() if key != without} for case in cases}


def without_cases(version: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in version.items() if key not in ("cases", "warnings")}


@given(PAIRS, THRESHOLDS)
def test_a_comparison_turned_round_is_its_mirror_image(
    pair: tuple[dict[str, Any], dict[str, Any]], threshold: float
) -> None:
    body = suite(*pair, case_threshold=threshold)
    (there,), (back,) = (answer(body | {"baseline": name})["comparisons"] for name in ("v1", "v2"))
    turned = {"regressed": "improved", "improved": "regressed", "new": "missing", "missing": "new"}
    for one, other in zip(there["cases"], back["cases"], strict=True):
        falls = [row["delta"] is not None and row["delta"] < 0 for row in (one, other)]
        assert [row.pop("evidence") is not None for row in (one, other)] == falls
        mirrored = one | {
            "change": turned.get(one["change"], one["change"]),
            "delta": None if one["delta"] is None else -one["delta"],
            "baseline_score": one["candidate_score"], "candidate_score": one["baseline_score"],
            "baseline_unstable": one["candidate_unstable"], "candidate_unstable": one["baseline_unstable"],
        }  # fmt: skip
        assert agree(mirrored, other)
    assert {turned.get(change, change): count for change, count in there["counts"].items()} == back["counts"]
    forth, again = there["significance"], back["significance"]
    assert (forth["significant_drops"], forth["significant_gains"]) == (
        again["significant_gains"], again["significant_drops"])  # fmt: skip
    assert agree(_mirrored(forth["scores"]), again["scores"])
    assert agree(forth["runs"] | {"surplus": -forth["runs"]["surplus"]}, again["runs"])
    assert (forth["worse"] is None) == (again["worse"] is None)
    verdicts = forth["verdicts"]
    swapped = {"regressed": verdicts["improved"], "improved": verdicts["regressed"]}
    assert agree(verdicts | swapped, again["verdicts"])


def _mirrored(test: dict[str, Any]) -> dict[str, Any]:
    delta, interval = test["delta"], test["interval"]
    return test | {
        "delta": None if delta is None else -delta,
        "interval": None if interval is None else [-interval[1], -interval[0]],
    }


@given(PAIRS, THRESHOLDS, st.randoms())
def test_the_order_of_cases_and_of_runs_changes_no_number(
    pair: tuple[dict[str, Any], dict[str, Any]], threshold: float, random: Any
) -> None:
    body = suite(*pair, case_threshold=threshold)
    cases = random.sample(body["cases"], len(body["cases"]))
    versions = [
        one | {"outputs": {name: random.sample(runs, len(runs)) for name, runs in one["outputs"].items()}}
        for one in body["versions"]
    ]
    before, after = answer(body), answer(body | {"cases": cases, "versions": versions})
    for one, other in zip(before["versions"], after["versions"], strict=True):
        assert agree(without_cases(one), without_cases(other))
        assert agree(by_id(one["cases"], without="runs"), by_id(other["cases"], without="runs"))
    (one,), (other,) = before["comparisons"], after["comparisons"]
    assert agree(by_id(one["cases"], without="evidence"), by_id(other["cases"], without="evidence"))
    assert one["counts"] == other["counts"]
    assert agree(one["significance"], other["significance"])


@given(OUTPUTS.filter(bool), THRESHOLDS)
def test_a_version_held_against_itself_has_not_changed(sent: dict[str, Any], threshold: float) -> None:
    (got,) = answer(suite(sent, sent, case_threshold=threshold))["comparisons"]
    assert got["counts"]["unchanged"] + got["counts"]["not_comparable"] == len(sent)
    for row in got["cases"]:
        assert (row["delta"], row["p_adjusted"]) in [(0, 1), (None, None)]
    tests = got["significance"]
    assert (tests["runs"]["p"], tests["scores"]["p"], tests["verdicts"]["p"]) == (1, 1, 1)
    assert (tests["runs"]["surplus"], bool(tests["worse"])) == (0, False)
    assert tests["significant_drops"] == tests["significant_gains"] == 0


@given(PAIRS, THRESHOLDS, st.floats(0.001, 0.5))
def test_numbers_fit_together(pair: tuple[dict[str, Any], dict[str, Any]], threshold: float, alpha: float) -> None:
    got = answer(suite(*pair, case_threshold=threshold, alpha=alpha))
    for version in got["versions"]:
        score = version["score"]
        assert score["total"] == score["passed"] + score["failed"] + score["not_graded"]
        assert score["total"] + score["missing"] == len(version["cases"])
        for value, interval in (
            (score["score"], score["score_interval"]),
            (score["pass_rate"], score["pass_rate_interval"]),
            (score["score"], score["repeat_interval"]),
        ):
            assert interval is None or 0 <= interval[0] <= value + 1e-12 <= interval[1] + 2e-12 <= 1 + 2e-12
        for case in version["cases"]:
            assert case["graded_runs"] + case["not_graded_runs"] == len(case["runs"])
            assert all(0 <= chance <= 1 for chance in case["pass_at_k"] + case["pass_hat_k"])
            assert case["pass_at_k"] == sorted(case["pass_at_k"])
            assert case["pass_hat_k"] == sorted(case["pass_hat_k"], reverse=True)
            assert case["unstable"] == (0 < (case["pass_at_k"] or [0])[0] < 1)
    (comparison,) = got["comparisons"]
    assert sum(comparison["counts"].values()) == len(comparison["cases"])
    for row in comparison["cases"]:
        if row["p"] is not None:
            assert 0 < row["min_p"] <= row["p"] + 1e-9 <= row["p_adjusted"] + 2e-9 <= 1 + 2e-9
            assert row["min_p_adjusted"] <= row["p_adjusted"] + 1e-9
            assert (row["significant"] is None) == row["underpowered"]
    tests = comparison["significance"]
    for test in (tests["runs"], tests["scores"], tests["verdicts"]):
        assert 0 < test["min_p"] <= test["p"] + 1e-9 <= 1 + 1e-9
        assert (test["significant"] is None) == test["underpowered"]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["score", "error", "output", "x"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(JSON, JSON)
def test_a_wrapped_output_is_judged_as_it_is(output: Any, expected: Any) -> None:
    grader = EXACT | {"expected": expected}
    (run,) = answer(suite({"a": [{"output": output}]}, graders=[grader]))["versions"][0]["cases"][0]["runs"]
    batch = {"items": [{"output": output}], "evaluators": [grader]}
    (item,) = results(batch)["results"]
    assert (run["status"], run["score"], run["evaluations"]) == (item["status"], item["score"], item["evaluations"])


@given(PAIRS)
def test_equal_requests_equal_bytes(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert body_of(suite(*pair)) == body_of(suite(*pair))
