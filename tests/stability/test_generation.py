"""Queries without responses: a judge answers them."""

from typing import Any

import msgspec
import pytest

from service.config import Limits
from service.core.judging import JudgeInfo, NoReply, Prompt, Reply
from service.engine.stability.wire import PromptMetrics
from service.judge.scripted import Line, Scripted
from tests.engine.test_inquiries import Scripted as Embedder
from tests.stability.asking import Body, asked, codes, measured, refused

WRITER = JudgeInfo(name="default", kind="openai", model="m", allow_generate=True)


def writing(script: Any) -> Scripted:
    return Scripted(script, judges=[WRITER])


def written(judges: Scripted, **more: Any) -> Body:
    body = {"queries": [{"query": "Where?"}], "generate": {"k": 3}} | more
    return measured(body, embedder=Embedder(), judges=judges)  # type: ignore[no-any-return]


def test_only_queries_without_responses_are_answered() -> None:
    judges = writing(f"answer {number}" for number in range(99))
    queries = [{"query": "Where?"}, asked([[1, 0]]), {"query": "When?"}]
    session = written(judges, queries=queries, seed_prompt="Be brief.", context="Bern")
    one, given, other = session["interactions"]
    assert (one["responses"], other["responses"]) == (
        [f"answer {n}" for n in (0, 1, 2)],
        [f"answer {n}" for n in (3, 4, 5)],
    )
    assert "responses" not in given
    assert (one["k"], given["k"], session["k"]) == (3, 1, None)
    prompts = [prompt for _, prompt in judges.asked]
    assert len({prompt.slot for prompt in prompts}) == 6
    assert {(prompt.temperature, prompt.max_output_tokens) for prompt in prompts} == {(0.7, None)}
    assert [(message.role, message.content) for message in prompts[0].messages] == [
        ("system", "Be brief.\n\nBern"),
        ("user", "Where?"),
    ]
    assert session["summary"]["judge"]["default"]["calls"] == 6


CHATS = [
    ({}, {}, [("user", "Where?")]),
    ({"seed_prompt": "P"}, {}, [("system", "P"), ("user", "Where?")]),
    ({"seed_prompt": "P", "context": "C"}, {"context": ["A", "B"]}, [("system", "P\n\nA\n\nB"), ("user", "Where?")]),
    ({"context": "C"}, {}, [("system", "C"), ("user", "Where?")]),
]


@pytest.mark.parametrize(("request_", "query", "chat"), CHATS)
def test_what_the_writer_sees(request_: Body, query: Body, chat: list[tuple[str, str]]) -> None:
    judges = writing(["a", "b", "c"])
    written(judges, queries=[{"query": "Where?"} | query], **request_)
    assert [(message.role, message.content) for message in judges.asked[0][1].messages] == chat


def test_settings_are_sent_and_temperature_zero_is_told() -> None:
    judges = writing(["a", "a"])
    session = written(judges, generate={"k": 2, "temperature": 0, "max_output_tokens": 9})
    assert {(prompt.temperature, prompt.max_output_tokens) for _, prompt in judges.asked} == {(0, 9)}
    assert codes(session["interactions"][0]) == ["low_k", "identical_responses", "temperature_zero"]
    given = measured({"queries": [asked([[1]])], "generate": {"temperature": 0}}, judges=judges)
    assert codes(given["interactions"][0]) == ["low_k"]


def test_reasoning_cut_refused_and_missing_texts() -> None:
    lines: list[Line] = [
        Reply(text="<think>x</think>a"),
        Reply(text="ab", stop="truncated"),
        Reply(text="I cannot help with that.", stop="refused"),
        Reply(text="", stop="filtered"),
        NoReply("judge_unavailable", "down"),
    ]
    one = written(writing(lines), generate={"k": 5})["interactions"][0]
    assert (one["k"], one["failed"], one["stripped"]) == (3, 2, 1)
    assert one["responses"][:3] == ["<think>x</think>a", "ab", "I cannot help with that."]
    assert [list(response) for response in one["responses"][3:]] == [["error"]] * 2
    assert one["responses"][4] == {"error": "judge_unavailable: down"}
    assert {"failed_responses", "truncated_responses"} <= set(codes(one))


def test_nothing_written_is_null() -> None:
    one = written(writing([]))["interactions"][0]
    assert (one["k"], one["failed"], one["csr"]) == (0, 3, None)
    assert codes(one) == ["failed_responses", "no_responses"]


