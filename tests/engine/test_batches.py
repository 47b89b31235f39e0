"""What the engine promises about a batch, whatever its rules are."""

from itertools import product
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.config import Limits
from service.core.errors import Invalid, TooLarge
from service.core.evaluator import Verdict
from service.engine.batch import Batch, Item
from service.engine.naming import Names
from service.engine.run import Run
from service.scorers.text import Contains
from tests.judging import evaluation, results, verdict

PASS = {"type": "contains", "expected": "a"}
FAIL = {"type": "contains", "expected": "z"}
NO_DATA = {"type": "levenshtein"}
ERROR = {"type": "regex", "pattern": "("}
SKIPPED = {"type": "contains", "expected": "z", "active": False}


@pytest.mark.parametrize(
    ("rules", "ignore", "status"),
    [
        ([PASS], False, "passed"),
        ([PASS, FAIL], False, "failed"),
        ([PASS, ERROR], False, "error"),
        ([PASS, NO_DATA], False, "no_data"),
        ([PASS, SKIPPED], False, "passed"),
        ([SKIPPED], False, "skipped"),
        ([ERROR, NO_DATA], False, "error"),
        ([FAIL, ERROR, NO_DATA], False, "failed"),
        ([PASS, NO_DATA], True, "passed"),
        ([PASS, NO_DATA, ERROR], True, "error"),
        ([NO_DATA], True, "no_data"),
        ([FAIL, NO_DATA], True, "failed"),
        ([SKIPPED, NO_DATA], True, "no_data"),
        ([], False, "skipped"),
    ],
)
def test_an_item_is_as_bad_as_its_worst_evaluation(rules: list[dict[str, Any]], ignore: bool, status: str) -> None:
    items = [{"output": "a", "evaluators": rules}, {"output": "a", "evaluators": [PASS]}]
    answer = results({"items": items, "ignore_not_graded": ignore})
    assert [one["status"] for one in answer["results"]] == [status, "passed"]


def test_only_graded_evaluations_count_in_an_items_score_by_weight() -> None:
    rules = [PASS | {"weight": 2}, FAIL, NO_DATA, ERROR, SKIPPED]
    only = results({"items": [{"output": "a"}], "evaluators": rules})["results"][0]
    assert only["score"] == pytest.approx(2 / 3)
    assert [one["score"] for one in only["evaluations"]] == [1.0, 0.0, None, None, None]


def test_the_summary_shares_one_denominator() -> None:
    items = [{"output": "a"}, {"output": "b"}, {}, {"output": "a"}]
    summary = results({"items": items, "evaluators": [PASS | {"id": "p"}]})["summary"]
    low, high = summary.pop("pass_rate_interval")
    assert 0.2 < low < 2 / 3 < high < 1
    tally = {"passed": 2, "failed": 1, "error": 0, "pending": 0, "not_graded": 0, "no_data": 1, "skipped": 0,
             "score": 2 / 3, "pass_rate": 2 / 3}  # fmt: skip
    per_evaluator = summary.pop("evaluators")["p"]
    assert per_evaluator.pop("pass_rate_interval") == [low, high]
    assert per_evaluator == tally
    assert summary == tally | {"items": 4, "evaluations": 4, "computed": 3, "deduplicated": 1}


def test_nothing_graded_is_null_and_never_zero() -> None:
    summary = results({"items": [{}], "evaluators": [PASS]})["summary"]
    assert (summary["score"], summary["pass_rate"], summary["pass_rate_interval"]) == (None, None, None)


@pytest.mark.parametrize(
    ("shared", "own", "ids"),
    [
        ([None, None, None], [], ["contains", "contains-2", "contains-3"]),
        ([None, "contains-2", None], [], ["contains", "contains-2", "contains-3"]),
        (["contains", None], [], ["contains", "contains-2"]),
        ([None], [None, None], ["contains", "contains-2", "contains-3"]),
        ([None], ["contains"], ["contains-2", "contains"]),
        (["x"], ["y", None], ["x", "y", "contains"]),
    ],
)
def test_rules_without_an_id_are_named(shared: list[str | None], own: list[str | None], ids: list[str]) -> None:
    item = {"output": "a", "evaluators": [PASS | {"id": name} for name in own]}
    answer = results({"items": [item], "evaluators": [PASS | {"id": name} for name in shared]})
    assert [one["evaluator"] for one in answer["results"][0]["evaluations"]] == ids


def test_items_and_evaluations_keep_their_order() -> None:
    items = [{"id": f"i{n}", "output": "a" * (n % 3)} for n in range(50)]
    items[7]["evaluators"] = [{"type": "length", "min": 1, "id": "own"}]
    answer = results({"items": items, "evaluators": [PASS, FAIL]})
    assert [one["id"] for one in answer["results"]] == [f"i{n}" for n in range(50)]
    assert [one["evaluator"] for one in answer["results"][7]["evaluations"]] == ["contains", "contains-2", "own"]


