"""What a run may be, and how it is graded."""

from typing import Any

import pytest

from service.config import Limits
from service.core.judging import Prompt
from service.judge.scripted import Scripted
from tests.suites.driving import EXACT, answer, case_of, runs_of, scored, suite

FORMS: list[tuple[str, Any, Any, str]] = [
    ("text", "Billing", "Billing", "passed"),
    ("another text", "billing", "Billing", "failed"),
    ("an empty text", "", "", "passed"),
    ("an object", {"label": "Billing", "n": 1}, {"n": 1.0, "label": "Billing"}, "passed"),
    ("an object with other keys", {"errors": [], "scores": 1}, {"errors": [], "scores": 1}, "passed"),
    ("an empty object", {}, {}, "passed"),
    ("a number", 5, 5.0, "passed"),
    ("true is not 1", True, 1, "failed"),
    ("null", None, None, "passed"),
    ("a list", [1, {"score": 2}], [1, {"score": 2}], "passed"),
    ("a wrapped text", {"output": "Billing"}, "Billing", "passed"),
    ("a wrapped null", {"output": None}, None, "passed"),
    ("a wrapped object with keys of a run", {"output": {"score": 2, "error": 1}}, {"error": 1, "score": 2}, "passed"),
    ("wrapped twice", {"output": {"output": "x"}}, {"output": "x"}, "passed"),
]


@pytest.mark.parametrize(("run", "expected", "status"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS])
def test_a_run_is_an_output(run: Any, expected: Any, status: str) -> None:
    (got,) = runs_of(run, graders=[EXACT | {"expected": expected}])
    assert (got["status"], got["score"], got["reason"]) == (status, float(status == "passed"), None)
    assert got["evaluations"][0]["evaluator"] == "exact_match"
    assert not {"output", "truncated"} & got.keys()


ERRORS: list[tuple[Any, str]] = [
    ("quota exceeded", "quota exceeded"),
    ({"code": 429, "message": "slow down"}, '{"code": 429, "message": "slow down"}'),
    (429, "429"),
    (None, "null"),
    ([], "[]"),
    ("", ""),
]


@pytest.mark.parametrize(("error", "told"), ERRORS)
def test_a_run_with_an_error_is_not_graded(error: Any, told: str) -> None:
    (got,) = runs_of({"error": error})
    assert got == {
        "status": "not_graded",
        "score": None,
        "reason": "run_failed",
        "explanation": told,
        "evaluations": [],
    }


def test_long_errors_are_cut() -> None:
    assert len(runs_of({"error": "x" * 10_000})[0]["explanation"]) <= 2_001


@pytest.mark.parametrize(
    ("score", "status"), [(0, "failed"), (0.5, "passed"), (0.4999999999, "passed"), (0.499, "failed"), (1, "passed")]
)
def test_a_run_graded_elsewhere(score: float, status: str) -> None:
    (got,) = runs_of({"score": score})
    assert (got["status"], got["score"], got["reason"], got["evaluations"]) == (status, score, None, [])


def test_runs_of_all_forms_beside_each_other() -> None:
    got = runs_of("a", {"score": 0.25}, {"error": "x"}, {"output": "b"}, None, graders=[EXACT | {"expected": "a"}])
    assert [one["status"] for one in got] == ["passed", "failed", "not_graded", "failed", "failed"]
    assert [one["score"] for one in got] == [1, 0.25, None, 0, 0]


def test_graders_need_not_be_there_where_nothing_is_to_be_graded() -> None:
    got = answer(suite({"a": scored(1, None)}, {"a": []}))
    assert got["summary"] == {"runs": 2, "evaluations": 0, "computed": 0, "deduplicated": 0}


# Graders -----------------------------------------------------------------------------------------------------------

HAS_A = {"type": "contains", "expected": "a"}
HAS_B = {"type": "contains", "expected": "b"}
NEAR = {"type": "levenshtein", "expected": "abcd"}

