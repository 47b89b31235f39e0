"""One judge's server: a call of it, bounded in time and in bytes, and the form in which it is asked for replies."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from typing import Literal, TypeAlias

import httpx
import msgspec
from msgspec import Struct, structs

from service.core.judging import Prompt, Reply
from service.judge.faults import Down, Refused
from service.judge.ladder import Ladder
from service.judge.lines import Lines
from service.judge.reaching import late, unreached
from service.judge.settings import JudgeSettings
from service.judge.statuses import FORM_STATUSES, fault_of, is_filtered
from service.judge.wires import Form, Wire
from service.judge.wires.anthropic import Anthropic
from service.judge.wires.moderation import Moderation
from service.judge.wires.openai import OpenAI
from service.judge.wires.scorer import Scorer
from service.primitives.replies import ReplyFault, read_object
from service.primitives.servers import Veil

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "scorewright",
}
NO_MODERATION = "has no moderation; a judge of kind openai may have"
TRAVELLING = ("traceparent", "tracestate", "x-request-id")
"""Headers of the caller that go on to judges."""

_TRACE_VALUE = re.compile(r"[!-~](?:[ -~]{0,510}[!-~])?")
_SECRET_NAME = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)

Kind: TypeAlias = Literal["chat", "moderation"]


class Answer(Struct, frozen=True):
    """What a server answered, whatever its status."""

    status: int
    headers: httpx.Headers
    body: bytes


class Endpoint:
    """Calls one judge's server. JudgeFault is all that it raises for what a server may do."""

    def __init__(self, settings: JudgeSettings, key: str | None) -> None:
        self._settings = settings
        self._key = key
        self._wires = _wires(settings)
        self._ladder = Ladder()
        self.sent = 0
        """Requests sent so far."""
        secrets = [key or "", *(value for name, value in settings.headers.items() if _SECRET_NAME.search(name))]
        self._sends_key = any(secrets)
        self._veil = Veil(secrets)
        self._address = settings.base_url if settings.kind == "http" else settings.base_url.rstrip("/")
        self._lines = Lines(httpx.URL(settings.proxy) if settings.proxy else None, perf_counter)
        self._extensions = {"timeout": httpx.Timeout(settings.timeout_s, connect=settings.connect_s).as_dict()}

    async def ask(self, prompt: Prompt, trace: Mapping[str, str]) -> Reply:
        """The reply to a prompt, asked for in the best form that the server takes.

        A form that the server refuses is followed by the next, and so is one that it takes and does not keep to, as
        long as it is not known to do so: the prompt would else be lost. Tokens are those of all that was sent.
        """
        wire = self._wire(prompt)
        forms = wire.forms(prompt)
        lost: list[Reply] = []
        for form in forms[:-1]:
            if self._ladder.is_left(forms, form):
                continue
            answer = await self._call(wire, prompt, form, trace)
            if answer.status in FORM_STATUSES and not is_filtered(answer.status, answer.body):
                continue
            reply = self._read(wire, prompt, form, answer)
            if self._ladder.is_proven(forms, form) or not _is_lost(prompt, reply):
                return _with_tokens(reply, lost)
            lost.append(reply)
        return _with_tokens(self._read(wire, prompt, forms[-1], await self._call(wire, prompt, forms[-1], trace)), lost)

    def turn(self, prompt: Prompt) -> AbstractAsyncContextManager[None]:
        """A block in which a prompt may be asked: a judge of which nothing is known is asked one thing first."""
        return self._ladder.turn(self._wire(prompt).forms(prompt))

    async def close(self) -> None:
        """Drop every connection."""
        await self._lines.close()

    def _wire(self, prompt: Prompt) -> Wire:
        wire = self._wires.get(prompt.kind)
        if wire is None:
            raise Refused(NO_MODERATION)
        return wire

    def _read(self, wire: Wire, prompt: Prompt, form: Form, answer: Answer) -> Reply:
        if is_filtered(answer.status, answer.body):
            return Reply(stop="filtered")
        fault = fault_of(answer.status, answer.headers, answer.body, was_key_sent=self._sends_key)
        if fault is not None and answer.status == 404 and prompt.kind == "moderation":
            raise Refused(NO_MODERATION, answer.status)  # which says nothing about its chat
        if fault is not None:
            raise fault
        reply = wire.reply(answer.body, form)
        self._ladder.learn(wire.forms(prompt), form, reply)
        return reply

    async def _call(self, wire: Wire, prompt: Prompt, form: Form, trace: Mapping[str, str]) -> Answer:
        url = f"{self._address}{wire.path}" if wire.path else self._address
        headers = httpx.Headers(HEADERS | travelling(trace))
        headers.update(wire.headers(self._key))
        headers.update(self._settings.headers)
        content = msgspec.json.encode(wire.body(prompt, form))
        request = httpx.Request("POST", url, headers=headers, content=content, extensions=self._extensions)
        self.sent += 1
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                async with self._lines.free() as line:
                    return await self._exchanged(line, request)
        except TimeoutError:
            raise late(self._settings) from None
        except httpx.TransportError as exc:
            raise unreached(exc, self._settings) from exc
        except UnicodeError:
            raise Down("cannot be reached: the host in its base_url is no name of one", cause="unreachable") from None

    async def _exchanged(self, line: httpx.AsyncHTTPTransport, request: httpx.Request) -> Answer:
        """What is answered, without httpx's client, which would follow redirects and keep cookies."""
        response = await line.handle_async_request(request)
        try:
            return Answer(response.status_code, response.headers, await self._body(response))
        finally:
            await response.aclose()

    async def _body(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Down("compressed its answer, which was not asked for")
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._settings.max_reply_bytes:
                raise Refused(f"answered with more than {self._settings.max_reply_bytes:,} bytes")
        return self._veil.over(bytes(body))


def travelling(trace: Mapping[str, str]) -> dict[str, str]:
    """Those headers of a caller that go on to judges."""
    return {
        name: value for name, value in trace.items() if name.lower() in TRAVELLING and _TRACE_VALUE.fullmatch(value)
    }


def _wires(settings: JudgeSettings) -> dict[Kind, Wire]:
    if settings.kind == "openai":
        return {"chat": OpenAI(settings), "moderation": Moderation(settings)}
    if settings.kind == "anthropic":
        return {"chat": Anthropic(settings)}
    return {"chat": Scorer(), "moderation": Scorer()}


def _is_lost(prompt: Prompt, reply: Reply) -> bool:
    """Whether nothing in a whole reply can be read as what was asked for."""
    try:
        read_object(reply.text, reply.fields, prompt.schema)
    except ReplyFault as fault:
        return reply.stop == "complete" and fault.reason == "judge_unparseable"
    return False


def _with_tokens(reply: Reply, lost: Sequence[Reply]) -> Reply:
    if not lost:
        return reply
    return structs.replace(
        reply,
        input_tokens=reply.input_tokens + sum(one.input_tokens for one in lost),
        output_tokens=reply.output_tokens + sum(one.output_tokens for one in lost),
    )
