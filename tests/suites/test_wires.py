"""Generating over real connections: what the servers of models are sent, and what is made of their answers."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from service.judge.proxy import Proxy
from service.judge.settings import JudgeSettings
from tests.judge.serving import JudgeServer, chat, judging, spoken, told
from tests.suites.driving import EXACT, answer

Writer = Callable[..., Proxy]

SAMPLING = {"temperature": 0.3, "max_output_tokens": 40, "top_k": 5, "seed": 1}
BODY = {
    "cases": [{"id": "a", "input": "Who?", "expected": "Ann"}],
    "versions": [{"version": "v", "prompt": 'As {"name": ...}: {input}', "sampling": SAMPLING}],
    "graders": [EXACT],
    "generate": {},
}
MESSAGE = {"role": "user", "content": 'As {"name": ...}: Who?'}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judging() as running:
        yield running


@pytest.fixture
def writer(server: JudgeServer) -> Iterator[Writer]:
    made: list[Proxy] = []

    def proxy(**settings: Any) -> Proxy:
        own = {"kind": "openai", "base_url": server.url, "model": "m", "allow_generate": True} | settings
        made.append(Proxy({"default": msgspec.convert(own, JudgeSettings)}, {}))
        return made[-1]

    yield proxy
    for one in made:
        one.close()


def run_of(judges: Proxy) -> dict[str, Any]:
    (run,) = answer(BODY, judges=judges)["versions"][0]["cases"][0]["runs"]
    return run  # type: ignore[no-any-return]


def test_what_is_sent_to_openai(writer: Writer, server: JudgeServer) -> None:
    server.scripts["Who"] = [told(chat({"content": "Ann"}))]
    assert run_of(writer())["status"] == "passed"
    (asked,) = server.asked
    assert asked.json == {"model": "m", "messages": [MESSAGE], "temperature": 0.3, "max_tokens": 40}


def test_what_is_sent_to_servers_that_call_the_length_otherwise(writer: Writer, server: JudgeServer) -> None:
    server.scripts["Who"] = [told(chat({"content": "Ann"}))]
    run_of(writer(params={"max_completion_tokens": 1_000}))
    (asked,) = server.asked
    assert (asked.json["max_completion_tokens"], "max_tokens" in asked.json) == (40, False)


def test_what_is_sent_to_anthropic(writer: Writer, server: JudgeServer) -> None:
    server.scripts["Who"] = [told(spoken({"type": "text", "text": "Ann"}))]
    assert run_of(writer(kind="anthropic"))["status"] == "passed"
    (asked,) = server.asked
    assert asked.json == {"model": "m", "messages": [MESSAGE], "temperature": 0.3, "max_tokens": 40}


Made = tuple[str | None, str | None, bool]
"""The output, the reason why there is none, and whether it was cut."""

ANSWERS: list[tuple[str, str, Any, Made]] = [
    ("openai, cut", "openai", chat({"content": "An"}, "length"), ("An", None, True)),
    ("openai, cut while it thought", "openai", chat({}, "length"), (None, "judge_truncated", False)),
    ("openai, refused", "openai", chat({"refusal": "No."}), ("No.", None, False)),
    ("openai, filtered", "openai", chat({"content": "A"}, "content_filter"), (None, "judge_filtered", False)),
    ("openai, JSON", "openai", chat({"content": '{"name": "Ann"}'}), ('{"name": "Ann"}', None, False)),
    ("anthropic, cut", "anthropic", spoken({"type": "text", "text": "An"}, stop="max_tokens"), ("An", None, True)),
    ("anthropic, refused", "anthropic", spoken({"type": "text", "text": "No."}, stop="refusal"), ("No.", None, False)),
    ("http, a text", "http", b"Ann", ("Ann", None, False)),
    ("http, an object", "http", {"name": "Ann"}, ('{"name": "Ann"}', None, False)),
]


@pytest.mark.parametrize(("kind", "body", "made"), [row[1:] for row in ANSWERS], ids=[row[0] for row in ANSWERS])
def test_what_is_made_of_answers(kind: str, body: Any, made: Made, writer: Writer, server: JudgeServer) -> None:
    server.scripts["Who"] = [told(body)]
    run = run_of(writer(kind=kind))
    assert (run.get("output"), run["reason"], run.get("truncated", False)) == made


def test_a_server_that_fails_is_no_failure_of_the_prompt(writer: Writer, server: JudgeServer) -> None:
    server.scripts["Who"] = [told({"error": {"message": "bad key"}}, 401)]
    got = answer(BODY, judges=writer())["versions"][0]
    assert (got["score"]["not_graded"], got["score"]["failed"], got["passed"]) == (1, 0, False)
    assert got["cases"][0]["runs"][0]["reason"] == "judge_unavailable"


def test_calls_that_a_request_may_make(writer: Writer, server: JudgeServer) -> None:
    server.scripts["Who"] = [told(chat({"content": "Ann"})) for _ in range(3)]
    got = answer(BODY | {"repeat": 3}, judges=writer(max_calls=2))
    assert [run["reason"] for run in got["versions"][0]["cases"][0]["runs"]] == [None, None, "budget_exceeded"]
    assert got["summary"]["judge"]["default"] == {"calls": 2, "input_tokens": 20, "output_tokens": 6}


def test_what_a_request_writes_and_grades_is_spent_together(writer: Writer, server: JudgeServer) -> None:
    body = BODY | {"generate": {}, "graders": [{"type": "possible"}], "cases": [{"input": who} for who in ("A", "B")]}
    judges = writer(max_calls=3)
    answer(body, judges=judges)
    assert len(server.asked) == 3
    answer(body, judges=judges)
    assert len(server.asked) == 6
