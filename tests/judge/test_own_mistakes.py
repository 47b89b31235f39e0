"""What servers say wrongly, twice or too loudly, and what one request must not do to another."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import perf_counter
from typing import Any

import pytest

from service.core.judging import NoReply, Reply
from service.core.ports import Account
from service.judge.lines import Lines
from service.judge.pace import LONGEST_PAUSE, Pace
from tests.embedding.serving import Told
from tests.judge.conftest import Make, answers, prompt, soon
from tests.judge.serving import JSON, JudgeServer, called, chat, spoken, told

TWICE = '{"choice": "A", "choice": "B", "reasons": "odd"}'


@pytest.mark.parametrize("said", [chat({"content": TWICE}), chat(called(TWICE))], ids=["structured", "tool"])
def test_two_verdicts_under_one_key_are_left_to_the_reader(said: Any, make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told(said)]
    (reply,) = answers(make(), prompt("odd"))
    assert (reply.fields, reply.text) == (None, TWICE)


def test_a_scorer_that_contradicts_itself_is_read_as_text(make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told(TWICE.encode())]
    (reply,) = answers(make(kind="http"), prompt("odd"))
    assert (reply.fields, reply.text) == (None, TWICE)


def test_an_envelope_that_contradicts_itself_is_no_answer(make: Make, server: JudgeServer) -> None:
    envelope = json.dumps(spoken({"type": "text", "text": '{"choice": "A"}'}))
    server.scripts["odd"] = [told(envelope.replace("{", '{"model": "x", ', 1).encode())]
    (reply,) = answers(make(kind="anthropic"), prompt("odd"))
    assert isinstance(reply, Reply)
    assert reply.fields["reasons"].startswith("odd")  # the second call, that is
    assert len(server.asked) == 2


def test_no_judge_is_silenced_for_good() -> None:
    now = [0.0]
    pace = Pace(2, lambda: now[0])
    for _ in range(2):
        pace.refused(999_999_999)
    assert pace.pause == LONGEST_PAUSE
    now[0] = LONGEST_PAUSE
    assert pace.pause == 0


HOPELESS = [
    {"retry-after": "999999999"},
    {"retry-after": format_datetime(datetime.now(UTC) + timedelta(days=4_000), usegmt=True)},
    {"llm_provider-retry-after": "900"},
]
HARMLESS = [{"retry-after": text} for text in ("-5", "soon", "", "1e9", "1, 2", "Thu, 01 Jan 1970 00:00:00 GMT")]


@pytest.mark.parametrize("headers", [*HOPELESS, *HARMLESS])
def test_what_a_judge_asks_for(headers: dict[str, str], make: Make, server: JudgeServer, naps: list[float]) -> None:
    server.scripts["odd"] = [Told(429, b"{}", JSON | headers)]
    (reply,) = answers(make(max_concurrency=1), prompt("odd"))
    assert isinstance(reply, NoReply) == (headers in HOPELESS)
    assert max(naps) < 10


def test_who_cannot_pay_takes_nobody_down(make: Make, server: JudgeServer) -> None:
    server.scripts["busy"] = [Told(hold=True)]
    proxy = make(max_concurrency=1, max_tokens=760)
    words = "long " * 600
    poor, rich = Account(), Account()
    deadline = soon()
    busy = proxy.ask("default", [prompt("busy")], deadline, {}, poor)
    assert server.arrived.wait(60)
    first = proxy.ask("default", [prompt(words)], deadline, {}, poor)
    second = proxy.ask("default", [prompt(words)], deadline, {}, rich)
    assert answers(proxy) == []
    server.released.set()
    assert all(isinstance(one.result(60)[0], Reply) for one in (busy, first, second))
    assert proxy.figures["default"].shared == 1


@pytest.mark.parametrize("failure", [asyncio.CancelledError, RuntimeError])
def test_a_line_is_kept_only_while_all_goes_well(failure: type[BaseException]) -> None:
    async def used() -> None:
        lines = Lines(None, perf_counter)
        with suppress(failure):
            async with lines.free() as first:
                raise failure
        async with lines.free() as second:
            assert second is not first
        async with lines.free() as third:
            assert third is second
        await lines.close()

    asyncio.run(used())


def test_callers_that_go_away_leave_a_judge_as_it_was(make: Make, server: JudgeServer) -> None:
    proxy = make(max_concurrency=4, timeout_s=2.0)
    for turn in range(200):
        going = proxy.ask("default", [prompt(f"{turn} {number}") for number in range(4)], soon(), {})
        if turn % 4:
            answers(proxy, deadline=soon())
        else:
            assert going.result(60)
        going.cancel()
    assert all(isinstance(reply, Reply) for reply in answers(proxy, *(prompt(f"after {n}") for n in range(8))))
    assert proxy.figures["default"].calls.get("judge_unavailable", 0) == 0


STOPS = {
    "LENGTH": "truncated",
    "max_tokens": "truncated",
    "SAFETY": "filtered",
    "eos": "complete",
    "tool_calls": "complete",
}


@pytest.mark.parametrize(("finish", "stop"), STOPS.items())
def test_how_servers_say_that_a_reply_ended(finish: str, stop: str, make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told(chat({"content": "Score: 1"}, finish))]
    (reply,) = answers(make(), prompt("odd"))
    assert reply.stop == stop


def test_a_reply_that_was_broken_off_is_asked_for_again(make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told(chat({"content": "Score: 1"}, "abort"))]
    (reply,) = answers(make(), prompt("odd"))
    assert reply.fields["choice"] == "A"


def test_only_a_reply_of_the_shape_asked_for_is_kept(make: Make, server: JudgeServer) -> None:
    proxy = make(cache=True)
    server.scripts["odd"] = [told(chat({"content": '{"choice": "Z"}'})), told(chat({"content": "Well."}))]
    said = [answers(proxy, prompt("odd"))[0].fields for _ in range(4)]
    assert said[:2] == [{"choice": "Z"}, None]
    assert said[2] == said[3]
    assert len(server.asked) == 3
    assert proxy.figures["default"].cache_hits == 1


def test_a_server_without_moderation_is_asked_other_things_still(make: Make, server: JudgeServer) -> None:
    now = [0.0]
    proxy = make(clock=lambda: now[0])
    server.scripts["odd"] = [told({}, 404)] * 10
    for turn in range(10):
        now[0] = float(turn)
        (reply,) = answers(proxy, prompt(f"odd {turn}", kind="moderation", schema={}), deadline=1e9)
        assert isinstance(reply, NoReply)
        assert "has no moderation" in reply.detail
    assert proxy.figures["default"].breaker == "closed"
    assert isinstance(answers(proxy, prompt("fine"), deadline=1e9)[0], Reply)
