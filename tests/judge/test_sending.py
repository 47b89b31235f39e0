"""What a judge's server is sent, and in which form it is asked for replies."""

import json
from pathlib import Path

import pytest

from service.core.judging import NoReply, Reply
from tests.embedding.serving import Told, certified
from tests.judge.conftest import KEY, SCHEMA, Make, answers, prompt, soon
from tests.judge.serving import JudgeServer, asked_for, chat, form_of, judging, told

FIELDS = {"choice": "A", "reasons": "one"}


def test_what_is_sent_to_openai(make: Make, server: JudgeServer) -> None:
    proxy = make(params={"seed": 1}, temperature=0.5, headers={"X-Team": "a"})
    answers(proxy, prompt("one"), traceparent="00-1-2-03", **{"X-Request-Id": "r", "Cookie": "c"})
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.json == {
        "model": "m",
        "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "one"}],
        "seed": 1,
        "temperature": 0.5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
        },
    }
    wanted = {"authorization": f"Bearer {KEY}", "x-team": "a", "traceparent": "00-1-2-03", "x-request-id": "r"}
    assert wanted.items() <= asked.headers.items()
    assert asked.headers["accept-encoding"] == "identity"
    assert "cookie" not in asked.headers


def test_what_is_sent_to_anthropic(make: Make, server: JudgeServer) -> None:
    proxy = make(kind="anthropic", params={"output_config": {"effort": "low"}})
    (reply,) = answers(proxy, prompt("one", temperature=0.0))
    (asked,) = server.asked
    assert asked.path == "/v1/messages"
    assert asked.json == {
        "model": "m",
        "max_tokens": 4096,
        "system": "Judge.",
        "messages": [{"role": "user", "content": "one"}],
        "temperature": 0.0,
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    }
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert (reply.fields, reply.model, reply.input_tokens, reply.output_tokens) == (FIELDS, "judge-1", 15, 3)


def test_what_is_sent_to_a_scorer(make: Make, server: JudgeServer) -> None:
    (reply,) = answers(make(kind="http", model=None), prompt("one", metadata={"output": [1]}))
    (asked,) = server.asked
    assert asked.path == "/v1"
    assert asked.json == {
        "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "one"}],
        "schema": SCHEMA,
        "metadata": {"output": [1]},
    }
    assert reply == Reply(fields=FIELDS)


@pytest.mark.parametrize(("settings", "named"), [({}, {}), ({"moderation_model": "watch"}, {"model": "watch"})])
def test_moderation(settings: dict[str, str], named: dict[str, str], make: Make, server: JudgeServer) -> None:
    proxy = make(**settings)
    replies = answers(proxy, prompt("one", kind="moderation"), prompt("two"), prompt("three", kind="moderation"))
    moderated = [asked.json for asked in server.asked if "input" in asked.json]
    assert sorted(moderated, key=str) == [named | {"input": "one"}, named | {"input": "three"}]
    assert replies[0] == Reply(fields={"flagged": False, "category_scores": {"hate": 0.1}}, model="watch-1")
    assert replies[1].fields["reasons"] == "two"


def test_no_moderation_at_anthropic(make: Make, server: JudgeServer) -> None:
    odd, good = answers(make(kind="anthropic"), prompt("odd", kind="moderation"), prompt("good"))
    assert "has no moderation" in odd.detail
    assert good.fields["reasons"] == "good"


FORMS = {
    "all": (set(), ["structured"] * 3),
    "no structured output": ({"structured"}, ["structured", "tool", "tool", "tool"]),
    "text alone": ({"structured", "tool"}, ["structured", "tool", "text", "text", "text"]),
}


@pytest.mark.parametrize(("unknown", "forms"), FORMS.values(), ids=FORMS)
def test_the_form_is_learnt_once(unknown: set[str], forms: list[str], make: Make, server: JudgeServer) -> None:
    server.unknown_forms = unknown
    proxy = make(max_concurrency=1)
    replies = answers(proxy, *map(prompt, "abc"))
    assert [form_of(asked) for asked in server.asked] == forms
    assert ["reasons" in (reply.text or "") or reply.fields["reasons"] in "abc" for reply in replies] == [True] * 3
    assert proxy.figures["default"].calls == {"complete": 3}


