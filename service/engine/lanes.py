"""Where work is done: small work on the event loop, the rest in one thread that gives each request a turn.

More threads would only queue for the interpreter lock. Work is a generator that yields at least every few milliseconds;
the thread goes round the requests in hand, so that a large batch delays a middling one by a turn and not by its whole.
Work that yields a future is put aside until that is done.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from threading import Condition, Thread
from typing import Any, TypeVar

from service.core.errors import Overloaded

T = TypeVar("T")

Steps = Generator[Future[Any] | None, None, T]

SLICE_SECONDS = 0.005
"""How long work goes on before it offers a pause."""


class Abandoned(Exception):
    """Nobody waits for the result any more."""


def drain(steps: Steps[T]) -> T:
    """The result of work done here, in one go."""
    while True:
        try:
            future = next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if future is not None:
            wait((future,))


def awaited(future: Future[T]) -> Steps[T]:
    """The result of a future, cancelled if the work is dropped first."""
    yield from all_awaited([future], ())
    return future.result()


def all_awaited(futures: Sequence[Future[Any]], meanwhile: Iterable[Future[Any] | None]) -> Steps[None]:
    """Futures that are all done in the end, cancelled if the work is dropped first; with something to do meanwhile."""
    try:
        if futures:
            yield from meanwhile
        for future in futures:
            yield future
    except GeneratorExit:
        for future in futures:
            future.cancel()
        raise


class _Job:
    def __init__(self, steps: Steps[Any]) -> None:
        self.steps = steps
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.gone = False
        self.waits_for: Future[Any] | None = None

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
        """Requests in hand or waiting for a turn; those put aside are not among them."""
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
            self._resume(job)
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
            more, future = self._advance(job)
            with self._wake:
                if more and (future is None or job.gone):
                    self._jobs.append(job)
                    continue
                self._waiting -= 1
                job.waits_for = future
            if future is not None:
                future.add_done_callback(lambda _, job=job: self._resume(job))  # type: ignore[misc]

    def _advance(self, job: _Job) -> tuple[bool, Future[Any] | None]:
        """Take one step; whether there are more to come, and what the next one waits for."""
        if job.gone:
            job.steps.close()
            return False, None
        try:
            return True, next(job.steps)
        except StopIteration as end:
            job.settle(end.value, None)
        except BaseException as error:
            job.settle(None, error)
        return False, None

    def _resume(self, job: _Job) -> None:
        """Take up what was put aside: what it waits for is there, or nobody wants it any more."""
        with self._wake:
            if job.waits_for is not None:
                job.waits_for = None
                self._waiting += 1
                self._jobs.append(job)
                self._wake.notify()
