"""The numbers of a case and of a version, by hand; and whether a version passes."""

from math import comb, sqrt
from typing import Any

import pytest

from tests.suites.driving import answer, case_of, scored, suite

AT_LEAST, OVER, AT_MOST, UNDER, EQUAL = (
    "greater_than_or_equal", "greater_than", "less_than_or_equal", "less_than", "equals")  # fmt: skip
Z = 1.959963984540054


def wilson(share: float, count: int) -> list[float]:
    """Written out once more."""
    centre, spread = share + Z * Z / (2 * count), Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return [max(0.0, (centre - spread) / (1 + Z * Z / count)), min(1.0, (centre + spread) / (1 + Z * Z / count))]


def near(numbers: Any) -> Any:
    return pytest.approx(numbers, abs=1e-12)


# Cases -------------------------------------------------------------------------------------------------------------


def test_two_of_three() -> None:
    case = case_of(1, 1, 0)
    assert (case["status"], case["unstable"], case["graded_runs"], case["not_graded_runs"]) == ("passed", True, 3, 0)
    assert case["score"] == near(2 / 3)
    assert case["score_interval"] == near(wilson(2 / 3, 3))
    assert (case["spread"], case["standard_deviation"]) == (1, near(sqrt(1 / 3)))
    assert case["pass_at_k"] == near([2 / 3, 1, 1])
    assert case["pass_hat_k"] == near([2 / 3, 1 / 3, 0])
    assert case["repeats_to_decide"] == 35  # z^2 / 4 / (1/6)^2 = 34.57


def test_one_run() -> None:
    case = case_of(0.75)
    assert (case["spread"], case["standard_deviation"], case["unstable"], case["flaky_posterior"]) == (
        0, None, False, None)  # fmt: skip
    assert (case["pass_at_k"], case["pass_hat_k"]) == ([1], [1])
    assert case["score_interval"] == near(wilson(0.75, 1))


def test_no_graded_run() -> None:
    case = case_of(None, None)
    nulls = ("score", "score_interval", "spread", "standard_deviation", "flaky_posterior", "repeats_to_decide")
    assert [case[name] for name in nulls] == [None] * 6
    assert (case["status"], case["unstable"], case["pass_at_k"], case["pass_hat_k"]) == ("not_graded", False, [], [])
    assert (case["graded_runs"], case["not_graded_runs"]) == (0, 2)


def test_scores_of_three_tenths_have_no_spread() -> None:
    case = case_of(0.3, 0.3, 0.3)
    assert (case["score"], case["spread"], case["standard_deviation"]) == (near(0.3), 0, 0)


FLAKY = [
    ([1, 1, 1], 0.95**4 - 0.05**4),
    ([0, 0], 0.95**3 - 0.05**3),
    ([1, 0], (3 * 0.95**2 - 2 * 0.95**3) - (3 * 0.05**2 - 2 * 0.05**3)),
]


@pytest.mark.parametrize(("scores", "chance"), FLAKY)
def test_flaky(scores: list[float], chance: float) -> None:
    assert case_of(*scores)["flaky_posterior"] == near(chance)


@pytest.mark.parametrize(
    ("scores", "threshold", "repeats"),
    [
        ([1, 1, 1, 1], 0.5, 4),  # z^2 / 4 / (1/2)^2 = 3.84
        ([1, 0], 0.5, None),
        ([1, 1, 0, 0, 0], 0.5, 97),  # z^2 / 4 / 0.1^2 = 96.04
        ([1, 1], 1, None),
        ([1, 0], 1, 1),
        ([0], 0, None),
        ([1], 0, 1),
        ([1, 1, 0], 2 / 3, None),
    ],
)
def test_repeats_to_decide(scores: list[float], threshold: float, repeats: int | None) -> None:
    assert case_of(*scores, case_threshold=threshold)["repeats_to_decide"] == repeats


