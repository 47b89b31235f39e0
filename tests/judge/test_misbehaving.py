"""What a judge's server may do, what becomes of the prompt, and that it stays with that prompt."""

import gzip
import itertools
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from service.core.judging import NoReply, Reply
from service.judge.retrying import TRIES
from tests.embedding.serving import Told
from tests.judge.conftest import KEY, Make, answers, prompt, soon
from tests.judge.serving import JSON, JudgeServer, called, chat, nobody, spoken, told, trickle

A = {"choice": "A", "reasons": "odd"}
B = {"choice": "B", "reasons": "odd"}
A_TEXT = '{"choice": "A", "reasons": "odd"}'
HTML = Told(200, b"<html>busy</html>", {"Content-Type": "text/html"})


class Case(NamedTuple):
    script: list[Told]
    outcome: Reply | str
    """The reply but for model and tokens, or a part of the sentence for judge_unavailable."""
    calls: int = 1


def failing(one: Told, outcome: str) -> Case:
    return Case([one] * 9, outcome, TRIES)


BY_STATUS = {
    "429 with Retry-After, then an answer": Case([told({}, 429, retry_after="7")], Reply(fields=A), 2),
    "429 time and again": Case([told({}, 429)] * 12, Reply(fields=A), 13),
    "429 for longer than there is time": Case([told({}, 429, retry_after="900")], "is overloaded (status 429)"),
    "429 and no quota": Case([told({"error": {"code": "insufficient_quota"}}, 429)], "no quota left"),
    "503 with Retry-After": Case([told({}, 503, retry_after="1")], Reply(fields=A), 2),
    "529": Case([told({}, 529)], Reply(fields=A), 2),
    "500, then an answer": Case([told({}, 500)], Reply(fields=A), 2),
    "503 twice, then an answer": Case([told({}, 503)] * 2, Reply(fields=A), 3),
    "500 for good": failing(told({}, 500), "failed (status 500)"),
    "401": Case([told({"error": f"{KEY} is wrong"}, 401)], "does not accept the service's key"),
    "413": Case([told({}, 413)], "it is too long"),
    "a redirect": Case([told({}, 307, location="/v1/elsewhere")], "redirects to another address"),
    "418": Case([told({}, 418)], "answered with status 418"),
}
BY_WIRE = {
    "HTML under 200": failing(HTML, "did not answer with JSON"),
    "HTML, then an answer": Case([HTML], Reply(fields=A), 2),
    "another content type": failing(Told(200, b"{}", {"Content-Type": "text/event-stream"}), "with JSON"),
    "no JSON": failing(told(b'{"choices": ['), "cannot be read as JSON"),
    "no UTF-8": failing(told(b'{"choices": "\xff"}'), "cannot be read as JSON"),
    "endless nesting": failing(told(b"[" * 100_000), "cannot be read as JSON"),
    "JSON that is no object": failing(told([1]), "no object"),
    "an error under 200": failing(told({"error": {"message": f"at 10.0.0.7 with {KEY}"}}), "an error in place"),
    "nothing": failing(told(b"", 204), "cannot be read as JSON"),
    "cut before a byte": failing(Told(hang_up=True), "broke off the connection"),
    "cut in the middle": failing(Told(200, b"{", JSON | {"Content-Length": "99"}), "broke off the connection"),
    "cut, then an answer": Case([Told(hang_up=True)], Reply(fields=A), 2),
    "a gzip bomb": Case(
        [Told(200, gzip.compress(bytes(10_000_000)), JSON | {"Content-Encoding": "gzip"})], "compressed its answer"
    ),
    "an endless answer": Case(
        [Told(200, headers=JSON, chunks=itertools.repeat(b" " * 50_000))], "more than 1,048,576 bytes"
    ),
    "empty choices": failing(told(chat({}, choices=[])), "without a choice"),
    "null choices": failing(told(chat({}, choices=None)), "without a choice"),
    "choices that are none": failing(told(chat({}, choices=[None, "a"])), "without a choice"),
}
BY_REPLY = {
    "a refusal": Case([told(chat({"refusal": "I won't."}))], Reply(text="I won't.", stop="refused")),
    "a content filter": Case([told(chat({}, "content_filter"))], Reply(stop="filtered")),
    "a content filter before the model": Case(
        [told({"error": {"code": "content_filter", "message": "no"}}, 400)], Reply(stop="filtered")
    ),
    "a length stop": Case(
        [told(chat({"content": '{"choice": "A'}, "length"))], Reply(text='{"choice": "A', stop="truncated")
    ),
    "a length stop before a word": Case([told(chat({}, "length"))], Reply(stop="truncated")),
    "two tool calls": Case([told(chat(called(A, B)))], Reply(text=f"{A_TEXT}\n" + A_TEXT.replace("A", "B"))),
    "a tool call beside text": Case(
        [told(chat({"content": "Let me see."} | called(A)))], Reply(text="Let me see.", fields=A)
    ),
    "arguments that are no JSON": Case([told(chat(called("{choice: A")))], Reply(text="{choice: A")),
    "arguments that are an object": Case(
        [told(chat({"tool_calls": [{"function": {"arguments": A}}]}))], Reply(fields=A)
    ),
    "no tool calls": Case([told(chat({"content": A_TEXT, "tool_calls": []}))], Reply(text=A_TEXT, fields=A)),
    "null tool calls": Case([told(chat({"content": A_TEXT, "tool_calls": None}))], Reply(text=A_TEXT, fields=A)),
    "prose around JSON": Case([told(chat({"content": f"So: {A_TEXT}."}))], Reply(text=f"So: {A_TEXT}.")),
    "fenced JSON": Case([told(chat({"content": f"```json\n{A_TEXT}\n```"}))], Reply(text=f"```json\n{A_TEXT}\n```")),
    "another label": Case(
        [told(chat({"content": '{"choice": "Z"}'}))], Reply(text='{"choice": "Z"}', fields={"choice": "Z"})
    ),
    "NaN": Case([told(chat({"content": '{"score": NaN}'}))], Reply(text='{"score": NaN}')),
    "parts of text": Case(
        [told(chat({"content": [{"type": "text", "text": '{"choice": '}, {"type": "text", "text": '"B"}'}]}))],
        Reply(text='{"choice": "B"}', fields={"choice": "B"}),
    ),
    "half a surrogate pair": Case([told(chat({"content": "\ud83d!"}))], Reply(text="\ufffd!")),
    "no usage": Case([told(chat({"content": A_TEXT}, usage=None))], Reply(text=A_TEXT, fields=A)),
    "odd usage": Case(
        [told(chat({"content": A_TEXT}, usage={"prompt_tokens": -1, "completion_tokens": "9"}, model=7))],
        Reply(text=A_TEXT, fields=A),
    ),
    "its key told": Case([told(chat({"content": f"Bearer {KEY}"}))], Reply(text="Bearer [hidden]")),
}
CASES = BY_STATUS | BY_WIRE | BY_REPLY