def test_the_form_is_learnt_of_kind_anthropic(make: Make, server: JudgeServer) -> None:
    server.unknown_forms = {"structured"}
    replies = answers(make(kind="anthropic", max_concurrency=1), *map(prompt, "ab"))
    assert [form_of(asked) for asked in server.asked] == ["structured", "tool", "tool"]
    assert [reply.fields["reasons"] for reply in replies] == ["a", "b"]
    tool = {"type": "tool", "name": "reply", "disable_parallel_tool_use": True}
    assert server.asked[-1].json["tool_choice"] == tool
    assert server.asked[-1].json["tools"][0]["input_schema"] == SCHEMA


def test_a_form_that_is_taken_but_not_kept_to_is_left(make: Make, server: JudgeServer) -> None:
    server.scripts["a"] = [told(chat({"content": "Sure: A"}))] * 2
    replies = answers(make(max_concurrency=1), *map(prompt, "abc"))
    assert [form_of(asked) for asked in server.asked] == ["structured", "tool", "text", "text", "text"]
    assert [reply.fields or json.loads(reply.text)["reasons"] for reply in replies] == ["a", "b", "c"]
    assert [reply.input_tokens for reply in replies] == [30, 10, 10]


@pytest.mark.parametrize("concurrency", [1, 16])
def test_no_answer_is_lost_while_the_form_is_found(concurrency: int, make: Make, server: JudgeServer) -> None:
    """A server that takes a schema, and forgets it: it answers in prose under 200 until the shape is in the text."""
    server.forgotten_forms = {"structured", "tool"}
    proxy = make(max_concurrency=concurrency)
    replies = answers(proxy, *(prompt(f"<{number}>") for number in range(64)))
    assert [json.loads(reply.text)["reasons"] for reply in replies] == [f"<{number}>" for number in range(64)]
    assert len(server.asked) == 64 + 2
    figures = proxy.figures["default"]
    assert (figures.attempts, figures.retries, figures.calls) == (66, 0, {"complete": 64})


def test_where_the_first_call_fails_no_other_is_held_up_or_lost(make: Make, server: JudgeServer) -> None:
    server.forgotten_forms = {"structured"}
    server.scripts["<0>"] = [told({}, 500)]
    replies = answers(make(), *(prompt(f"<{number}>") for number in range(32)))
    assert [reply.fields["reasons"] for reply in replies] == [f"<{number}>" for number in range(32)]


def test_while_the_first_call_is_out_nobody_else_is_asked(make: Make, server: JudgeServer) -> None:
    server.scripts["held"] = [Told(hold=True)]
    proxy = make()
    held, good, plain = proxy.ask("default", [prompt("held")], soon(), {}), prompt("good"), prompt("plain", schema={})
    assert server.arrived.wait(60)
    (late,) = answers(proxy, good, deadline=soon(0.3))
    assert late == NoReply("deadline_exceeded", "The judge default was not asked before the deadline")
    assert answers(proxy, plain)[0].text  # which can be asked in one form only
    server.released.set()
    assert held.result(60)[0].fields["reasons"] == "held"
    assert answers(proxy, good)[0].fields["reasons"] == "good"


def test_a_first_call_that_is_given_up_holds_nobody_up(make: Make, server: JudgeServer) -> None:
    server.scripts["held"] = [Told(hold=True)]
    proxy = make()
    held = proxy.ask("default", [prompt("held")], soon(), {})
    assert server.arrived.wait(60)
    good = proxy.ask("default", [prompt("good")], soon(), {})
    assert held.cancel()
    assert good.result(60)[0].fields["reasons"] == "good"


def test_nothing_is_asked_twice_once_the_form_is_known(make: Make, server: JudgeServer) -> None:
    proxy = make(max_concurrency=1)
    server.scripts["odd"] = [told(chat({"content": "Sure: A"}))]
    replies = answers(proxy, *map(prompt, ("good", "odd", "well")))
    assert [form_of(asked) for asked in server.asked] == ["structured"] * 3
    assert replies[1].text == "Sure: A"