VALUES = [1, 1.0, True, "1", "true", None, 0, -0.0, [1], ["1"], {"a": 1, "b": 2}, {"b": 2, "a": 1}, "", [], {}]
RULES = [
    {"type": "exact_match"},
    {"type": "exact_match", "id": "again", "label": "the same rule by another name", "weight": 3},
    {"type": "json_diff"},
    {"type": "levenshtein"},
    {"type": "contains", "expected": "1"},
    {"type": "valid_json", "allow_scalars": True},
    {"type": "string_comparison", "operator": "equals", "expected": "1"},
]


def test_what_is_deduplicated_is_what_would_have_been_computed() -> None:
    """Every pair of values that Python takes for equal but JSON does not is in one batch here."""
    items = [{"output": output, "expected": expected} for output, expected in product(VALUES, VALUES)]
    together = results({"items": items, "evaluators": RULES})
    for item, result in zip(items, together["results"], strict=True):
        alone = results({"items": [item], "evaluators": RULES})["results"][0]
        assert result["evaluations"] == alone["evaluations"], item
    assert together["summary"]["computed"] + together["summary"]["deduplicated"] == len(items) * len(RULES)


def test_equal_rules_under_two_names_are_computed_once() -> None:
    rules = [PASS | {"id": name, "label": name, "weight": weight} for name, weight in (("x", 1), ("y", 2))]
    summary = results({"items": [{"output": "a", "evaluators": [PASS]}] * 5, "evaluators": rules})["summary"]
    assert (summary["evaluations"], summary["computed"], summary["deduplicated"]) == (15, 1, 14)


@given(st.lists(st.sampled_from(["a", "b", "", None, 1, [1], {"a": 1}]), min_size=1, max_size=12), st.randoms())
def test_the_order_of_items_changes_nothing_but_the_order(outputs: list[Any], random: Any) -> None:
    rules = [PASS, {"type": "length", "max": 3}, {"type": "valid_json"}]
    items = [{"id": str(n), "output": output} for n, output in enumerate(outputs)]
    shuffled = random.sample(items, len(items))
    one = {result["id"]: result for result in results({"items": items, "evaluators": rules})["results"]}
    other = {result["id"]: result for result in results({"items": shuffled, "evaluators": rules})["results"]}
    assert one == other


class Expiring(Contains, frozen=True):
    """Ends the time of its run when it meets the text "end"."""

    runs: ClassVar[list[Run]] = []

    def judge(self, value: Any, expected: Any) -> Verdict:
        if value == "end":
            self.runs[-1].deadline = 0
        return super().judge(value, expected)


def test_past_the_deadline_nothing_is_computed_and_what_is_done_is_returned() -> None:
    items = [Item(output=text) for text in ("a", "b", "end", "c", "a")]
    batch = Batch(items=items, evaluators=[Expiring(expected="a"), Contains(expected="a")])
    run = Run(batch, Names(batch), Limits(), float("inf"))
    Expiring.runs.append(run)
    statuses = [[one.status for one in result.evaluations] for results in run.results() for result in results]
    late = ["not_graded", "not_graded"]
    assert statuses == [
        ["passed", "passed"],
        ["failed", "failed"],
        ["failed", "not_graded"],
        late,
        ["passed", "passed"],
    ]
    counts = run.counts()
    summary = run.summing.summary(counts.computed, counts.deduplicated)
    assert (summary.computed, summary.deduplicated, summary.not_graded) == (5, 2, 1)


def test_a_deadline_that_has_passed_on_arrival_is_kept() -> None:
    batch = Batch(items=[Item(output="a")], evaluators=[Contains(expected="a")])
    run = Run(batch, Names(batch), Limits(), 0)
    (result,) = [result for results in run.results() for result in results]
    only = result.evaluations[0]
    assert (only.status, only.reason, only.score) == ("not_graded", "deadline_exceeded", None)
    assert "deadline_ms" in only.explanation


def test_a_rule_that_times_out_five_times_is_given_up_and_others_go_on() -> None:
    slow = {"type": "regex", "pattern": "^(a|aa)+(?!x)$\\1", "id": "slow"}
    items = [{"output": "a" * 40 + "!" * n} for n in range(1, 9)]
    summary = results({"items": items, "evaluators": [slow, PASS | {"id": "quick"}]})["summary"]
    assert summary["evaluators"]["slow"]["error"] == 8
    assert summary["evaluators"]["quick"]["passed"] == 8


