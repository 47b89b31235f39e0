"""Judgements in several steps: faithfulness, relevancy, correctness."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.judging import NoReply
from service.scorers.judged.coverage import covered
from tests.scorers.judged.driving import Seen, judged

FAITH = {"type": "faithfulness"}
CONTEXT = {"type": "context_relevancy"}
ANSWER = {"type": "answer_relevancy"}
CORRECT = {"type": "answer_correctness"}
RAG: dict[str, Any] = {"input": "q", "output": "o", "context": ["c"]}
VECTORS = {"q": [1.0, 0.0], "same": [1.0, 0.0], "near": [0.8, 0.6], "far": [0.0, 1.0], "o": [1.0, 0.0], "e": [0.8, 0.6]}


def verdicts(*found: Any) -> dict[str, Any]:
    return {"faithfulness": [{"statement": f"s{n}", "verdict": one, "reason": "r"} for n, one in enumerate(found)]}


FAITHFUL = [
    # name, statements, verdicts, score, reason
    ("all", ["a", "b"], verdicts(1, 1), 1.0, None),
    ("one of three", ["a", "b", "c"], verdicts(0, 1, 0), 1 / 3, None),
    ("as booleans and texts", ["a", "b", "c", "d"], verdicts(True, False, "1", "true"), 0.75, None),
    ("no statements", [], None, None, "undetermined"),
    ("blank statements", ["", "  "], None, None, "undetermined"),
    ("fewer verdicts", ["a", "b"], verdicts(1), None, "judge_incomplete"),
    ("more verdicts", ["a"], verdicts(1, 0), None, "judge_incomplete"),
    ("no verdicts", ["a"], verdicts(), None, "judge_incomplete"),
    ("a verdict of 2", ["a", "b"], verdicts(2, 0), None, "judge_unparseable"),
    ("an undecided verdict", ["x", "y", "z"], verdicts(1, None, 0), None, "judge_unparseable"),
    ("other keys", ["x"], {"verdicts": [1]}, None, "judge_unparseable"),
    ("no judge for the second step", ["x"], NoReply("judge_unavailable", "away"), None, "judge_unavailable"),
]


@pytest.mark.parametrize(("statements", "second", "score", "reason"), [row[1:] for row in FAITHFUL],
                         ids=[row[0] for row in FAITHFUL])  # fmt: skip
def test_faithfulness(statements: list[str], second: Any, score: float | None, reason: str | None) -> None:
    got = judged(FAITH, {"statements": {"statements": statements}, "verdicts": second}, **RAG)
    assert got.outcome.score == (None if score is None else pytest.approx(score))
    assert got.outcome.reason == reason
    assert got.keys == (["statements"] if second is None else ["statements", "verdicts"])


def test_the_statements_are_kept_with_their_verdicts() -> None:
    got = judged(FAITH, [{"statements": ["a", "b"]}, verdicts(1, 0)], **RAG)
    assert got.details["statements"] == [
        {"statement": "a", "verdict": 1, "reason": "r"},
        {"statement": "b", "verdict": 0, "reason": "r"},
    ]
    assert got.outcome.explanation == "the context bears out 1 of 2 statements"
    second = got.prompts[1].messages[1].content
    assert '>["a", "b"]<' in second
    assert ">c<" in second


def test_votes_go_their_steps_side_by_side() -> None:
    script = {
        "statements": {"statements": ["a"]}, "verdicts": verdicts(1),
        "vote2.statements": {"statements": []},
        "vote3.statements": {"statements": ["a", "b"]}, "vote3.verdicts": verdicts(0, 1),
    }  # fmt: skip
    got = judged(FAITH | {"samples": 3}, script, **RAG)
    assert [[prompt.key for prompt in need.prompts] for need in got.needs] == [
        ["statements", "vote2.statements", "vote3.statements"],
        ["verdicts", "vote3.verdicts"],
    ]
    assert [prompt.slot for prompt in got.prompts] == ["1", "2", "3", "1", "3"]
    assert got.outcome.score == 0.75
    assert got.details["votes"] == [
        {"score": 1.0},
        {"reason": "undetermined", "explanation": "The output makes no claims that could be checked"},
        {"score": 0.5},
    ]


def test_no_claims_in_any_vote_are_undetermined() -> None:
    got = judged(FAITH | {"samples": 2}, [{"statements": []}] * 2, **RAG)
    assert got.verdict == ("not_graded", None, "undetermined")


MISSING = [
    (FAITH, {"input": "q", "output": "o"}, "missing_context"),
    (FAITH, {"input": "q", "output": "o", "context": None}, "missing_context"),
    (FAITH, {"input": "q", "output": "o", "context": []}, "missing_context"),
    (FAITH, {"input": "q", "output": "o", "context": ["", " "]}, "missing_context"),
    (FAITH, {"output": "o", "context": "c"}, "missing_input"),
    (FAITH, {"input": "q", "context": "c"}, "no_output"),
    (CONTEXT, {"input": "q", "output": "o"}, "missing_context"),
    (CONTEXT, {"input": "q", "output": "o", "context": ""}, "missing_context"),
    (CONTEXT, {"input": "q", "output": "o", "context": []}, "missing_context"),
    (CONTEXT, {"output": "o", "context": "c"}, "missing_input"),
    (ANSWER, {"output": "o", "context": "c"}, "missing_input"),
    (ANSWER | {"on_missing_context": "no_data"}, {"input": "q", "output": "o"}, "missing_context"),
    (CORRECT, {"input": "q", "output": "o"}, "missing_expected"),
    (CORRECT, {"output": "o", "expected": "e"}, "missing_input"),
]


@pytest.mark.parametrize(("rule", "item", "reason"), MISSING)
def test_what_is_missing_is_told_and_nobody_is_asked(rule: Any, item: Any, reason: str) -> None:
    got = judged(rule, **item)
    assert got.verdict == ("no_data", None, reason)
    assert got.needs == []


def sentences(*texts: str) -> dict[str, Any]:
    return {"sentences": [{"sentence": text, "reasons": ["r"]} for text in texts]}


RELEVANT = [
    ("half", "red kite, no sun", sentences("red kite"), 0.5),
    ("nothing", "The harbour is busy.", sentences(), 0.0),
    ("twice the same", "red kite, no sun", sentences("red kite", "red kite"), 0.5),
    ("overlapping", "abcd", sentences("abc", "bcd"), 1.0),
    ("in two passages", ["ab", "xab"], sentences("ab"), 0.8),
    ("invented", "Bread is cheap.", sentences("The kite is red."), 0.0),
    ("blank", "ab", sentences("", " "), 0.0),
    ("with blanks around", "ab", sentences(" ab\n"), 1.0),
    ("all of all passages", ["a b", "c"], sentences("a b", "c"), 1.0),
]


@pytest.mark.parametrize(("context", "reply", "score"), [row[1:] for row in RELEVANT], ids=[row[0] for row in RELEVANT])
def test_context_relevancy(context: Any, reply: Any, score: float) -> None:
    got = judged(CONTEXT, {"sentences": reply}, input="q", context=context)
    assert got.outcome.score == pytest.approx(score)
    assert got.outcome.actual == context


def test_an_invented_sentence_is_told() -> None:
    got = judged(CONTEXT, {"sentences": sentences("ab", "zz")}, input="q", context="abc")
    assert (got.details["sentences"], got.details["not_in_context"]) == (["ab", "zz"], ["zz"])


def test_a_flood_of_sentences_is_no_verdict() -> None:
    got = judged(CONTEXT, {"sentences": sentences(*map(str, range(1_001)))}, input="q", context="abc")
    assert got.verdict == ("not_graded", None, "judge_unparseable")


def test_passages_can_be_picked_from_elsewhere() -> None:
    item: dict[str, Any] = {"input": "q", "output": {"hits": [{"text": "ab"}, {"text": "cd"}]}}
    rule = CONTEXT | {"from": "output", "path": "$.hits[*].text", "values": "any"}
    script = {"value1.sentences": sentences("ab"), "value2.sentences": sentences()}
    assert judged(rule, script, **item).outcome.score == 1.0


@given(st.lists(st.text("ab ", max_size=6), max_size=5), st.lists(st.text("ab ", max_size=12), min_size=1, max_size=3))
def test_coverage_counts_each_character_once_and_more_quotations_never_cover_less(
    quotations: list[str], passages: list[str]
) -> None:
    found = covered(quotations, passages)
    assert 0 <= found.characters <= found.total == sum(map(len, passages))
    assert covered([*quotations, *quotations], passages) == found
    assert covered([*quotations, "ab"], passages).characters >= found.characters
    assert found.absent == [
        text for text in dict.fromkeys(filter(None, map(str.strip, quotations))) if text not in "|".join(passages)
    ]


def guess(question: str, noncommittal: Any = 0) -> dict[str, Any]:
    return {"question": question, "noncommittal": noncommittal}


GUESSES = [
    ("the mean, rescaled", [guess("same"), guess("near"), guess("far")], (1 + 1 / 3 + 0) / 3),
    ("all the same", [guess("near")] * 3, 1 / 3),
    ("one noncommittal", [guess("same"), guess("near", 1), guess("same")], (1 + 1 / 3 + 1) / 3),
    ("all noncommittal", [guess("same", True)] * 3, 0.0),
    ("noncommittal as a text", [guess("same", "0")] * 3, 1.0),
]


@pytest.mark.parametrize(("replies", "score"), [row[1:] for row in GUESSES], ids=[row[0] for row in GUESSES])
def test_answer_relevancy(replies: Any, score: float) -> None:
    got = judged(ANSWER, replies, VECTORS, **RAG)
    assert got.outcome.score == pytest.approx(score)
    assert got.keys == ["q1", "q2", "q3"]
    assert len({prompt.messages for prompt in got.prompts}) == 1
    assert len({prompt.slot for prompt in got.prompts}) == 3


def test_questions_are_asked_for_in_slots_that_no_vote_shares() -> None:
    got = judged(ANSWER | {"samples": 2, "strictness": 2}, lambda _: guess("same"), VECTORS, **RAG)
    assert got.keys == ["q1", "q2", "vote2.q1", "vote2.q2"]
    assert len({prompt.slot for prompt in got.prompts}) == 4
    assert got.needs[1].vectors == ("same", "q")


def test_without_a_context_the_score_is_zero_and_nobody_is_asked() -> None:
    got = judged(ANSWER, input="q", output="o")
    assert got.verdict == ("failed", 0.0, None)
    assert (got.needs, got.details["calls"]) == ([], 0)
    assert "on_missing_context" in got.outcome.explanation


@pytest.mark.parametrize("context", [[], "", [""]])
def test_an_empty_context_is_one_here(context: Any) -> None:
    got = judged(ANSWER, lambda _: guess("same"), VECTORS, input="q", output="o", context=context)
    assert got.outcome.score == 1.0


def test_all_noncommittal_needs_no_vectors() -> None:
    assert judged(ANSWER, lambda _: guess("unknown", 1), **RAG).verdict == ("failed", 0.0, None)


def classes(right: int, wrong: int, missing: int) -> dict[str, Any]:
    return {"TP": ["t"] * right, "FP": ["f"] * wrong, "FN": ["n"] * missing}


CORRECTNESS = [
    ("both", {}, classes(2, 1, 1), 0.75 * 2 / 3 + 0.25 / 3, None),
    ("no claims on either side", {}, classes(0, 0, 0), 0.75 + 0.25 / 3, None),
    ("weights need not sum to one", {"factuality_weight": 3, "answer_similarity_weight": 1}, classes(1, 1, 0),
     0.75 * 2 / 3 + 0.25 / 3, None),
    ("claims alone", {"answer_similarity_weight": 0}, classes(1, 0, 1), 2 / 3, None),
    ("similarity alone", {"factuality_weight": 0}, classes(1, 0, 1), 1 / 3, None),
    ("no weight at all", {"factuality_weight": 0, "answer_similarity_weight": 0}, classes(1, 0, 1), None,
     "invalid_params"),
    ("a text for a list", {}, {"TP": "one", "FP": [], "FN": []}, None, "judge_unparseable"),
    ("a list is missing", {}, {"TP": ["a"], "FP": []}, None, "judge_unparseable"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "reply", "score", "reason"), [row[1:] for row in CORRECTNESS],
                         ids=[row[0] for row in CORRECTNESS])  # fmt: skip
def test_answer_correctness(rule: Any, reply: Any, score: float | None, reason: str | None) -> None:
    got = judged(CORRECT | rule, {"classes": reply}, VECTORS, input="q", output="o", expected="e")
    assert got.outcome.score == (None if score is None else pytest.approx(score))
    assert got.outcome.reason == reason


def test_without_weight_the_similarity_is_not_asked_for() -> None:
    rule = CORRECT | {"answer_similarity_weight": 0}
    got = judged(rule, {"classes": classes(1, 0, 0)}, input="q", output="o", expected="e")
    assert [need.vectors for need in got.needs] == [()]


def test_the_context_is_shown_where_there_is_one() -> None:
    for context, is_shown in ((None, False), ("some context", True)):
        item = {"input": "q", "output": "o", "expected": "e", "context": context}
        got = judged(CORRECT, lambda _: classes(1, 0, 0), VECTORS, None, **item)
        assert ("The context:" in got.prompts[0].messages[1].content) == is_shown


def test_reasons_are_asked_for_unless_they_are_not_wanted() -> None:
    got = judged(FAITH | {"use_cot": False}, [{"statements": ["a"]}, verdicts(1)], **RAG)
    item = got.prompts[1].schema["properties"]["faithfulness"]["items"]
    assert list(item["properties"]) == item["required"] == ["statement", "verdict"]
    got = judged(CONTEXT | {"use_cot": False}, [sentences("c")], **RAG)
    assert list(got.prompts[0].schema["properties"]["sentences"]["items"]["properties"]) == ["sentence"]


def test_a_statement_without_a_verdict_of_its_own_is_none() -> None:
    def checked(*pairs: tuple[str, int]) -> Seen:
        found = [{"statement": text, "reason": "", "verdict": verdict} for text, verdict in pairs]
        return judged(
            FAITH, {"statements": {"statements": ["a", "b", "a"]}, "verdicts": {"faithfulness": found}}, **RAG
        )

    assert checked(("a", 1), ("a", 0), ("a", 1)).verdict == ("not_graded", None, "judge_incomplete")
    other_order = checked(("b", 0), ("a", 1), ("a", 0))
    assert [one["verdict"] for one in other_order.details["statements"]] == [1, 0, 0]
    assert checked(("A!", 1), ("B!", 0), ("a", 1)).outcome.score == pytest.approx(2 / 3)


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1.0, 1e6])
def test_weights_of_any_size_weigh_alike(weight: float) -> None:
    rule = CORRECT | {"factuality_weight": weight, "answer_similarity_weight": 0, "expected": "e"}
    got = judged(rule, {"classes": {"TP": ["a", "b"], "FP": ["c"], "FN": []}}, **RAG)
    assert got.outcome.score == pytest.approx(0.8)