LEGIBLE = ['So: {"choice": "A", "reasons": "a"}', "I'm sorry, I can't help with that."]


@pytest.mark.parametrize("text", LEGIBLE)
def test_what_can_be_read_or_is_a_refusal_is_not_asked_again(text: str, make: Make, server: JudgeServer) -> None:
    server.scripts["a"] = [told(chat({"content": text}))]
    (reply,) = answers(make(), prompt("a"))
    assert (reply.text, len(server.asked)) == (text, 1)


def test_a_prompt_that_is_refused_in_every_form_teaches_nothing(make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told({}, 400)] * 9
    odd, good = answers(make(max_concurrency=1), prompt("odd"), prompt("good"))
    assert odd.reason == "judge_unavailable"
    assert odd.detail.startswith("The judge default refused the call (status 400)")
    assert good.fields
    assert [form_of(asked) for asked in server.asked] == ["structured", "tool", "text", "structured"]


def test_in_text_the_shape_is_told(make: Make, server: JudgeServer) -> None:
    server.unknown_forms = {"structured", "tool"}
    answers(make(), prompt("one"))
    assert asked_for(server.asked[-1]).startswith("one\n\nReply with one JSON object that fits this JSON Schema")


def test_without_a_shape_text_is_asked_for(make: Make, server: JudgeServer) -> None:
    server.scripts["one"] = [told(chat({"content": "Hello."}))]
    (reply,) = answers(make(), prompt("one", schema={}))
    assert (reply.text, reply.fields) == ("Hello.", None)
    assert form_of(server.asked[-1]) == "text"
    assert asked_for(server.asked[-1]) == "one"


def test_an_open_schema_is_not_strict(make: Make, server: JudgeServer) -> None:
    inner = {"type": "object", "properties": {"x": {}}, "required": []}
    for schema in ({"type": "object"}, SCHEMA | {"properties": SCHEMA["properties"] | {"choice": inner}}):
        answers(make(), prompt("one", schema=schema))
        assert server.asked[-1].json["response_format"]["json_schema"]["strict"] is False


def test_a_prompt_that_is_no_json_is_not_sent(make: Make, server: JudgeServer) -> None:
    odd, object_, good = answers(make(), prompt("\ud800"), prompt("x", metadata={"x": object()}), prompt("good"))
    assert {odd.reason, object_.reason} == {"judge_unavailable"}
    assert good.fields["reasons"] == "good"
    assert len(server.asked) == 1


def test_headers_of_the_settings_win(make: Make, server: JudgeServer) -> None:
    proxy = make(headers={"authorization": "Basic x", "X-REQUEST-ID": "mine"})
    answers(proxy, prompt("one"), **{"X-Request-Id": "theirs"})
    assert server.asked[0].headers["authorization"] == "Basic x"
    assert server.asked[0].headers["x-request-id"] == "mine"


def test_cookies_are_not_kept(make: Make, server: JudgeServer) -> None:
    server.scripts["one"] = [told({}, 500, set_cookie="a=b; Path=/")]
    answers(make(), prompt("one"))
    assert "cookie" not in server.asked[1].headers


def test_only_a_proxy_of_the_settings_counts(make: Make, server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    front = server.url.removesuffix("/v1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, front)
    assert "cannot be reached" in answers(make(base_url="http://127.0.0.1:1/v1"), prompt("one"))[0].detail
    assert server.asked == []
    assert answers(make(base_url="http://127.0.0.1:1/v1", proxy=front), prompt("one"))[0].fields == FIELDS
    assert server.asked[0].path == "http://127.0.0.1:1/v1/chat/completions"


def test_a_certificate_that_nobody_vouches_for_is_refused(make: Make, tmp_path: Path) -> None:
    with judging(certified(tmp_path)) as secure:
        (odd,) = answers(make(base_url=secure.url.replace("http:", "https:")), prompt("one"))
        assert odd.detail.startswith("The judge default cannot be reached: the certificate of its server")
        assert secure.asked == []


def test_connections_are_kept(make: Make, server: JudgeServer) -> None:
    proxy = make()
    for number in range(5):
        answers(proxy, prompt(str(number)))
    assert server.opened == 1
