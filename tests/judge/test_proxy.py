import asyncio
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from time import perf_counter
from typing import Any

import pytest

from service.core.judging import NoReply, Reply
from service.core.ports import Account, Judges
from service.judge.proxy import Proxy
from service.judge.scripted import Scripted
from service.judge.settings import JudgeSettings
from tests.embedding.serving import Told
from tests.judge.conftest import KEY, Make, answers, prompt, soon
from tests.judge.serving import JudgeServer, asked_for, chat, told

FIELDS = {"choice": "A", "reasons": "one"}


LATE = "deadline_exceeded"


def test_it_implements_the_port(make: Make) -> None:
    judges: list[Judges] = [make(), Scripted([])]
    assert all("caller" in one.known for one in judges)


def test_what_callers_may_know(make: Make, server: JudgeServer) -> None:
    known = make(max_calls=3, headers={"api-key": KEY}).known
    assert list(known) == ["default", "caller"]
    assert (known["default"].kind, known["default"].model, known["default"].max_calls) == ("openai", "m", 3)
    assert known["caller"].kind == "caller"
    assert KEY not in repr(known)
    assert server.url not in repr(known)


@pytest.mark.parametrize("name", ["caller", "unknown"])
def test_who_is_not_asked(name: str, make: Make) -> None:
    with pytest.raises(KeyError):
        make().ask(name, [prompt("one")], soon(), {})


def test_no_judge_is_named_caller() -> None:
    with pytest.raises(ValueError, match="caller"):
        Proxy({"caller": JudgeSettings(kind="http", base_url="http://127.0.0.1")}, {})


def test_no_prompts_no_answers(make: Make) -> None:
    assert answers(make()) == []


def test_equal_prompts_are_asked_once_within_a_slot(make: Make, server: JudgeServer) -> None:
    same = [prompt("one"), prompt("one", key="two"), prompt("one", slot="2"), prompt("one", temperature=1.0)]
    proxy = make()
    replies = answers(proxy, *same, prompt("one"))
    assert len(server.asked) == 3
    assert all(reply.fields == FIELDS for reply in replies)
    assert [reply.input_tokens for reply in replies] == [10, 0, 10, 10, 0]
    assert (proxy.figures["default"].shared, proxy.figures["default"].input_tokens) == (2, 30)
    assert answers(proxy, prompt("one"))[0].input_tokens == 10
    assert len(server.asked) == 4


def test_one_call_serves_two_requests_and_survives_the_one_that_goes(make: Make, server: JudgeServer) -> None:
    server.scripts["one"] = [told({}, 503)]
    proxy = make(max_concurrency=1)
    server.scripts["busy"] = [Told(hold=True)]
    busy = proxy.ask("default", [prompt("busy")], soon(), {})
    assert server.arrived.wait(60)
    first, second = (proxy.ask("default", [prompt("one")], soon(), {"X-Request-Id": name}) for name in "ab")
    assert answers(proxy, deadline=soon()) == []
    assert first.cancel()
    server.released.set()
    assert second.result(60)[0].fields == FIELDS
    assert busy.result(60)[0].fields
    assert proxy.figures["default"].shared == 1


def test_kept_replies_answer_equal_prompts_of_a_slot(make: Make, server: JudgeServer) -> None:
    server.scripts["cut"] = [told(chat({"content": "x"}, "length"))]
    proxy = make(cache=True)
    for _ in range(2):
        answers(proxy, prompt("one"), prompt("one", slot="2"), prompt("cut"))
    assert [len(server.calls(word)) for word in ("one", "cut")] == [2, 2]
    (kept,) = answers(proxy, prompt("one"))
    assert (kept.fields, kept.input_tokens) == (FIELDS, 0)
    assert proxy.figures["default"].cache_hits == 3


def test_a_passed_deadline_sends_nothing(make: Make, server: JudgeServer) -> None:
    assert answers(make(), prompt("one"), deadline=perf_counter() - 1) == [
        NoReply(LATE, "The judge default was not asked before the deadline")
    ]
    assert server.asked == []


