"""Connections to one server."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx

IDLE_SECONDS = 5.0
"""How long a connection is kept that nobody uses."""

_ONE = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS)


class Lines:
    """As many connections as there are calls under way, each for one call at a time and kept for the next.

    A pool of httpx goes through all its connections for every call, and offers one that is free to several calls at
    once. Belongs to one event loop.
    """

    def __init__(self, proxy: httpx.URL | None, clock: Callable[[], float]) -> None:
        self._proxy = None if proxy is None else httpx.Proxy(proxy)
        self._clock = clock
        self._verify = httpx.create_ssl_context(trust_env=False)
        self._idle: deque[tuple[httpx.AsyncHTTPTransport, float]] = deque()

    @asynccontextmanager
    async def free(self) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        """The one used last of those that are free, or a new one, as long as the block lasts.

        It is dropped where the block fails: a call that was cancelled can leave a line that waits for ever.
        """
        line = self._idle.pop()[0] if self._idle else self._new()
        try:
            yield line
        except BaseException:
            await line.aclose()
            raise
        self._idle.append((line, self._clock()))
        await self._close_before(self._clock() - IDLE_SECONDS)

    async def close(self) -> None:
        """Drop those that are free."""
        await self._close_before(float("inf"))

    async def _close_before(self, moment: float) -> None:
        while self._idle and self._idle[0][1] < moment:
            await self._idle.popleft()[0].aclose()

    def _new(self) -> httpx.AsyncHTTPTransport:
        return httpx.AsyncHTTPTransport(verify=self._verify, trust_env=False, limits=_ONE, proxy=self._proxy)
