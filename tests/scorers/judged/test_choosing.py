"""Judges that pick a label: votes, ties, both orders, other scores, and replies that are no verdict."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.judging import NoReply, Reply
from tests.scorers.judged.driving import judged

FACT: dict[str, Any] = {"type": "factuality"}
QA: dict[str, Any] = {"type": "closed_qa"}
BATTLE: dict[str, Any] = {"type": "battle"}
ITEM: dict[str, Any] = {"input": "q", "output": "o", "expected": "e"}

VOTES = [
    # name, rule, labels, status, score, reason
    ("one vote", FACT, "B", "passed", 0.6, None),
    ("two of three", QA, "YNY", "passed", 1.0, None),
    ("the most, though not half", FACT, "AABCD", "failed", 0.4, None),
    ("two against two", QA, "YNNY", "not_graded", None, "judge_tied"),
    ("a tie of labels with one score", FACT, "CE", "not_graded", None, "judge_tied"),
    ("a tie for the second place", FACT, "CCAB", "passed", 1.0, None),
    ("other scores", FACT | {"choice_scores": {"A": 0.5, "B": 0.5, "C": 1, "D": 0, "E": 1}}, "B", "passed", 0.5, None),
    ("scores for too few labels", FACT | {"choice_scores": {"A": 1}}, "B", "error", None, "invalid_params"),
    ("scores for an unknown label", QA | {"choice_scores": {"Y": 1, "N": 0, "X": 0}}, "Y", "error", None,
     "invalid_params"),
    ("negated", QA | {"negate": True}, "Y", "failed", 0.0, None),
    ("half of the votes readable", QA, "Y?", "passed", 1.0, None),
    ("under half", QA, "Y??", "not_graded", None, "judge_incomplete"),
    ("no vote readable", QA, "??", "not_graded", None, "judge_incomplete"),
    ("one vote that cannot be read", QA, "?", "not_graded", None, "judge_unparseable"),
    ("readable votes that are tied", QA, "YN?", "not_graded", None, "judge_tied"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "labels", "status", "score", "reason"), [row[1:] for row in VOTES],
                         ids=[row[0] for row in VOTES])  # fmt: skip
def test_votes(rule: Any, labels: str, status: str, score: float | None, reason: str | None) -> None:
    got = judged(rule | {"samples": len(labels)}, [{"choice": label} for label in labels], **ITEM)
    assert got.verdict == (status, score, reason)
    assert got.outcome.explanation
    if status != "error":
        assert len(got.details["votes"]) == len(labels) == got.details["calls"]


def test_each_vote_has_a_key_and_a_slot_of_its_own_and_all_are_asked_at_once() -> None:
    got = judged(QA | {"samples": 3, "temperature": 0.7}, [{"choice": "Y"}] * 3, **ITEM)
    assert len(got.needs) == 1
    assert got.keys == ["vote1", "vote2", "vote3"]
    assert [prompt.slot for prompt in got.prompts] == ["1", "2", "3"]
    assert len({(prompt.messages, prompt.temperature) for prompt in got.prompts}) == 1
    assert got.prompts[0].temperature == 0.7


def test_agreement_and_flips_are_told() -> None:
    got = judged(QA | {"samples": 3}, [{"choice": label} for label in "YNY"], **ITEM)
    assert got.details["agreement"] == pytest.approx(2 / 3)
    assert got.details["flip_rate"] == pytest.approx(2 / 3)
    assert got.details["votes"] == [{"choice": one, "score": score} for one, score in (("Y", 1), ("N", 0), ("Y", 1))]
    assert got.outcome.explanation == "2 of 3 votes for Y, score 1: the judge chose Y (score 1)"
    assert "agreement" not in judged(QA, [{"choice": "Y"}], **ITEM).details


def test_labels_that_differ_without_flipping_the_verdict() -> None:
    got = judged(FACT | {"samples": 3}, [{"choice": label} for label in "CCE"], **ITEM)
    assert (got.details["agreement"], got.details["flip_rate"]) == (pytest.approx(2 / 3), 0)


def test_details_of_one_vote() -> None:
    reply = Reply(fields={"reasons": "It fits.", "choice": "Y"}, model="m1")
    got = judged(QA | {"criteria": "short"}, [reply], input="q", output="o")
    assert got.details == {
        "choice": "Y",
        "choice_scores": {"Y": 1.0, "N": 0.0},
        "rationale": "It fits.",
        "votes": [{"choice": "Y", "score": 1.0}],
        "calls": 1,
        "model": "m1",
        "reading": "clean",
    }
    assert got.outcome.explanation == "the judge chose Y (score 1): It fits."


def test_raw_replies_on_request_also_where_there_is_no_verdict() -> None:
    rule = QA | {"include_replies": True, "samples": 2}
    got = judged(rule, ['```json\n{"choice": "Y"}\n```', {"choice": "y."}], **ITEM)
    assert got.details["replies"] == {"vote1": '```json\n{"choice": "Y"}\n```', "vote2": {"choice": "y."}}
    assert got.details["reading"] == "repaired"
    got = judged(rule, ["no idea", {"choice": "Z"}], **ITEM)
    assert got.details["replies"] == {"vote1": "no idea", "vote2": {"choice": "Z"}}
    assert [vote["reason"] for vote in got.details["votes"]] == ["judge_unparseable"] * 2


FAULTS = [
    (Reply(text='{"choice": "Y"', stop="truncated"), "judge_truncated"),
    (Reply(text="", stop="filtered"), "judge_filtered"),
    (Reply(text='{"choice": "Y"}', stop="refused"), "judge_refused"),
    (Reply(text='{"choice": "Y"} or {"choice": "N"}'), "judge_ambiguous"),
    (Reply(text='{"choice": "Maybe"}'), "judge_unparseable"),
    (Reply(text='{"reasons": "good"}'), "judge_unparseable"),
    (Reply(text="Y, I think"), "judge_unparseable"),
    (Reply(text="It is sound.\nY"), "judge_unparseable"),
    (Reply(fields=["Y"]), "judge_unparseable"),
    (Reply(text="Y", stop="truncated"), "judge_truncated"),
    (Reply(), "judge_unparseable"),
    (NoReply("judge_unavailable", "The judge is away"), "judge_unavailable"),
    (NoReply("deadline_exceeded", "Too late"), "deadline_exceeded"),
    (NoReply("budget_exceeded", "Too much"), "budget_exceeded"),
]


@pytest.mark.parametrize(("reply", "reason"), FAULTS)
def test_a_judge_that_fails_gives_no_score(reply: Reply | NoReply, reason: str) -> None:
    got = judged(QA, [reply], **ITEM)
    assert got.verdict == ("not_graded", None, reason)
    assert got.details["calls"] == isinstance(reply, Reply)
    assert got.details["reading"] is None


@pytest.mark.parametrize("reason", ["judge_unavailable", "deadline_exceeded", "budget_exceeded"])
def test_where_no_vote_was_answered_the_reason_is_kept(reason: Any) -> None:
    assert judged(QA | {"samples": 3}, [NoReply(reason, "no")] * 3, **ITEM).outcome.reason == reason
    mixed = [NoReply(reason, "no"), "?", "?"]
    assert judged(QA | {"samples": 3}, mixed, **ITEM).outcome.reason == "judge_incomplete"


SWAPS = [
    # name, type, given order, swapped order, status, score, flipped
    ("the output wins both", "battle", "Yes", "No", "passed", 1.0, False),
    ("the other wins both", "battle", "No", "Yes", "failed", 0.0, False),
    ("the first wins both", "battle", "Yes", "Yes", "passed", 0.5, True),
    ("the second wins both", "battle", "No", "No", "passed", 0.5, True),
    ("the output is the better summary", "summary", "B", "A", "passed", 1.0, False),
    ("A both times", "summary", "A", "A", "passed", 0.5, True),
]


@pytest.mark.parametrize(("kind", "first", "second", "status", "score", "flipped"), [row[1:] for row in SWAPS],
                         ids=[row[0] for row in SWAPS])  # fmt: skip
def test_both_orders(kind: str, first: str, second: str, status: str, score: float, flipped: bool) -> None:
    script = {"vote1": {"choice": first}, "vote1.swap": {"choice": second}}
    got = judged({"type": kind, "swap": True}, script, **ITEM)
    assert got.verdict == (status, score, None)
    assert (got.details["flipped"], got.details["calls"]) == (flipped, 2)
    assert len(got.needs) == 1
    assert got.details["choice"] == (None if flipped else first)


def test_the_two_change_places() -> None:
    script = {"vote1": {"choice": "Yes"}, "vote1.swap": {"choice": "No"}}
    got = judged(BATTLE | {"swap": True}, script, input="task", output="mine", expected="theirs")
    first, second = (prompt.messages[1].content for prompt in got.prompts)
    assert first.index("mine") < first.index("theirs")
    assert second.index("theirs") < second.index("mine")


def test_votes_in_both_orders() -> None:
    replies = ["Yes", "No", "Yes", "Yes", "No", "No"]
    got = judged(BATTLE | {"swap": True, "samples": 3}, [{"choice": one} for one in replies], **ITEM)
    assert got.keys == ["vote1", "vote1.swap", "vote2", "vote2.swap", "vote3", "vote3.swap"]
    assert (got.outcome.score, got.details["flipped"], got.details["agreement"]) == (0.5, True, pytest.approx(2 / 3))
    assert got.outcome.explanation.startswith("2 of 3 votes for no choice that held in both orders, score 0.5: ")
    assert got.details["votes"][1] == {"choice": None, "choices": ["Yes", "No"], "score": 0.5}


def test_one_order_unreadable_is_no_vote() -> None:
    got = judged(BATTLE | {"swap": True}, [{"choice": "Yes"}, "?"], **ITEM)
    assert got.verdict == ("not_graded", None, "judge_unparseable")


MISSING = [
    ({"type": "factuality"}, {"output": "o", "input": "q"}, "missing_expected"),
    ({"type": "factuality"}, {"output": "o", "input": "q", "expected": None}, "missing_expected"),
    ({"type": "factuality"}, {"output": "o", "expected": "e"}, "missing_input"),
    ({"type": "battle"}, {"output": "o", "expected": "e", "input": None}, "missing_input"),
    ({"type": "sql"}, {"input": "q", "expected": "e"}, "no_output"),
    ({"type": "possible"}, {"input": "q", "output": None}, "null_value"),
    ({"type": "possible"}, {"input": "q", "output": [{"name": "a", "value": None}]}, "null_value"),
    ({"type": "possible"}, {"input": [{"name": "q", "value": None}], "output": "o"}, "missing_input"),
    ({"type": "closed_qa"}, {"input": "q", "output": "o"}, "missing_criteria"),
    ({"type": "closed_qa"}, {"input": "q", "output": "o", "metadata": {"criteria": ""}}, "missing_criteria"),
    ({"type": "closed_qa"}, {"input": "q", "output": "o", "metadata": {"criteria": " \n"}}, "missing_criteria"),
    ({"type": "closed_qa"}, {"input": "q", "output": "o", "metadata": None, "expected": None}, "missing_criteria"),
    ({"type": "closed_qa", "criteria": "c"}, {"output": "o"}, "missing_input"),
]


@pytest.mark.parametrize(("rule", "item", "reason"), MISSING)
def test_what_is_missing_is_told_and_nobody_is_asked(rule: Any, item: Any, reason: str) -> None:
    got = judged(rule, **item)
    assert got.verdict == ("no_data", None, reason)
    assert got.prompts == []


CRITERIA = [
    ({"criteria": "own"}, {"metadata": {"criteria": "item"}, "expected": "e"}, ["own", "e"], ["item"]),
    ({}, {"metadata": {"criteria": "item"}}, ["item"], ["reference answer:"]),
    ({}, {"metadata": {"criteria": ["a", "b"]}}, ['["a", "b"]'], []),
    ({}, {"expected": "e"}, ["The reference answer: <"], ["The criterion:"]),
    ({}, {"metadata": {"criteria": "  "}, "expected": "e"}, ["The reference answer: <"], ["The criterion:"]),
]


@pytest.mark.parametrize(("rule", "item", "shown", "hidden"), CRITERIA)
def test_criteria(rule: Any, item: Any, shown: list[str], hidden: list[str]) -> None:
    got = judged(QA | rule, [{"choice": "Y"}], input="q", output="o", **item)
    text = got.prompts[0].messages[1].content
    assert [one for one in shown if one not in text] == []
    assert [one for one in hidden if one in text] == []


def test_equal_texts_are_factual_without_a_call() -> None:
    got = judged(FACT, input="q", output="same", expected="same")
    assert got.verdict == ("passed", 1.0, None)
    assert got.prompts == []
    assert (got.details["calls"], got.details["choice"], got.details["reading"]) == (0, "C", None)
    assert "no judge was asked" in got.outcome.explanation
    scores = {"A": 0, "B": 0, "C": 0.25, "D": 0, "E": 0}
    assert judged(FACT | {"choice_scores": scores}, input="q", output="same", expected="same").outcome.score == 0.25


def test_reasons_come_before_the_choice_or_are_not_asked_for() -> None:
    schema = judged(QA, [{"choice": "Y"}], **ITEM).prompts[0].schema
    assert list(schema["properties"]) == ["reasons", "choice"] == schema["required"]
    schema = judged(QA | {"use_cot": False}, [{"choice": "Y"}], **ITEM).prompts[0].schema
    assert list(schema["properties"]) == ["choice"] == schema["required"]
    assert schema["properties"]["choice"]["enum"] == ["Y", "N"]
    assert schema["additionalProperties"] is False


def test_each_picked_value_is_judged_and_all_are_asked_at_once() -> None:
    script = {"value1.vote1": {"choice": "Y"}, "value2.vote1": {"choice": "N"}}
    got = judged(QA | {"path": "$[*]", "criteria": "c"}, script, input="q", output=["a", "b"])
    assert got.verdict == ("failed", 0.0, None)
    assert len(got.needs) == 1


def test_named_values_show_as_their_values() -> None:
    one = [{"name": "answer", "value": "forty-two"}]
    two = [*one, {"name": "unit", "value": {"of": "none"}}]
    for output, shown in ((one, ">forty-two<"), (two, '>{"answer": "forty-two", "unit": {"of": "none"}}<'),
                          ([{"name": 1, "value": 2}], '>[{"name": 1, "value": 2}]<'), ([], ">[]<")):  # fmt: skip
        got = judged({"type": "possible"}, [{"choice": "B"}], input="q", output=output)
        assert shown in got.prompts[0].messages[1].content


REPORTED = [
    ("autoevals 28: a reply without usage is a reply", FACT, ['{"choice": "C"}'], 1.0),
    ("ragas 240: the majority decides", QA | {"samples": 3}, ['{"choice": "Y"}', '{"choice": "N"}', '{"choice": "Y"}'],
     1.0),
    ("inspect_ai 4912: a trailing comma is no part of a label", FACT, ['{"choice": "B,"}'], 0.6),
    ("mlflow 22674: a raw newline in a text", QA, ['{\n "reasons": "first\nsecond",\n "choice": "Y"}'], 1.0),
    ("opik 7402: the object that fits is the verdict", QA,
     ['Checking.\n```json\n{"city": "Turin"}\n```\nVerdict:\n```json\n{"choice": "N"}\n```'], 0.0),
    ("phoenix 12834: whoever comes first wins", BATTLE | {"swap": True}, [{"choice": "Yes"}] * 2, 0.5),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "replies", "score"), [row[1:] for row in REPORTED], ids=[row[0] for row in REPORTED])
def test_reported(rule: Any, replies: list[Any], score: float) -> None:
    assert judged(rule, replies, **ITEM).outcome.score == score


@pytest.mark.parametrize("text", ["B", " b.\n", "**B**", "choice: B", "Answer: (B)", "'B'", '"B"'])
def test_a_reply_that_is_nothing_but_a_label_is_the_choice(text: str) -> None:
    got = judged(FACT, [text], **ITEM)
    assert (got.verdict, got.details["choice"]) == (("passed", 0.6, None), "B")
    assert (got.details["reading"], got.details["rationale"]) == ("repaired", "")


TELLING = [
    ("CCE", "2 of 3 votes for C, score 1: "),
    ("CC?", "2 of 3 votes for C, 1 gave no verdict, score 1: "),
    ("B?", "1 of 2 votes for B, 1 gave no verdict, score 0.6: "),
    ("AB", "The votes are tied: 1 each for A and B"),
    ("AABBCCD", "The votes are tied: 2 each for A, B and C"),
]


@pytest.mark.parametrize(("labels", "told"), TELLING)
def test_votes_are_told_by_label(labels: str, told: str) -> None:
    got = judged(FACT | {"samples": len(labels)}, [{"choice": label} for label in labels], **ITEM)
    assert got.outcome.explanation.startswith(told)
    assert got.details["reading"] == (None if "?" in labels else "clean")


SCORES = [
    ({"Yess": 1, "No": 0}, "'Yess' is no label: did you mean 'Yes'?"),
    ({"Yes": 1, "No": 0, "Perhaps": 0.5}, "'Perhaps' is no label: they are Yes, No"),
    ({"Yes": 1}, "has no score for No: it has to give one to each of Yes, No"),
    ({}, "has no score for Yes, No"),
]


@pytest.mark.parametrize(("scores", "told"), SCORES)
def test_faulty_choice_scores_name_the_label(scores: dict[str, float], told: str) -> None:
    got = judged(BATTLE | {"choice_scores": scores}, **ITEM)
    assert got.outcome.reason == "invalid_params"
    assert told in got.outcome.explanation


def test_two_labels_are_not_one() -> None:
    assert judged(FACT, ['{"choice": "B,C"}'], **ITEM).outcome.reason == "judge_unparseable"


REPLIES = st.one_of(st.sampled_from(["Y", "N", "y", "(N)", "?"]).map(lambda label: {"choice": label}), st.text())


@given(st.lists(REPLIES, min_size=1, max_size=6))
def test_votes_in_any_order_give_the_same_score(replies: list[Any]) -> None:
    rule = QA | {"samples": len(replies)}
    one, other = judged(rule, replies, **ITEM), judged(rule, replies[::-1], **ITEM)
    assert one.outcome.score == other.outcome.score
    if len(replies) > 1:
        assert one.verdict == other.verdict
    if one.outcome.score is not None and len(one.details["votes"]) > 1:
        assert 0 <= one.details.get("agreement", 1) <= 1
        assert 0 <= one.details.get("flip_rate", 0) <= 1
