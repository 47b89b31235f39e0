"""Where work is done: small work on the event loop, the rest in one thread that gives each request a turn.

More threads would only queue for the interpreter lock. Work is a generator that yields at least every few milliseconds;
the thread goes round the requests in hand, so that a large batch delays a middling one by a turn and not by its whole.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from threading import Condition, Thread
from typing import Any, TypeVar

from service.core.errors import Overloaded

T = TypeVar("T")

Steps = Generator[None, None, T]


class Abandoned(Exception):
    """Nobody waits for the result any more."""


def drain(steps: Steps[T]) -> T:
    """The result of work done at once, here."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


class _Job:
    def __init__(self, steps: Steps[Any]) -> None:
        self.steps = steps
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.gone = False

    def settle(self, result: Any, error: BaseException | None) -> None:
        self.loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class Lane:
    """One thread for all large requests."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._wake = Condition()
        self._stopped = False
        self._thread = Thread(target=self._work, name="scoring", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Requests in hand or waiting."""
        return self._waiting

    async def run(self, steps: Steps[T], leaving: Callable[[], Awaitable[Any]]) -> T:
        """The result of the work. Abandoned if `leaving` came true first: the work is dropped at its next pause.

        Overloaded if the lane has as many requests as it may.
        """
        if self._waiting >= self._capacity:
            raise Overloaded(f"{self._waiting} large requests are in work already", {"Retry-After": "1"})
        job = _Job(steps)
        with self._wake:
            self._jobs.append(job)
            self._waiting += 1
            self._wake.notify()
        left = asyncio.ensure_future(leaving())
        try:
            await asyncio.wait((job.future, left), return_when=asyncio.FIRST_COMPLETED)
        finally:
            job.gone = True
            left.cancel()
        if not job.future.done():
            raise Abandoned
        return job.future.result()  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End the thread; what is in hand is dropped."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._thread.join(timeout=5)

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._jobs or self._stopped)
                if self._stopped:
                    return
                job = self._jobs.popleft()
            more = self._advance(job)
            with self._wake:
                if more:
                    self._jobs.append(job)
                else:
                    self._waiting -= 1

    def _advance(self, job: _Job) -> bool:
        """Take one step; whether there are more to come."""
        if job.gone:
            job.steps.close()
            return False
        try:
            next(job.steps)
        except StopIteration as end:
            job.settle(end.value, None)
            return False
        except BaseException as error:
            job.settle(None, error)
            return False
        return True