def test_passes_at_k_end_at_ten() -> None:
    case = case_of(*[1] * 4, *[0] * 8)
    ks = range(1, 11)
    assert case["pass_at_k"] == near([1 - comb(8, k) / comb(12, k) for k in ks])
    assert case["pass_hat_k"] == near([comb(4, k) / comb(12, k) for k in ks])


def test_runs_pass_where_their_score_reaches_the_threshold() -> None:
    assert case_of(0.6, 0.9, case_threshold=0.5)["unstable"] is False
    case = case_of(0.6, 0.9, case_threshold=0.7)
    assert (case["unstable"], case["status"], case["pass_at_k"]) == (True, "passed", [0.5, 1])


EDGES = [
    ([1, 1, 0], 0.6666666666666666, "passed"),
    ([1, 1, 0], 0.6666666666666667, "passed"),
    ([1, 1, 0], 0.66666667, "failed"),
    ([0.1, 0.2], 0.15000000000000002, "passed"),
    ([0.7, 0.1, 0.1], 0.3, "passed"),
    ([0.2999999985], 0.3, "failed"),
    ([0.9999999995], 1, "passed"),
    ([1, 0.999], 1, "failed"),
    ([0], 0, "passed"),
]


@pytest.mark.parametrize(("scores", "threshold", "status"), EDGES)
def test_thresholds_at_the_edge(scores: list[float], threshold: float, status: str) -> None:
    assert case_of(*scores, case_threshold=threshold)["status"] == status


# Versions ----------------------------------------------------------------------------------------------------------

MIXED = {"a": scored(1, 1, 0), "b": scored(1, 1, 1), "c": scored(0, 0), "d": scored(None), "e": []}


def test_a_version_in_numbers() -> None:
    score = answer(suite(MIXED))["versions"][0]["score"]
    assert score["score"] == near((2 / 3 + 1 + 0) / 3)
    assert score["pass_rate"] == near(2 / 3)
    counts = ("total", "passed", "failed", "not_graded", "missing")
    assert [score[name] for name in counts] == [4, 2, 1, 1, 1]
    assert score["score_interval"] == near(wilson(score["score"], 3))
    assert score["pass_rate_interval"] == near(wilson(2 / 3, 3))
    assert score["pass_at_k"] == near([(2 / 3 + 1 + 0) / 3, 2 / 3])
    assert score["pass_hat_k"] == near([(2 / 3 + 1 + 0) / 3, (1 / 3 + 1 + 0) / 3])


def test_the_repeat_interval_of_cases_that_vary() -> None:
    score = answer(suite({"a": scored(1, 0), "b": scored(0.2, 0.4, 0.6)}))["versions"][0]["score"]
    margin = Z * sqrt(0.5 / 2 + 0.04 / 3) / 2
    assert score["repeat_interval"] == near([max(0, 0.45 - margin), min(1, 0.45 + margin)])


def test_the_repeat_interval_of_cases_that_do_not() -> None:
    score = answer(suite({"a": scored(1, 1), "b": scored(0.5)}))["versions"][0]["score"]
    halves = [1 - wilson(1, 2)[0], 0.5 - wilson(0.5, 1)[0]]  # the longer ones
    margin = sqrt(sum(half**2 for half in halves)) / 2
    assert score["repeat_interval"] == near([0.75 - margin, min(1, 0.75 + margin)])


def test_no_repeat_no_repeat_interval() -> None:
    sent = {"a": scored(1), "b": scored(0, None)}
    assert answer(suite(sent))["versions"][0]["score"]["repeat_interval"] is None


# Conditions --------------------------------------------------------------------------------------------------------

ACTUAL = {"score": 5 / 9, "pass_rate": 2 / 3, "passed": 2, "failed": 1, "not_graded": 1, "missing": 1, "total": 4}
HOLDS = {
    AT_LEAST: (True, True, False),
    OVER: (True, False, False),
    AT_MOST: (False, True, True),
    UNDER: (False, False, True),
    EQUAL: (False, True, False),
}