def test_at_the_deadline_what_was_answered_is_returned(make: Make, server: JudgeServer) -> None:
    server.scripts["held"] = [Told(hold=True)]
    proxy = make(max_concurrency=1)
    got = answers(proxy, prompt("one"), prompt("held"), prompt("three"), deadline=soon(2))
    assert got[0].fields == FIELDS
    assert [one.reason for one in got[1:]] == [LATE, LATE]
    assert "was not asked" in got[2].detail
    assert server.calls("three") == []
    assert answers(proxy, prompt("four"))[0].fields["reasons"] == "four"


def test_a_caller_that_goes_away_cancels_what_has_not_been_sent(make: Make, server: JudgeServer) -> None:
    server.scripts["held"] = [Told(hold=True)]
    proxy = make(max_concurrency=1)
    asked = proxy.ask("default", [prompt("held"), prompt("two")], soon(), {})
    assert server.arrived.wait(60)
    assert asked.cancel()
    with pytest.raises(CancelledError):
        asked.result(60)
    assert answers(proxy, prompt("three"))[0].fields["reasons"] == "three"
    assert server.calls("two") == []
    assert proxy.figures["default"].calls == {"cancelled": 2, "complete": 1}


@pytest.mark.parametrize("hold", [True, False], ids=["for an answer", "for another try"])
def test_closing_tells_whoever_waits(hold: bool, server: JudgeServer) -> None:
    server.scripts["held"] = [Told(hold=True) if hold else told({}, 429, retry_after="3600")]
    proxy = Proxy({"default": JudgeSettings(kind="http", base_url=server.url)}, {})
    asked = proxy.ask("default", [prompt("held")], soon(7200), {})
    assert server.arrived.wait(60)
    proxy.close()
    stopping = [NoReply("judge_unavailable", "The judge default is asked nothing more: the service is stopping")]
    assert asked.result(60) == stopping
    assert answers(proxy, prompt("two")) == stopping
    proxy.close()
    assert "judges" not in {thread.name for thread in threading.enumerate()}


def test_closing_what_never_began() -> None:
    Proxy({"default": JudgeSettings(kind="http", base_url="http://127.0.0.1:1")}, {}).close()


def test_calls_of_a_request_are_counted(make: Make, server: JudgeServer) -> None:
    server.scripts["a"] = [told({}, 500)]
    proxy = make(max_calls=2)
    account = Account()
    first = answers(proxy, prompt("a"), prompt("a"), prompt("b"), prompt("c"), account=account)
    second = answers(proxy, prompt("a"), account=account)
    assert [isinstance(one, Reply) for one in first + second] == [True, True, True, False, False]
    assert first[-1] == NoReply("budget_exceeded", "The judge default may be called 2 times by one request")
    assert answers(proxy, prompt("c"), account=Account())[0].fields["reasons"] == "c"
    assert answers(proxy, prompt("c"))[0].fields["reasons"] == "c"
    assert proxy.figures["default"].calls == {"complete": 4, "budget_exceeded": 2}


def test_tokens_of_a_request_are_counted(make: Make, server: JudgeServer) -> None:
    proxy = make(max_tokens=30, max_concurrency=1)
    got = answers(proxy, *map(prompt, "abcd"))
    assert [isinstance(one, Reply) for one in got] == [True, True, True, False]
    assert got[-1] == NoReply("budget_exceeded", "The judge default may take 30 tokens of one request")
    assert len(server.asked) == 3


def test_tokens_count_where_the_judge_does_not_tell_them(make: Make, server: JudgeServer) -> None:
    server.scripts = {letter: [told(chat({"content": "A" * 80}, usage=None))] for letter in "ab"}
    got = answers(make(max_tokens=20, max_concurrency=1), prompt("a", schema={}), prompt("b", schema={}))
    assert [isinstance(one, Reply) for one in got] == [True, False]


