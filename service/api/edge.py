"""The outermost layer: request ids, access, metrics and a log line for whatever comes in, matched by a route or not."""

import re
import secrets
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

from service import __version__, logs
from service.api.access import Access
from service.api.problems import CLIENT_CLOSED, Answer, answer_to
from service.config import Settings
from service.core.errors import ServiceError
from service.engine.lanes import Abandoned
from service.metrics import Metrics

UNMATCHED = "unmatched"
METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"})

Message = dict[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_VERSION = __version__.encode()


class Exchange:
    """One request and its answer, as they are counted and logged."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.started = perf_counter()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        sent = self.headers.get(b"x-request-id", b"")
        self.id = sent if _REQUEST_ID.fullmatch(sent) else secrets.token_hex(8).encode()
        self.status = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.facts: dict[str, int] = {}
        self._send = send

    async def send(self, message: Message) -> None:
        """Pass a message on, with the headers that every answer carries."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [(b"x-request-id", self.id), (b"scorewright-version", _VERSION)]
            message = {**message, "headers": [*message.get("headers", []), *own]}
        else:
            self.bytes_out += len(message.get("body", b""))
        await self._send(message)

    async def answer(self, answer: Answer) -> None:
        """Send a whole answer, unless one has begun."""
        if self.status:
            return
        length = (b"content-length", str(len(answer.body)).encode())
        headers = [*answer.headers, length]
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": answer.body})


class Edge:
    """Wraps the routed application."""

    def __init__(self, app: App, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._access = Access(settings)
        self._metrics = metrics
        self._logs = settings.log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; what is not HTTP goes straight through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope, send)
        # HEAD is answered as GET; the server leaves the body out.
        inner = {**scope, "method": "GET" if scope["method"] == "HEAD" else scope["method"], "exchange": exchange}
        with self._metrics.in_flight.track_inprogress():
            await self._serve(inner, receive, exchange)
        self._record(scope["method"], inner.get("path_template") or UNMATCHED, exchange)

    async def _serve(self, scope: Scope, receive: Receive, exchange: Exchange) -> None:
        try:
            self._access.check(scope["path"], scope["headers"])
            await self._app(scope, receive, exchange.send)
        except ServiceError as error:
            await exchange.answer(answer_to(error, scope["path"]))
        except Abandoned:
            exchange.status = exchange.status or CLIENT_CLOSED

    def _record(self, method: str, route: str, exchange: Exchange) -> None:
        seconds = perf_counter() - exchange.started
        status = exchange.status or CLIENT_CLOSED
        known = method if method in METHODS else "other"
        self._metrics.request(known, route, status, seconds, exchange.bytes_in, exchange.bytes_out)
        if self._logs:
            logs.write(
                "request",
                id=exchange.id.decode(),
                method=known,
                route=route,
                status=status,
                ms=round(seconds * 1000, 2),
                bytes_in=exchange.bytes_in,
                bytes_out=exchange.bytes_out,
                **exchange.facts,
            )