def condition(metric: str, operator: str, value: float) -> dict[str, Any]:
    return {"metric": metric, "operator": operator, "value": value}


def version_of(sent: dict[str, list[Any]], *conditions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return answer(suite(sent, pass_when=list(conditions), **more))["versions"][0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("operator", HOLDS)
@pytest.mark.parametrize("metric", ACTUAL)
def test_every_metric_and_operator(metric: str, operator: str) -> None:
    actual = ACTUAL[metric]
    bounds = (actual - 1e-6, actual + 1e-12, actual + 1e-6)
    version = version_of(MIXED, *[condition(metric, operator, bound) for bound in bounds])
    assert [one["holds"] for one in version["conditions"]] == list(HOLDS[operator])
    for one in version["conditions"]:
        assert (one["metric"], one["operator"], one["actual"]) == (metric, operator, near(actual))
    for bound, holds in zip(bounds, HOLDS[operator], strict=True):
        assert version_of(MIXED, condition(metric, operator, bound))["passed"] is holds


@pytest.mark.parametrize("operator", HOLDS)
@pytest.mark.parametrize("metric", ["score", "pass_rate"])
def test_nothing_holds_of_null(metric: str, operator: str) -> None:
    version = version_of({"a": scored(None)}, condition(metric, operator, 0))
    (one,) = version["conditions"]
    assert (one["actual"], one["holds"], one["straddles"], one["straddles_repeats"]) == (None, False, None, None)
    assert version["passed"] is False


def test_nothing_graded_never_passes() -> None:
    version = version_of({"a": scored(None)}, condition("failed", EQUAL, 0))
    assert ([one["holds"] for one in version["conditions"]], version["passed"]) == ([True], False)


def test_all_conditions_must_hold() -> None:
    holds, not_held = condition("passed", AT_LEAST, 2), condition("failed", EQUAL, 0)
    assert version_of(MIXED, holds)["passed"] is True
    assert version_of(MIXED, holds, not_held)["passed"] is False


def test_what_was_checked_by_default() -> None:
    default = [condition("failed", EQUAL, 0), condition("passed", AT_LEAST, 1)]
    strict = [condition("not_graded", EQUAL, 0), condition("missing", EQUAL, 0)]
    own = [condition("score", AT_LEAST, 0.5)]
    for sent, wanted in (
        ({}, default),
        ({"fail_on_not_graded": True}, default + strict),
        ({"pass_when": own}, own),
        ({"pass_when": own, "fail_on_not_graded": True}, own + strict),
    ):
        version = answer(suite({"a": scored(1)}, **sent))["versions"][0]
        assert [
            {name: one[name] for name in ("metric", "operator", "value")} for one in version["conditions"]
        ] == wanted
        assert version["passed"] is True


@pytest.mark.parametrize(
    ("sent", "passed"), [({"b": scored(None)}, False), ({"b": []}, False), ({"b": scored(None, 1)}, True)]
)
def test_whether_all_must_be_graded(sent: dict[str, list[Any]], passed: bool) -> None:
    both = {"a": scored(1)} | sent
    assert version_of(both, fail_on_not_graded=True)["passed"] is passed
    assert version_of(both)["passed"] is True


def test_what_straddles() -> None:
    sent = {"a": scored(1, 1, 0), "b": scored(1, 1, 1), "c": scored(1, 0, 0)}
    score = version_of(sent)["score"]
    (low, high), (rate_low, rate_high) = score["score_interval"], score["pass_rate_interval"]
    again_low, again_high = score["repeat_interval"]
    bounds = [low, high, low - 1e-6, high + 1e-6, again_low, again_high, again_low - 1e-6]
    version = version_of(sent, *[condition("score", AT_LEAST, bound) for bound in bounds])
    assert [one["straddles"] for one in version["conditions"]] == [True, True, False, False] + [
        low <= bound <= high for bound in bounds[4:]]  # fmt: skip
    assert [one["straddles_repeats"] for one in version["conditions"][4:]] == [True, True, False]
    rates = [rate_low, rate_high, rate_low - 1e-6, rate_high + 1e-6]
    version = version_of(sent, *[condition("pass_rate", AT_LEAST, bound) for bound in rates])
    assert [one["straddles"] for one in version["conditions"]] == [True, True, False, False]
    assert {one["straddles_repeats"] for one in version["conditions"]} == {None}
    counts = ("passed", "failed", "not_graded", "missing", "total")
    version = version_of(sent, *[condition(metric, AT_LEAST, 0) for metric in counts])
    assert {(one["straddles"], one["straddles_repeats"]) for one in version["conditions"]} == {(None, None)}


def test_the_suite_passes_where_all_but_the_baseline_do() -> None:
    good, bad = {"a": scored(1)}, {"a": scored(0)}
    for versions, more, passed in (
        ([good], {}, True),
        ([bad], {}, False),
        ([bad, good], {}, True),
        ([good, bad], {}, False),
        ([good, bad], {"baseline": "v2"}, True),
        ([bad, good, bad], {}, False),
        ([good, bad, good], {"baseline": "v2"}, True),
    ):
        assert answer(suite(*versions, **more))["passed"] is passed


# Warnings ----------------------------------------------------------------------------------------------------------

A = {"type": "contains", "expected": "a"}
B = {"type": "contains", "expected": "b"}

BROKEN = {"type": "regex", "pattern": "(", "id": "broken"}
JUDGED = {"type": "possible", "id": "can"}
NOBODY = JUDGED | {"judge": "nobody"}
WITHOUT_JUDGE = ["cases_not_graded", "judge_unavailable"]

WARNED: list[tuple[str, dict[str, list[Any]], dict[str, Any], list[str]]] = [
    ("all is well", {"a": scored(1, 0)}, {}, []),
    ("partly graded", {"a": scored(1, None)}, {}, ["partly_graded"]),
    ("a case left out", {"a": scored(1), "b": scored(None)}, {}, ["cases_not_graded"]),
    ("a case without runs", {"a": scored(1), "b": []}, {}, ["cases_missing"]),
    ("not at all", {"a": scored(None)}, {}, ["nothing_graded"]),
    ("torn", {"a": ["a", "a"]}, {"graders": [A, B]}, ["graders_disagree"]),
    ("torn once only", {"a": ["a", "ab"]}, {"graders": [A, B]}, []),
    ("not torn as all must", {"a": ["a", "a"]}, {"graders": [A, B], "combine": "all"}, []),
    ("a grader in error", {"a": ["a"], "b": scored(1)}, {"graders": [A, BROKEN]},
     ["cases_not_graded", "graders_in_error"]),
    ("a grader in error beside a failure", {"a": ["b"]}, {"graders": [A, BROKEN]},
     ["graders_in_error", "failed_beside_ungraded"]),
    ("no judge", {"a": ["a"], "b": scored(1)}, {"graders": [A, JUDGED]}, WITHOUT_JUDGE),
    ("no judge beside a failure", {"a": ["b"]}, {"graders": [A, JUDGED]},
     ["judge_unavailable", "failed_beside_ungraded"]),
    ("a judge that there is not", {"a": ["a"], "b": scored(1)}, {"graders": [A, NOBODY]},
     ["cases_not_graded", "graders_in_error"]),
    ("no data beside a failure", {"a": ["b"]}, {"graders": [A, {"type": "exact_match"}]}, ["failed_beside_ungraded"]),
    ("a reviewer beside a failure", {"a": ["b"]}, {"graders": [A, {"type": "review", "criteria": "x"}]},
     ["failed_beside_ungraded"]),
    ("one that is not active", {"a": ["b"]}, {"graders": [A, BROKEN | {"active": False}]}, []),
    ("repeats of outputs", {"a": scored(1)}, {"repeat": 5}, ["unused_repeat"]),
    ("as many repeats as outputs", {"a": scored(1, 1), "b": scored(0, 1)}, {"repeat": 2, "case_threshold": 0}, []),
    ("as many repeats as outputs of a case", {"a": scored(1, 1), "b": scored(1)}, {"repeat": 2}, ["unused_repeat"]),
    ("one repeat of them", {"a": scored(1)}, {"repeat": 1}, []),
    ("a writer of outputs", {"a": scored(1)}, {"generate": {"judge": "nobody"}}, ["unused_generate"]),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "more", "codes"), [row[1:] for row in WARNED], ids=[row[0] for row in WARNED])
def test_warnings(sent: dict[str, list[Any]], more: dict[str, Any], codes: list[str]) -> None:
    assert [one["code"] for one in answer(suite(sent, **more))["versions"][0]["warnings"]] == codes


def test_warnings_of_graders_say_how_many_where_and_why() -> None:
    got = answer(suite({"c": ["b", "a"], "d": ["b"]}, graders=[A, BROKEN]))["versions"][0]["warnings"]
    told = {one["code"]: one["detail"] for one in got}
    assert told["graders_in_error"].startswith(
        "3 runs were met by a grader in error, first of case 'c', grader 'broken'"
    )
    assert told["failed_beside_ungraded"].startswith("2 runs were counted as failed although a grader did not judge")
    assert all("missing )" in told[code] for code in ("graders_in_error", "failed_beside_ungraded"))
    lost = answer(suite({"c": ["a"]}, graders=[JUDGED]))["versions"][0]["warnings"]
    assert "1 run was left without a judge, first of case 'c', grader 'can': no judge is" in lost[1]["detail"]


OBJECTS: list[tuple[str, Any, list[Any], dict[str, Any], bool]] = [
    ("a text in an object", "a", [{"text": "a"}, {"text": "b"}], {}, True),
    ("one of them a text", "a", [{"text": "a"}, "b"], {}, False),
    ("an object meant as one", "a", [{"output": {"text": "a"}}], {}, False),
    ("an output in an object", "a", [{"output": "b"}], {}, False),
    ("objects compared with an object", {"text": "b"}, [{"text": "a"}], {}, False),
    ("a path into them", "a", [{"text": "b"}], {"graders": [{"type": "exact_match", "path": "$.text"}]}, False),
    ("objects that pass", "a", [{"text": "a"}], {"graders": [A]}, False),
    ("objects that are scores", "a", scored(0), {}, False),
    ("objects of which some pass", "a", [{"text": "a"}, {"text": "b"}, {"text": "b"}], {"graders": [A]}, False),
]


@pytest.mark.parametrize(
    ("expected", "runs", "more", "warned"), [row[1:] for row in OBJECTS], ids=[row[0] for row in OBJECTS]
)
def test_texts_sent_as_objects(expected: Any, runs: list[Any], more: dict[str, Any], warned: bool) -> None:
    body = suite({"c": runs}, **({"graders": [{"type": "exact_match"}]} | more))
    got = answer(body | {"cases": [{"id": "c", "expected": expected}]})["versions"][0]["warnings"]
    assert [one["code"] for one in got] == ["objects_for_text"] * warned


def test_what_is_given_back_as_it_came() -> None:
    body = suite({"a": scored(1)}, {"a": scored(1)}, name="n \u2713")
    sampling = {"temperature": 0.2, "top_k": 16, "max_output_tokens": None}
    body["versions"][0] |= {"model": "m", "sampling": sampling}
    got = answer(body)
    assert got["name"] == "n \u2713"
    assert [one["model"] for one in got["versions"]] == ["m", None]
    assert got["versions"][0]["sampling"] == sampling | {"top_p": None, "seed": None}
    assert got["versions"][1]["sampling"] is None
