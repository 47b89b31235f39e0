"""A judge's server: `/chat/completions` with CALL_SECONDS a call and AT_ONCE calls at once, further ones refused."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from benchmarks import workload
from benchmarks.peers.serving import read_body, serve

CALL_SECONDS = 0.2
AT_ONCE = 32
REFUSED_SHARE = 0.1
RETRY_AFTER_SECONDS = 1

STEADY = "steady"
REFUSING = "refusing"
"""The model of which REFUSED_SHARE of all calls are refused, whatever else is under way."""

REASONS = "The two texts agree on what was asked, but for the date, which only one of them gives."

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Seen(Struct):
    """Calls so far, and the most that were under way at once; what any GET tells."""

    answered: int = 0
    refused: int = 0
    refused_over: int = 0
    """Those of the refused that were one too many at once."""
    most: int = 0


class Stub:
    """The server, an ASGI application."""

    def __init__(self) -> None:
        self._seen = Seen()
        self._under_way = 0
        self._chance = workload.source("refusals")

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answer any POST as `/chat/completions`."""
        if scope["type"] != "http":
            return
        if scope["method"] == "GET":
            await _send(send, 200, self._seen)
            return
        call = msgspec.json.decode(await read_body(receive))
        if self._refuses(call["model"]):
            self._seen.refused += 1
            await _send(send, 429, {"error": {"message": "Too many calls", "type": "rate_limit_error"}})
            return
        self._under_way += 1
        self._seen.most = max(self._seen.most, self._under_way)
        await asyncio.sleep(CALL_SECONDS)
        self._under_way -= 1
        self._seen.answered += 1
        await _send(send, 200, _completion(call))

    def _refuses(self, model: str) -> bool:
        if self._under_way >= AT_ONCE:
            self._seen.refused_over += 1
            return True
        return model == REFUSING and self._chance.random() < REFUSED_SHARE


def _completion(call: dict[str, Any]) -> dict[str, Any]:
    """A label of those asked for, always the same for the same prompt."""
    prompt = call["messages"][-1]["content"]
    labels = call["response_format"]["json_schema"]["schema"]["properties"]["choice"]["enum"]
    reply = {"reasons": REASONS, "choice": labels[crc32(prompt.encode()) % len(labels)]}
    message = {"role": "assistant", "content": msgspec.json.encode(reply).decode()}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": call["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": 40, "total_tokens": len(prompt) // 4 + 40},
    }


async def _send(send: Send, status: int, value: Any) -> None:
    body = msgspec.json.encode(value)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 429:
        headers.append((b"retry-after", b"%d" % RETRY_AFTER_SECONDS))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    serve(Stub())