def test_written_responses_are_rated_within_the_same_account() -> None:
    def speak(prompt: Prompt) -> Line:
        return {"score": 0.5} if prompt.schema else "a"

    session = written(writing(speak), jq={"objective": "x"}, constraints=[{"type": "contains", "expected": "a"}])
    assert (session["jq"], session["icr"]) == (0.5, 1.0)
    assert session["summary"]["judge"]["default"]["calls"] == 6
    body = {"queries": [{"query": "q"}], "generate": {"k": 3}, "jq": {"objective": "x"}}
    few = measured(body, Limits(judge_calls=4), Embedder(), writing(speak))["interactions"][0]
    assert (few["k"], few["jq_detail"]["graded"], few["jq_detail"]["failed"]) == (3, 1, 2)


BY_WRITER = [
    ({"queries": [{}]}, "/queries/0/query", "missing_field"),
    ({"queries": [{"query": " "}]}, "/queries/0/query", "missing_field"),
    ({"queries": [{"query": "q", "reference_embedding": [1]}]}, "/queries/0/responses", "invalid_embedding"),
    ({"queries": [{"query": "q", "reference_embedding": [1], "embeddings": []}]}, "/queries/0/responses", "invalid_embedding"),
    ({"queries": [{"query": "q", "embeddings": [[1]]}]}, "/queries/0/embeddings", "invalid_embedding"),
    ({"queries": [{"query": "q", "replies": [1]}]}, "/queries/0/replies", "misaligned"),
    ({"queries": [{"query": "q"}] * 51, "generate": {"k": 100}}, "/generate/k", "limit_exceeded"),
    ({"queries": [{"query": "q"}], "seed_prompt": "x" * 900_000, "generate": {"k": 40}}, "/generate/k", "limit_exceeded"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "pointer", "code"), BY_WRITER)
def test_what_cannot_be_written_is_refused(body: Body, pointer: str, code: str) -> None:
    assert refused({"generate": {}} | body, judges=writing([])) == [(pointer, code)]


def test_more_writing_than_items_or_calls_is_refused_before_it_begins() -> None:
    nobody = writing([])
    body = {"queries": [{"query": "q"}] * 2 + [asked([[1]])], "generate": {"k": 3}}
    for limits, pointers in (
        (Limits(judge_calls=5), ["/generate/k"]),
        (Limits(items=6), ["/queries"]),
        (Limits(judge_calls=5, items=6), ["/queries", "/generate/k"]),
    ):
        assert refused(body, limits, nobody) == [(pointer, "limit_exceeded") for pointer in pointers]
    assert nobody.asked == []
    assert measured(body, Limits(judge_calls=6, items=7), Embedder(), writing(["a"] * 6))["k"] is None


def test_what_is_written_comes_to_no_more_than_a_body_may_hold() -> None:
    judges = writing(lambda _: "é" * 50)
    one = measured({"queries": [{"query": "q"}], "generate": {"k": 100}}, Limits(body_bytes=1_000), Embedder(), judges)[
        "interactions"
    ][0]
    assert (one["k"], one["failed"], len(one["responses"])) == (10, 90, 100)
    assert "body_bytes" in one["responses"][10]["error"]
    assert "failed_responses" in codes(one)
    assert len(judges.asked) < 100


def test_own_vectors_are_not_looked_up_for_what_is_written() -> None:
    session = written(writing(["a", "b", "c"]), vectors={"a": [1, 2, 3]})
    assert session["model"] == "scripted"


def test_texts_to_be_written_count_towards_those_that_are_embedded() -> None:
    for query in ({}, {"embeddings": []}, {"ground_truth_assistant": "r"}):
        body = {"queries": [{"query": "q"} | query], "generate": {"k": 3}}
        most = 3 + len(query.keys() & {"ground_truth_assistant"})
        assert refused(body, Limits(texts=most - 1), writing([])) == [("/queries", "limit_exceeded")]
        assert measured(body, Limits(texts=most), Embedder(), writing("abc"))["k"] == 3


def test_a_vector_of_the_reference_may_be_another_querys() -> None:
    queries = [{"query": "q", "ground_truth_assistant": "r"}, {"responses": ["s"], "ground_truth_assistant": "r"}]
    embedder = Embedder()
    session = measured(
        {"queries": queries, "vectors": {"r": [0, 0, 1], "s": [0, 1, 0]}, "generate": {"k": 2}},
        embedder=embedder,
        judges=writing(["r", "r"]),
    )
    assert [one["rss"] for one in session["interactions"]] == [1, 0]
    assert embedder.asked == [["r"]]


def test_ten_are_written_unless_it_is_said_otherwise() -> None:
    request = msgspec.convert({"queries": [{"query": "q"}], "generate": {}}, PromptMetrics)
    assert request.generate is not None
    assert (request.generate.k, request.generate.temperature, request.generate.judge) == (10, 0.7, "default")