def test_a_faulty_rule_is_an_error_of_its_own_even_where_there_is_nothing_to_judge() -> None:
    assert verdict(ERROR) == ("error", None, "invalid_pattern")
    assert verdict(PASS) == ("no_data", None, "no_output")


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"items": [{"id": "x"}, {"id": "x"}], "evaluators": [PASS]}, "/items/1/id", "duplicate_id"),
        ({"items": [{"id": "2"}, {}], "evaluators": [PASS]}, "/items/1/id", "duplicate_id"),
        ({"items": [{}], "evaluators": [PASS | {"id": "x"}] * 2}, "/evaluators/1/id", "duplicate_id"),
        (
            {"items": [{"evaluators": [PASS | {"id": "x"}]}], "evaluators": [PASS | {"id": "x"}]},
            "/items/0/evaluators/0/id",
            "duplicate_id",
        ),
        ({"items": [{}]}, "/evaluators", "no_evaluator"),
        ({"items": [], "evaluators": [PASS]}, "/items", "too_short_or_long"),
        ({"items": [{"grades": {"nope": {"score": 1}}}], "evaluators": [PASS]}, "/items/0/grades/nope", "unknown_id"),
        ({"items": [{"replies": {"a/b": []}}], "evaluators": [PASS]}, "/items/0/replies/a~1b", "unknown_id"),
        ({"items": [{}], "evaluators": [PASS], "deadline_ms": 600_001}, "/deadline_ms", "limit_exceeded"),
        ({"items": [{}] * 10_001, "evaluators": [PASS]}, "/items", "limit_exceeded"),
        ({"items": [{}], "evaluators": [PASS] * 101}, "/evaluators", "limit_exceeded"),
        ({"items": [{"evaluators": [PASS] * 60}], "evaluators": [PASS] * 60}, "/items/0/evaluators", "limit_exceeded"),
        ({"items": [{}] * 2_100, "evaluators": [PASS] * 100}, "/items", "limit_exceeded"),
        ({"items": [{"output": "x" * 1_000_001}], "evaluators": [PASS]}, "/items/0/output", "limit_exceeded"),
        (
            {"items": [{"output": {"a/b": ["x" * 1_000_001]}}], "evaluators": [PASS]},
            "/items/0/output/a~1b/0",
            "limit_exceeded",
        ),
    ],
)
def test_what_only_the_whole_request_shows(body: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(Invalid) as caught:
        results(body)
    assert [(fault.pointer, fault.code) for fault in caught.value.faults] == [(pointer, code)]


def test_long_texts_are_cut_and_named_unless_echo_is_full() -> None:
    long = "a" * 5_000
    rule = {"type": "exact_match", "expected": "b" * 3_000}
    cut = results({"items": [{"output": long}], "evaluators": [rule]})["results"][0]["evaluations"][0]
    assert (len(cut["actual"]), len(cut["expected"]), cut["details"]["truncated"]) == (
        2000,
        2000,
        ["actual", "expected"],
    )
    assert len(cut["explanation"]) < 1000
    full = results({"items": [{"output": long}], "evaluators": [rule], "echo": "full"})["results"][0]["evaluations"][0]
    assert (full["actual"], len(full["expected"])) == (long, 3000)
    assert "truncated" not in full["details"]


def test_a_long_object_is_shown_as_the_beginning_of_its_text() -> None:
    got = evaluation({"type": "valid_json"}, output={"a": "x" * 3000})
    assert got["actual"].startswith('{"a": "xxx')
    assert len(got["actual"]) == 2000


def test_an_answer_over_the_limit_is_refused_while_it_grows() -> None:
    body = {"items": [{"output": "a" * 500_000 + str(n)} for n in range(20)], "evaluators": [PASS], "echo": "full"}
    with pytest.raises(TooLarge, match="response_bytes"):
        results(body, Limits(response_bytes=1_000_000))


class Broken(Contains, frozen=True):
    """Fails in a way nobody foresaw."""

    def judge(self, value: Any, expected: Any) -> Verdict:
        raise ZeroDivisionError("secret text")


def test_an_unforeseen_failure_is_an_error_of_that_evaluation_alone(caplog: pytest.LogCaptureFixture) -> None:
    batch = Batch(items=[Item(output="a"), Item(output="b")], evaluators=[Broken(expected="a"), Contains(expected="a")])
    run = Run(batch, Names(batch), Limits(), float("inf"))
    statuses = [
        [(one.status, one.reason) for one in result.evaluations] for results in run.results() for result in results
    ]
    broken = ("error", "internal")
    assert statuses == [[broken, ("passed", None)], [broken, ("failed", None)]]
    assert len(caplog.records) == 1
