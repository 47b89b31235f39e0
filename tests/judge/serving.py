"""A real HTTP server that speaks each judge's protocol, and misbehaves as it is told."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Event
from typing import Any

from tests.embedding.serving import Asked, Server, Told, running

JSON = {"Content-Type": "application/json"}


def told(value: Any, status: int = 200, **headers: str) -> Told:
    """An answer of JSON; `retry_after` becomes Retry-After."""
    sent = JSON | {name.replace("_", "-"): text for name, text in headers.items()}
    return Told(status, value if isinstance(value, bytes) else json.dumps(value).encode(), sent)


def chat(message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion of one message."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None} | message}
    usage = {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    return {"id": "c", "object": "chat.completion", "model": "judge-1", "choices": [choice], "usage": usage} | more


def called(*arguments: Any) -> dict[str, Any]:
    """A message with tool calls."""
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "reply", "arguments": one if isinstance(one, str) else json.dumps(one)},
        }
        for number, one in enumerate(arguments)
    ]
    return {"tool_calls": calls}


def spoken(*blocks: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    """A message as Anthropic's."""
    usage = {"input_tokens": 10, "output_tokens": 3, "cache_read_input_tokens": 5}
    return {"type": "message", "model": "judge-1", "content": list(blocks), "stop_reason": stop, "usage": usage} | more


def asked_for(asked: Asked) -> str:
    """The last message of a call."""
    if asked.path.endswith("/moderations"):
        return str(asked.json["input"])
    return str(asked.json["messages"][-1]["content"])


def form_of(asked: Asked) -> str:
    return (
        "structured"
        if {"response_format", "output_config"} & asked.json.keys()
        else "tool"
        if "tools" in asked.json
        else "text"
    )


def right(asked: Asked) -> Any:
    """What a good judge answers: the prompt's own text as its reasons."""
    verdict = {"choice": "A", "reasons": asked_for(asked).partition("\n")[0]}
    if asked.path.endswith("/moderations"):
        return {"model": "watch-1", "results": [{"flagged": False, "category_scores": {"hate": 0.1}}]}
    if asked.path.endswith("/messages"):
        if form_of(asked) == "tool":
            return spoken({"type": "tool_use", "id": "t", "name": "reply", "input": verdict}, stop="tool_use")
        return spoken({"type": "text", "text": json.dumps(verdict)})
    if asked.path.endswith("/chat/completions"):
        form = form_of(asked)
        return chat(called(verdict) if form == "tool" else {"content": json.dumps(verdict)})
    return verdict


class JudgeServer(Server):
    """Answers a call by the script of the first word in `scripts` that its last message holds, else rightly.

    Forms in `unknown_forms` are refused, those in `forgotten_forms` answered in prose. Connections are counted as `opened` in all, `open` now and `most_open` at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, list[Told]] = {}
        self.unknown_forms: set[str] = set()
        self.forgotten_forms: set[str] = set()
        self.opened = self.open = self.most_open = 0
        self.closed = Condition()

    def answer(self, asked: Asked) -> Told:
        with self._lock:
            self.asked.append(asked)
            self.arrived.set()
            if form_of(asked) in self.unknown_forms:
                return told({"error": {"message": "unknown field"}}, 400)
            for word, script in self.scripts.items():
                if word in asked_for(asked) and script:
                    return script.pop(0)
            if form_of(asked) in self.forgotten_forms:
                return told(chat({"content": "It seems fine to me."}))
            return told(right(asked))

    def calls(self, word: str = "") -> list[Asked]:
        """Calls whose last message holds a word."""
        return [one for one in self.asked if word in asked_for(one)]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self.closed:
            self.opened += 1
            self.open += 1
            self.most_open = max(self.most_open, self.open)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self.closed:
            self.open -= 1
            self.closed.notify_all()


@contextmanager
def judging(tls: ssl.SSLContext | None = None) -> Iterator[JudgeServer]:
    """A server of its own for one test; every connection must have been closed when the block ends."""
    with running(JudgeServer(), tls) as server:
        yield server
        server.released.set()
        with server.closed:
            assert server.closed.wait_for(lambda: server.open == 0, 30), f"{server.open} connections are left open"


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


def trickle(ended: Event) -> Iterator[bytes]:
    """A body that never ends, and says something all the time."""
    while not ended.wait(0.02):
        yield b" "