def bare(reply: Any) -> Any:
    return (reply.text if reply.fields != A else None, reply.fields, reply.stop) if isinstance(reply, Reply) else reply


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_stays_with_the_prompt(
    case: Case, make: Make, server: JudgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.scripts["odd"] = list(case.script)
    before, odd, after = answers(make(), prompt("before"), prompt("odd"), prompt("after"))
    assert [one.fields["reasons"] for one in (before, after)] == ["before", "after"]
    assert len(server.calls("odd")) == case.calls
    if isinstance(case.outcome, Reply):
        assert bare(odd) == bare(case.outcome)
    else:
        assert isinstance(odd, NoReply)
        assert odd.reason == "judge_unavailable"
        assert odd.detail.startswith("The judge default ")
        assert case.outcome in odd.detail
        assert not {"127.0.0.1", "10.0.0.7"} & set(odd.detail.split())
    assert KEY not in caplog.text + repr(odd)


ANTHROPIC = {
    "text": (spoken({"type": "text", "text": "So: A"}), Reply(text="So: A")),
    "a tool beside text and thoughts": (
        spoken(
            {"type": "thinking", "thinking": "B?"}, {"type": "text", "text": "A."}, {"type": "tool_use", "input": A}
        ),
        Reply(text="A.", fields=A),
    ),
    "two tools": (
        spoken({"type": "tool_use", "input": A}, {"type": "tool_use", "input": B}, stop="tool_use"),
        Reply(text=f"{A_TEXT}\n{A_TEXT.replace('A', 'B')}".replace(": ", ":").replace(", ", ",")),
    ),
    "a length stop": (spoken({"type": "text", "text": "So"}, stop="max_tokens"), Reply(text="So", stop="truncated")),
    "a refusal": (spoken(stop="refusal"), Reply(stop="refused")),
    "no content": (spoken(), "without content"),
    "an error under 200": ({"type": "error", "error": {"type": "overloaded_error"}}, "an error in place"),
}


@pytest.mark.parametrize(("answer", "outcome"), ANTHROPIC.values(), ids=ANTHROPIC)
def test_of_kind_anthropic(answer: Any, outcome: Reply | str, make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told(answer)] * 9
    good, odd = answers(make(kind="anthropic"), prompt("good"), prompt("odd"))
    assert good.fields["reasons"] == "good"
    if isinstance(outcome, Reply):
        assert bare(odd) == bare(outcome)
    else:
        assert odd.reason == "judge_unavailable"
        assert outcome in odd.detail


OWN = {
    "an object": (told({"score": 0.4, "reasoning": "so"}), Reply(fields={"score": 0.4, "reasoning": "so"})),
    "a text": (told("Score: 0.4"), Reply(text="Score: 0.4")),
    "a number": (told(7), Reply(text="7")),
    "NaN": (told(b'{"score": NaN}'), Reply(text='{"score": NaN}')),
    "an error": (told({"error": "no GPU at 10.0.0.7"}), "an error in place"),
    "HTML": (HTML, "did not answer with JSON"),
}


@pytest.mark.parametrize(("answer", "outcome"), OWN.values(), ids=OWN)
def test_of_kind_http(answer: Told, outcome: Reply | str, make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [answer] * 9
    own = make(kind="http", model=None)
    good, odd = answers(own, prompt("good"), prompt("odd"))
    assert good.fields["reasons"] == "good"
    if isinstance(outcome, Reply):
        assert bare(odd) == bare(outcome)
    else:
        assert odd.reason == "judge_unavailable"
        assert outcome in odd.detail
        assert "10.0.0.7" not in odd.detail


SILENT: dict[str, Callable[[JudgeServer], Told]] = {
    "hangs": lambda _: Told(hold=True),
    "trickles": lambda server: Told(200, headers=JSON, chunks=trickle(server.released)),
}


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
def test_silence_ends_with_the_time_of_a_call(
    silent: Callable[[JudgeServer], Told], make: Make, server: JudgeServer
) -> None:
    server.scripts["odd"] = [silent(server) for _ in range(TRIES)]
    good, odd = answers(make(timeout_s=0.5), prompt("good"), prompt("odd"))
    assert good.fields["reasons"] == "good"
    assert odd == NoReply(
        "judge_unavailable", "The judge default did not answer within 0.5 s (timeout_s)", is_sent=True
    )
    assert len(server.calls("odd")) == TRIES


@pytest.mark.parametrize("silent", SILENT.values(), ids=SILENT)
def test_silence_ends_with_the_deadline(silent: Callable[[JudgeServer], Told], make: Make, server: JudgeServer) -> None:
    proxy = make()
    assert answers(proxy, prompt("good"))[0].fields
    server.scripts["odd"] = [silent(server)]
    good, odd = answers(proxy, prompt("good"), prompt("odd"), deadline=soon(2))
    assert good.fields["reasons"] == "good"
    assert odd == NoReply(
        "deadline_exceeded", "The judge default had not answered when the deadline passed", is_sent=True
    )
    assert len(server.calls("odd")) == 1


def test_nobody_is_there(make: Make, naps: list[float], caplog: pytest.LogCaptureFixture) -> None:
    (odd,) = answers(make(base_url=nobody()), prompt("odd"))
    refused = "the connection is refused, so that its server does not run, or not where its base_url says"
    assert odd == NoReply("judge_unavailable", f"The judge default cannot be reached: {refused}", is_sent=True)
    assert len(naps) == TRIES - 1


@pytest.mark.parametrize("host", ["a..b", "a" * 99])
def test_there_is_no_such_name(host: str, make: Make) -> None:
    (odd,) = answers(make(base_url=f"http://{host}/v1"), prompt("odd"))
    assert odd.reason == "judge_unavailable"
    assert "cannot be reached" in odd.detail


def test_a_judge_without_its_key_is_not_asked(server: JudgeServer, make: Make) -> None:
    proxy = make(api_key_env="ANOTHER_KEY")
    (odd,) = answers(proxy, prompt("odd"))
    assert "ANOTHER_KEY" in str(proxy.known["default"].fault)
    assert odd.reason == "judge_unavailable"
    assert "no key" in odd.detail
    assert server.asked == []