def test_a_large_request_does_not_hold_up_a_small_one(make: Make, server: JudgeServer) -> None:
    server.scripts["held"] = [Told(hold=True)]
    proxy = make(max_concurrency=1)
    large = proxy.ask("default", [prompt("held"), *(prompt(f"large {number}") for number in range(20))], soon(), {})
    assert server.arrived.wait(60)
    small = proxy.ask("default", [prompt("small")], soon(), {})
    assert answers(proxy) == []
    server.released.set()
    assert small.result(60)[0].fields["reasons"] == "small"
    large.result(60)
    order = [asked_for(asked) for asked in server.asked]
    assert order.index("small") <= 3


def test_no_more_than_allowed_are_under_way(make: Make, server: JudgeServer) -> None:
    proxy = make(max_concurrency=3)
    answers(proxy, *(prompt(str(number)) for number in range(60)))
    assert server.most_open <= 3
    assert proxy.figures["default"].concurrency == 3


def test_throttling_lowers_the_concurrency_and_nobody_asks_early(
    make: Make, server: JudgeServer, naps: list[float]
) -> None:
    proxy = make(max_concurrency=8)
    for number in range(8):
        server.scripts[f"<{number}>"] = [told({}, 429, retry_after="7")] * 2
    got = answers(proxy, *(prompt(f"<{number}>") for number in range(8)))
    assert all(one.fields for one in got)
    assert len(server.asked) == 24
    figures = proxy.figures["default"]
    assert (figures.throttled, figures.retries, figures.attempts) == (16, 16, 24)
    assert figures.concurrency < 8
    assert sum(nap >= 7 for nap in naps) >= 16


def test_a_judge_that_keeps_failing_is_left_alone(make: Make, server: JudgeServer) -> None:
    now = [0.0]
    proxy = make(lambda: now[0], max_concurrency=1)
    ask = lambda text: answers(proxy, prompt(text), deadline=now[0] + 60)[0]  # noqa: E731
    server.scripts["odd"] = [told({}, 500)] * 9
    assert "failed (status 500)" in ask("odd").detail
    assert proxy.figures["default"].breaker == "closed"
    now[0] = 2.0
    assert "left alone for up to 10 s: 5 times in a row it failed (status 500)" in ask("odd").detail
    assert proxy.figures["default"].breaker == "open"
    asked = len(server.asked)
    assert [ask(text).reason for text in ("odd", "good")] == ["judge_unavailable"] * 2
    assert len(server.asked) == asked
    now[0] = 12.0
    got = answers(proxy, *map(prompt, ("good", "well", "fine")), deadline=now[0] + 60)
    assert [one.fields["reasons"] for one in got] == ["good", "well", "fine"]
    assert proxy.figures["default"].breaker == "closed"


def test_many_threads_ask(make: Make, server: JudgeServer) -> None:
    proxy = make()

    def many(thread: int) -> list[Any]:
        texts = [f"{thread} {turn}" for turn in range(10)]
        return [
            one.fields["reasons"] == text for one, text in zip(answers(proxy, *map(prompt, texts)), texts, strict=True)
        ]

    with ThreadPoolExecutor(8) as pool:
        assert all(all(one) for one in pool.map(many, range(8)))
    assert len(server.asked) == 80


def test_from_within_an_event_loop(make: Make) -> None:
    async def asking() -> list[Reply | NoReply]:
        return await asyncio.wrap_future(make().ask("default", [prompt("one")], soon(), {}))

    assert isinstance(asyncio.run(asking())[0], Reply)


def test_a_batch_in_which_much_goes_wrong(make: Make, server: JudgeServer) -> None:
    wrong = [told({}, 429), told({}, 500), Told(hang_up=True), told(b"{"), told({}, 503, retry_after="1")]
    texts = [f"<{number}>" for number in range(100)]
    for number, text in enumerate(texts):
        server.scripts[text] = [wrong[(number + turn) % 5] for turn in range(number % 4)]
    proxy = make()
    got = answers(proxy, *map(prompt, texts))
    assert [one.fields["reasons"] for one in got] == texts
    figures = proxy.figures["default"]
    assert figures.calls == {"complete": 100}
    assert figures.attempts == 100 + figures.retries == len(server.asked)
