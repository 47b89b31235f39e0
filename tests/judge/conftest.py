import threading
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.core.judging import Message, Prompt
from service.core.ports import Account
from service.judge.proxy import Proxy
from service.judge.settings import JudgeSettings
from tests.judge.serving import JudgeServer, judging

KEY = "sk-not-to-be-seen-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"choice": {"type": "string", "enum": ["A", "B"]}, "reasons": {"type": "string"}},
    "required": ["choice", "reasons"],
    "additionalProperties": False,
}

Make = Callable[..., Proxy]


def prompt(text: str, **more: Any) -> Prompt:
    messages = Message("system", "Judge."), Message("user", text)
    return Prompt(**({"key": text, "messages": messages, "schema": SCHEMA} | more))


def soon(seconds: float = 60) -> float:
    return perf_counter() + seconds


def answers(
    proxy: Proxy, *prompts: Prompt, deadline: float | None = None, account: Account | None = None, **trace: str
) -> list[Any]:
    """What the judge `default` answers, waited for."""
    return proxy.ask("default", prompts, deadline or soon(), trace, account).result(60)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judging() as running:
        yield running


@pytest.fixture
def naps() -> list[float]:
    """How long was slept: nobody sleeps here."""
    return []


@pytest.fixture
def make(server: JudgeServer, naps: list[float]) -> Iterator[Make]:
    """A proxy with the one judge `default`; nothing of it may be left when the test ends."""

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    made = []

    def proxy(clock: Callable[[], float] = perf_counter, **settings: Any) -> Proxy:
        own = {"kind": "openai", "base_url": server.url, "model": "m", "api_key_env": "THE_KEY"} | settings
        made.append(Proxy({"default": msgspec.convert(own, JudgeSettings)}, {"THE_KEY": KEY}, clock, nap))
        return made[-1]

    yield proxy
    for one in made:
        one.close()
        figures = one.figures["default"]
        assert (figures.in_flight, figures.waiting) == (0, 0)
    assert "judges" not in {thread.name for thread in threading.enumerate()}
