"""Whose turn it is."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager


class Gate:
    """Lets in as many as `limit` says at the time; those who wait take turns by group, so a small one is not held up.

    Belongs to one event loop.
    """

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._queues: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()
        self.inside = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(not turn.done() for queue in list(self._queues.values()) for turn in list(queue))

    @asynccontextmanager
    async def slot(self, group: Hashable) -> AsyncIterator[None]:
        """A place inside, as long as the block lasts."""
        await self._enter(group)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, group: Hashable) -> None:
        if not self._queues and self.inside < self._limit():
            self.inside += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(group, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # its turn had come already
                self._leave()
            raise

    def _leave(self) -> None:
        self.inside -= 1
        while self._queues and self.inside < self._limit():
            turn = self._next()
            if not turn.done():
                self.inside += 1
                turn.set_result(None)

    def _next(self) -> asyncio.Future[None]:
        group, queue = self._queues.popitem(last=False)
        turn = queue.popleft()
        if queue:
            self._queues[group] = queue
        return turn
