"""Replies of judges that callers hand in: which are asked for, and what is said of those that are not."""

from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.config import Limits
from service.core.judging import JudgeInfo
from service.engine.batch import Batch
from service.engine.validating import validating
from tests.judging import drain, results

CHOICE = {"choice": "A", "reasons": "less"}
FACTS = {"type": "factuality", "id": "r", "judge": "caller"}
VOTES = FACTS | {"samples": 2}
BATTLE = {"type": "battle", "id": "r", "judge": "caller"}
TRUE = {"type": "faithfulness", "id": "r", "judge": "caller"}
GUESS = {"type": "answer_relevancy", "id": "r", "judge": "caller", "strictness": 2}
SEVERAL = FACTS | {"path": "$[*]"}
ITEM = {"input": "When?", "output": "At nine.", "expected": "At nine sharp.", "context": ["Opens at nine."]}
TWO = ITEM | {"output": ["At nine.", "At ten."]}
MODERATOR = {"type": "moderation", "id": "r", "judge": "caller"}

Row = tuple[str, dict[str, Any], dict[str, Any], Any, list[str]]

STRAY: list[Row] = [
    # name, rule, item, replies, what is said of each that nobody asked for
    ("a bare reply object", FACTS, ITEM, CHOICE, ["'choice' is asked for by nobody: known are vote1", "'reasons' is"]),
    ("a misspelt key", TRUE, ITEM, {"statments": {}}, ["'statments' is asked for by nobody: did you mean 'statements'"]),
    ("an old name", FACTS, ITEM, {"vote_1": CHOICE}, ["did you mean 'vote1'"]),
    ("a vote too many", VOTES, ITEM, {"vote1": CHOICE, "vote3": CHOICE}, ["'vote3' is asked for by nobody"]),
    ("an order that is not asked", BATTLE, ITEM, {"vote1.swap": CHOICE}, ["'vote1.swap' is asked for by nobody"]),
    ("a guess too many", GUESS, ITEM, {"q3": {}}, ["'q3' is asked for by nobody"]),
    ("of one value, where there are several", SEVERAL, TWO, {"vote1": CHOICE}, ["known are value1.vote1"]),
    ("of several values, where there is one", FACTS, ITEM, {"value1.vote1": CHOICE}, ["known are vote1"]),
    ("a whole answer of /moderations", MODERATOR, ITEM, {"results": [{}]}, ["'results' is asked for by nobody"]),
]  # fmt: skip
FINE: list[Row] = [
    ("of a later step", TRUE, ITEM, {"verdicts": {"faithfulness": []}}, []),
    ("of a later step, as a list", TRUE | {"samples": 2}, ITEM, [{"statements": ["a"]}], []),
    ("some of the votes", VOTES, ITEM, {"vote2": CHOICE}, []),
    ("both orders", BATTLE | {"swap": True}, ITEM, {"vote1.swap": {"choice": "No"}}, []),
    ("of one of several values", SEVERAL, TWO, {"value2.vote1": CHOICE}, []),
    ("none", FACTS, ITEM, {}, []),
]


def pending(rule: dict[str, Any], item: dict[str, Any], replies: Any) -> str:
    answer = results({"items": [item | {"replies": {"r": replies}}], "evaluators": [rule]})
    ((got,),) = [one["evaluations"] for one in answer["results"]]
    assert (got["status"], got["reason"]) == ("pending", "reply")
    return str(got["explanation"])


def warnings(rule: dict[str, Any], item: dict[str, Any], replies: Any) -> dict[str, str]:
    body = {"items": [item | {"replies": {"r": replies}}], "evaluators": [rule]}
    caller = {"caller": JudgeInfo(name="caller", kind="caller", model=None)}
    told = drain(validating(msgspec.convert(body, Batch), Limits(), caller, perf_counter(), 100))
    assert told.valid
    return {fault.pointer: fault.detail for fault in told.warnings}


@pytest.mark.parametrize(("rule", "item", "replies", "told"), [row[1:] for row in STRAY + FINE],
                         ids=[row[0] for row in STRAY + FINE])  # fmt: skip
def test_what_nobody_asked_for_is_named(rule: Any, item: Any, replies: Any, told: list[str]) -> None:
    explanation = pending(rule, item, replies)
    assert [one for one in told if one not in explanation] == []
    assert ("asked for by nobody" in explanation) == bool(told)


@pytest.mark.parametrize(("rule", "item", "replies", "told"), [row[1:] for row in STRAY + FINE],
                         ids=[row[0] for row in STRAY + FINE])  # fmt: skip
def test_validation_warns_of_what_nobody_asks_for(rule: Any, item: Any, replies: Any, told: list[str]) -> None:
    if rule is SEVERAL:  # how many values there are shows when it is run
        told = []
    found = warnings(rule, item, replies)
    assert len(found) == len(told)
    assert all(pointer.startswith("/items/0/replies/r/") for pointer in found)
    assert all(want in detail for want, detail in zip(told, found.values(), strict=True))


def test_surplus_entries_of_a_list_are_warned_of() -> None:
    assert warnings(TRUE, ITEM, [{"statements": []}, {}, {}]) == {
        "/items/0/replies/r/2": "Reply 3 of the list is asked for by nobody: there are 2 at most"
    }
    assert warnings(TRUE, ITEM, [{"statements": []}, {}]) == {}


def test_an_equal_vote_that_needs_no_judge_leaves_its_replies_unread() -> None:
    item = ITEM | {"output": "At nine sharp.", "replies": {"r": {"vote1": CHOICE}}}
    answer = results({"items": [item], "evaluators": [FACTS]})
    assert answer["results"][0]["status"] == "passed"
    assert warnings(FACTS, ITEM | {"output": "At nine sharp."}, {"vote1": CHOICE}) == {}


def test_few_of_many_are_named() -> None:
    explanation = pending(FACTS, ITEM, {f"answer {number}": CHOICE for number in range(100)})
    assert explanation.count("is asked for by nobody") == 5
    assert len(explanation) < 1000


@pytest.mark.parametrize("body", [
    {"id": "m", "model": "watch-1", "results": [{"flagged": True, "category_scores": {"hate": 0.9}}]},
    '{"results": [{"flagged": true, "category_scores": {"hate": 0.9}, "categories": {"hate": true}}]}',
])  # fmt: skip
def test_a_whole_answer_of_moderations_is_read(body: Any) -> None:
    answer = results({"items": [ITEM | {"replies": {"r": {"vote1": body}}}], "evaluators": [MODERATOR]})
    assert answer["results"][0]["evaluations"][0]["score"] == 0.0


def test_of_several_moderations_none_is_taken() -> None:
    body = {"results": [{"flagged": False}, {"flagged": True}]}
    answer = results({"items": [ITEM | {"replies": {"r": {"vote1": body}}}], "evaluators": [MODERATOR]})
    assert answer["results"][0]["evaluations"][0]["reason"] == "judge_unparseable"