COMBINED: list[tuple[str, list[dict[str, Any]], dict[str, Any], float, str]] = [
    ("the mean", [HAS_A, HAS_B], {}, 0.5, "passed"),
    ("the mean under the threshold", [HAS_A, HAS_B, HAS_B], {}, 1 / 3, "failed"),
    ("the least", [HAS_A, HAS_B], {"combine": "all"}, 0, "failed"),
    ("the least of scores", [HAS_A, NEAR], {"combine": "all"}, 0.25, "failed"),
    ("weights", [HAS_A | {"weight": 3}, HAS_B], {}, 0.75, "passed"),
    ("weights change no least", [HAS_A | {"weight": 1e6}, HAS_B | {"weight": 1e-6}], {"combine": "all"}, 0, "failed"),
    ("an inactive one counts nowhere", [HAS_A, HAS_B | {"active": False}], {"combine": "all"}, 1, "passed"),
    ("negated", [HAS_A, HAS_B | {"negate": True}], {"combine": "all"}, 1, "passed"),
    ("the status of graders is not that of the run", [NEAR | {"threshold": 0.1}], {}, 0.25, "failed"),
    ("nor where they fail", [NEAR | {"threshold": 0.9}], {"case_threshold": 0.2}, 0.25, "passed"),
    ("nothing reaches less than 0", [HAS_B], {"case_threshold": 0}, 0, "passed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("graders", "more", "score", "status"), [row[1:] for row in COMBINED], ids=[row[0] for row in COMBINED]
)
def test_several_graders(graders: list[dict[str, Any]], more: dict[str, Any], score: float, status: str) -> None:
    (got,) = runs_of("a", graders=graders, **more)
    assert (got["status"], got["score"]) == (status, pytest.approx(score))


UNGRADED: list[tuple[str, list[dict[str, Any]], str, str | None, str]] = [
    ("a rule at fault", [{"type": "regex", "pattern": "("}], "error", "invalid_pattern", "missing )"),
    (
        "a rule at fault beside another",
        [HAS_A, {"type": "regex", "pattern": "("}],
        "error",
        "invalid_pattern",
        "missing )",
    ),
    ("nothing to compare with", [EXACT], "no_data", "missing_expected", "expected"),
    ("a path that selects nothing", [HAS_A | {"path": "$.x"}], "no_data", "no_match", "JSON"),
    ("a reviewer", [HAS_A, {"type": "review", "criteria": "Kind?"}], "pending", "review", "Kind?"),
    ("a caller", [{"type": "possible", "judge": "caller"}], "pending", "reply", "replies"),
    ("no judge", [HAS_A, {"type": "possible"}], "not_graded", "judge_unavailable", "no judge is configured"),
    ("no model", [{"type": "embedding_similarity", "expected": "b"}], "not_graded", "model_unavailable", "no model"),
    (
        "the worst of two",
        [{"type": "possible"}, {"type": "regex", "pattern": "("}],
        "error",
        "invalid_pattern",
        "missing )",
    ),
    ("nobody active", [HAS_A | {"active": False}], "skipped", None, "not active"),
]


@pytest.mark.parametrize(
    ("graders", "status", "reason", "said"), [row[1:] for row in UNGRADED], ids=[row[0] for row in UNGRADED]
)
def test_runs_that_cannot_be_graded(graders: list[dict[str, Any]], status: str, reason: str | None, said: str) -> None:
    got = answer(suite({"a": ["a", {"score": 1}], "b": ["a"]}, graders=graders))
    version = got["versions"][0]
    partly, not_at_all = version["cases"]
    for run in (partly["runs"][0], not_at_all["runs"][0]):
        assert (run["status"], run["score"], run["reason"]) == (status, None, reason)
        assert said in run["explanation"]
        assert len(run["evaluations"]) == len(graders)
    assert (partly["status"], partly["score"], partly["not_graded_runs"]) == ("passed", 1, 1)
    assert (not_at_all["status"], not_at_all["score"]) == ("not_graded", None)
    assert (version["score"]["not_graded"], version["score"]["failed"], version["passed"]) == (1, 0, True)


def test_what_failed_is_graded_whatever_else_there_is() -> None:
    """As an item is: it failed already."""
    (got,) = runs_of("a", graders=[HAS_B, {"type": "regex", "pattern": "("}])
    assert (got["status"], got["score"]) == ("failed", 0)


def test_a_case_may_have_graders_of_its_own() -> None:
    body = suite({"a": ["a"], "b": ["a"]}, graders=[HAS_A])
    body["cases"][1]["graders"] = [HAS_B, HAS_A | {"id": "mine"}]
    first, second = answer(body)["versions"][0]["cases"]
    assert [one["evaluator"] for one in first["runs"][0]["evaluations"]] == ["contains"]
    assert [one["evaluator"] for one in second["runs"][0]["evaluations"]] == ["contains", "contains-2", "mine"]
    assert (first["score"], second["score"]) == (1, pytest.approx(2 / 3))


def test_graders_see_what_the_case_has() -> None:
    body = suite({"a": ["Ann!"]}, graders=[
        {"type": "contains", "expected": "{{name}}"}, EXACT,
        {"type": "contains", "from": "input", "expected": "Who", "id": "i"},
        {"type": "contains", "from": "context", "expected": "page", "id": "c"},
        {"type": "contains", "from": "metadata", "path": "$.m", "expected": "meta", "id": "m"}])  # fmt: skip
    body["cases"][0] |= {"input": "Who?", "expected": "Ann!", "context": ["a page"], "variables": {"name": "Ann"},
                         "metadata": {"m": "meta"}}  # fmt: skip
    assert answer(body)["versions"][0]["cases"][0]["score"] == 1


def test_reviewers_grade_run_by_run() -> None:
    review = {"type": "review", "criteria": "Kind?", "id": "kind"}
    got = runs_of(
        {"output": "a", "grades": {"kind": {"score": 0.75, "reasoning": "mostly"}}},
        {"output": "a", "grades": {"kind": {"score": 0.25}}},
        "a",
        graders=[review],
    )
    assert [(one["status"], one["score"]) for one in got] == [("passed", 0.75), ("failed", 0.25), ("pending", None)]


def test_the_caller_judges_run_by_run() -> None:
    grader = {"type": "possible", "judge": "caller", "id": "can"}
    (waiting,) = runs_of("a", graders=[grader])
    prompts = waiting["evaluations"][0]["details"]["prompts"]
    (key,) = [one["key"] for one in prompts]
    replies = [{"can": {key: {"choice": letter, "reasons": "so"}}} for letter in "AB"]
    got = runs_of(*({"output": "a", "replies": one} for one in replies), "a", graders=[grader])
    assert [one["status"] for one in got[:2]] == ["failed", "passed"]
    assert (got[2]["status"], got[2]["reason"]) == ("pending", "reply")
    listed = runs_of({"output": "a", "replies": {"can": [{"choice": "B", "reasons": "so"}]}}, graders=[grader])
    assert listed[0]["score"] == 1


def test_own_vectors() -> None:
    similar = {"type": "embedding_similarity", "expected": "b", "expected_min": 0}
    (got,) = runs_of("a", graders=[similar], vectors={"a": [3, 4], "b": [4, 3]})
    assert got["score"] == pytest.approx(0.96)


def test_texts_are_echoed_in_full_on_request() -> None:
    long = "x" * 5_000
    for echo, size in (("cut", 2_000), ("full", 5_000)):
        (got,) = runs_of(long, graders=[HAS_A], echo=echo)
        assert len(got["evaluations"][0]["actual"]) == size


# Cases without outputs, without ids --------------------------------------------------------------------------------


def test_cases_without_ids_are_numbered() -> None:
    cases = [{"expected": 1}, {"id": "x", "expected": 2}, {"expected": 3}]
    versions = [{"version": "v", "outputs": {"1": [1], "3": [3], "x": [0]}}]
    got = answer({"cases": cases, "versions": versions, "graders": [EXACT]})["versions"][0]["cases"]
    assert [(one["id"], one["score"]) for one in got] == [("1", 1), ("x", 0), ("3", 1)]


@pytest.mark.parametrize("outputs", [{}, {"b": []}])
def test_cases_without_outputs_are_missing(outputs: dict[str, list[Any]]) -> None:
    body = suite({"a": scored(1)} | outputs) | {"cases": [{"id": "a"}, {"id": "b"}]}
    version = answer(body)["versions"][0]
    score = version["score"]
    assert [score[one] for one in ("total", "missing", "not_graded", "passed")] == [1, 1, 0, 1]
    missing = version["cases"][1]
    assert (missing["status"], missing["score"], missing["runs"]) == ("missing", None, [])
    assert version["passed"] is True
    assert answer(body | {"fail_on_not_graded": True})["versions"][0]["passed"] is False


def test_a_version_without_any_output_does_not_pass() -> None:
    version = answer(suite({}) | {"cases": [{"id": "a"}]})["versions"][0]
    score: Any = {"score": None, "pass_rate": None, "total": 0, "passed": 0, "failed": 0, "not_graded": 0, "missing": 1,
             "score_interval": None, "pass_rate_interval": None, "repeat_interval": None, "pass_at_k": [],
             "pass_hat_k": []}  # fmt: skip
    assert (version["score"], version["passed"]) == (score, False)
    assert [one["code"] for one in version["warnings"]] == ["nothing_graded"]


# Each distinct judgement once --------------------------------------------------------------------------------------


def test_rules_judge_equal_outputs_once() -> None:
    got = answer(suite({"a": ["x"] * 5}, {"a": ["x", "x", "y"]}, graders=[HAS_A, HAS_B]))
    assert got["summary"] == {"runs": 8, "evaluations": 16, "computed": 4, "deduplicated": 12}


def test_a_judge_is_asked_anew_for_each_repeat_and_once_for_a_repeat_of_two_versions() -> None:
    def speak(prompt: Prompt) -> dict[str, str]:
        return {"choice": "B" if prompt.slot.startswith("1/") else "A", "reasons": prompt.slot}

    judges = Scripted(speak)
    body = suite({"a": ["x"] * 3}, {"a": ["x", {"error": 1}, "x", "x"]}, graders=[{"type": "possible"}])
    got = answer(body, judges=judges)
    assert len(judges.asked) == 4
    assert len({prompt.slot for _, prompt in judges.asked}) == 4
    assert got["summary"]["judge"]["default"]["calls"] == 4
    assert got["summary"] | {"judge": None} == {
        "runs": 7, "evaluations": 6, "computed": 4, "deduplicated": 2, "judge": None}  # fmt: skip
    scores = [[one["score"] for one in version["cases"][0]["runs"]] for version in got["versions"]]
    assert scores == [[1, 0, 0], [1, None, 0, 0]]


def test_votes_are_asked_in_each_repeat() -> None:
    judges = Scripted(lambda _: {"choice": "B", "reasons": "so"})
    answer(suite({"a": ["x", "x"]}, graders=[{"type": "possible", "samples": 3}]), judges=judges)
    assert len({prompt.slot for _, prompt in judges.asked}) == len(judges.asked) == 6


def test_a_judge_that_fails_harms_one_run() -> None:
    judges = Scripted([{"choice": "B", "reasons": "so"}])
    got = answer(suite({"a": ["x", "x"]}, graders=[{"type": "possible"}]), judges=judges)["versions"][0]
    assert [one["reason"] for one in got["cases"][0]["runs"]] == [None, "judge_unavailable"]
    assert [one["code"] for one in got["warnings"]] == ["judge_unavailable", "partly_graded"]


def test_calls_of_judges_are_limited() -> None:
    judges = Scripted(lambda _: {"choice": "B", "reasons": "so"})
    body = suite({"a": ["x"] * 5}, graders=[{"type": "possible"}])
    got = answer(body, Limits(judge_calls=2), judges)["versions"][0]["cases"][0]["runs"]
    assert [one["reason"] for one in got] == [None, None] + ["budget_exceeded"] * 3


def test_the_means_of_a_case_and_of_a_version_leave_out_what_was_not_graded() -> None:
    case = case_of(1, None, 0.5)
    assert (case["score"], case["graded_runs"], case["not_graded_runs"]) == (0.75, 2, 1)


# Grades and replies that nobody reads ------------------------------------------------------------------------------

REVIEW = {"type": "review", "id": "r", "criteria": "x"}
BY_CALLER = {"type": "possible", "id": "p", "judge": "caller"}
BY_JUDGE = BY_CALLER | {"judge": "default"}
REPLY = {"choice": "B", "reasons": "so"}
UNREAD: list[tuple[str, list[dict[str, Any]], dict[str, Any], list[str]]] = [
    ("read", [REVIEW, BY_CALLER], {"grades": {"r": {"score": 1}}, "replies": {"p": [REPLY]}}, []),
    ("another judge", [BY_JUDGE], {"replies": {"p": [REPLY]}}, ["unused_replies"]),
    ("a rule", [HAS_A | {"id": "p"}], {"replies": {"p": [REPLY]}}, ["unused_replies"]),
    ("a grade for a judge", [BY_CALLER], {"grades": {"p": {"score": 1}}}, ["unused_grades"]),
    ("one of two", [REVIEW, BY_JUDGE], {"grades": {"r": {"score": 1}, "p": {"score": 0}}}, ["unused_grades"]),
    ("both", [HAS_A | {"id": "p"}], {"grades": {"p": {"score": 1}}, "replies": {"p": []}}, ["unused_grades", "unused_replies"]),
]  # fmt: skip


@pytest.mark.parametrize("own", [False, True], ids=["of the suite", "of the case"])
@pytest.mark.parametrize(("graders", "given", "codes"), [row[1:] for row in UNREAD], ids=[row[0] for row in UNREAD])
def test_what_nobody_reads_is_told(
    graders: list[dict[str, Any]], given: dict[str, Any], codes: list[str], own: bool
) -> None:
    bearing = {"output": "a"} | given
    body = suite({"c": ["a"], "d": ["b", bearing, bearing]}, {"c": ["a"]})
    for case in body["cases"]:
        case["graders"] = graders if own else []
    got = answer(body | {"graders": [] if own else graders}, judges=Scripted(lambda _: REPLY))
    told = [one for one in got["versions"][0]["warnings"] if one["code"].startswith("unused")]
    assert [one["code"] for one in told] == codes
    assert all("read: 2, first" in one["detail"] and "'d'" in one["detail"] for one in told)
    assert not [one for one in got["versions"][1]["warnings"] if one["code"].startswith("unused")]
