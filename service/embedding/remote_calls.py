"""Calls of a server that nobody vouches for: bounded in tries, in time and in bytes."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from threading import Event
from time import monotonic

import httpx
from msgspec import Struct
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from service.embedding.remote_endpoint import Endpoint
from service.embedding.remote_refusals import REFUSING
from service.embedding.remote_replies import RemoteFault
from service.primitives.servers import retry_after

PASSING_STATUSES = {
    429: "The embedding server is overloaded (status 429)",
    502: "What stands before the embedding server does not reach it (status 502)",
    503: "The embedding server is not ready (status 503)",
    504: "The embedding server did not answer what stands before it in time (status 504)",
}
REPLY_BYTES = 8 * 1024 * 1024
REFUSAL_BYTES = 64 * 1024
LATE = "The embedding server did not answer in time"

_jitter = wait_random_exponential(multiplier=0.25, max=2)


class Answer(Struct, frozen=True):
    """An answer; the body is read only where the status is 200, and of a refusal if it is short."""

    status: int
    body: bytes


class Passing(RemoteFault):
    """What another try may mend, `after` so many seconds."""

    def __init__(self, sentence: str, after: float = 0.0) -> None:
        super().__init__(sentence)
        self.after = after


class Caller:
    """Calls one server; safe to use from several threads."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] | None = None) -> None:
        self._endpoint = endpoint
        self._closed = Event()
        self._client = httpx.Client(
            headers=endpoint.sent_headers(),
            proxy=endpoint.proxy,
            trust_env=False,
            # A server that sets a new cookie each time would make every request longer than the last.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        )
        self._retrying = Retrying(
            sleep=sleep or sleep_using_event(self._closed),
            stop=stop_after_attempt(endpoint.tries) | stop_before_delay(endpoint.total_seconds),
            wait=_pause,
            retry=retry_if_exception_type(Passing),
            reraise=True,
        )

    def call(self, method: str, path: str, body: bytes = b"") -> Answer:
        """What the server answers at last, whatever its status. RemoteFault where it cannot be reached or read."""
        return self._retrying(self._once, method, path, body, monotonic() + self._endpoint.total_seconds)

    def close(self) -> None:
        """Drop every connection; whoever waits for another try gives up."""
        self._closed.set()
        self._client.close()

    def _once(self, method: str, path: str, body: bytes, give_up: float) -> Answer:
        url = self._endpoint.url.rstrip("/") + path
        try:
            with self._client.stream(method, url, content=body, timeout=self._timeout(give_up)) as response:
                return Answer(response.status_code, self._read(response, give_up))
        except httpx.TransportError as exc:
            raise Passing(_told(exc)) from exc
        except RuntimeError:
            if not self._client.is_closed:
                raise
            raise RemoteFault("The embedder is closed") from None

    def _timeout(self, give_up: float) -> httpx.Timeout:
        left = max(give_up - monotonic(), 0.001)
        return httpx.Timeout(min(self._endpoint.read_seconds, left), connect=min(self._endpoint.connect_seconds, left))

    def _read(self, response: httpx.Response, give_up: float) -> bytes:
        if response.status_code in PASSING_STATUSES:
            after = retry_after(response.headers.get("retry-after", ""), datetime.now(UTC))
            raise Passing(PASSING_STATUSES[response.status_code], after)
        if response.status_code in REFUSING:
            with suppress(RemoteFault, httpx.TransportError):
                return self._body(response, give_up, REFUSAL_BYTES)
        return self._body(response, give_up, REPLY_BYTES) if response.status_code == 200 else b""

    def _body(self, response: httpx.Response, give_up: float, most: int) -> bytes:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise RemoteFault("The embedding server compressed its answer, which was not asked for")
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > most:
                raise RemoteFault(f"The embedding server's answer is over {most:,} bytes")
            if monotonic() > give_up:
                raise Passing(LATE)
        return bytes(body)


def _pause(state: RetryCallState) -> float:
    """Never earlier than the server asks, and not all callers at once."""
    fault = state.outcome.exception() if state.outcome else None
    return _jitter(state) + (fault.after if isinstance(fault, Passing) else 0.0)


def _told(exc: httpx.TransportError) -> str:
    if isinstance(exc, (httpx.ConnectError, httpx.ConnectTimeout)):
        return "The embedding server cannot be reached"
    if isinstance(exc, httpx.PoolTimeout):
        return "Too many calls of the embedding server wait already"
    if isinstance(exc, httpx.TimeoutException):
        return LATE
    return "The connection to the embedding server broke off"
