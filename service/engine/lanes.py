"""Where work is done: small work on the event loop, the rest in one thread that gives each request a turn.

More threads would only queue for the interpreter lock. Work is a generator that yields at least every few milliseconds;
the thread goes round the requests in hand, so that a large batch delays a middling one by a turn and not by its whole.
Work that yields a future is put aside until that is done.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from threading import Condition, Thread
from time import thread_time
from typing import Any, TypeVar

from service.core.errors import Overloaded

log = logging.getLogger("scorewright.engine")

T = TypeVar("T")

Steps = Generator[Future[Any] | None, None, T]

SLICE_SECONDS = 0.005
"""How long work goes on before it offers a pause."""

LARGE_BYTES = 256 * 1024
"""From here on a body counts as one large request, a smaller one as its share of this."""

SMALL_BYTES = 16 * 1024
"""What the smallest body counts for."""

LARGE_SECONDS = 0.1
"""A request that has taken so long in the thread is a large one, whatever its body."""


class Abandoned(Exception):
    """Nobody waits for the result any more."""


def drain(steps: Steps[T]) -> T:
    """The result of work done here, in one go."""
    while True:
        try:
            future = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if future is not None:
            wait((future,))


def awaited(future: Future[T]) -> Steps[T]:
    """The result of a future, cancelled if the work is dropped first."""
    yield from all_awaited([future], ())
    return future.result()


def all_awaited(futures: Sequence[Future[Any]], meanwhile: Iterable[Future[Any] | None]) -> Steps[None]:
    """Futures that are all done in the end, with something to do meanwhile; cancelled if that fails or is dropped."""
    try:
        if futures:
            yield from meanwhile
        for future in futures:
            yield future
    except BaseException:
        for future in futures:
            future.cancel()
        raise


class _Job:
    def __init__(self, steps: Steps[Any], size: int) -> None:
        self.steps = steps
        self.size = size
        self.seconds = 0.0
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
    """One thread for all requests that are not certain to be small work.

    They count by their bodies. The next in line begins only while fewer than `capacity` are in hand, those put aside
    not counted: a small body can ask for much, and the results of many at once would not fit in memory.
    """

    def __init__(self, capacity: int) -> None:
        """`capacity` is in large requests, those put aside left out."""
        self._capacity = capacity
        self._line: deque[_Job] = deque()
        self._jobs: deque[_Job] = deque()
        self._load = 0
        self._wake = Condition()
        self._stopped = False
        self._thread = Thread(target=self._work, name="scoring", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> float:
        """Requests in hand or in line, in large ones; those put aside are not among them."""
        return self._load / LARGE_BYTES

    async def run(self, steps: Steps[T], leaving: Callable[[], Awaitable[Any]], body_bytes: int = LARGE_BYTES) -> T:
        """The result of the work. Abandoned if `leaving` came true first: the work is dropped at its next pause.

        Overloaded if the lane has as much as it may.
        """
        job = _Job(steps, min(max(body_bytes, SMALL_BYTES), LARGE_BYTES))
        with self._wake:
            if self._load + job.size > self._capacity * LARGE_BYTES:
                told = f"As much is in work as {self._capacity} large requests (waiting_requests at /v1/limits)"
                raise Overloaded(told, {"Retry-After": "1"})
            self._line.append(job)
            self._load += job.size
            self._wake.notify()
        left = asyncio.ensure_future(leaving())
        try:
            await asyncio.wait((job.future, left), return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            self._leave(job)
        if not job.future.done():
            raise Abandoned
        result: T = job.future.result()
        return result

    def stop(self) -> None:
        """End the thread; what is in hand is dropped."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._thread.join(timeout=5)

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._jobs or self._line or self._stopped)
                if self._stopped:
                    return
                job = self._next()
            more, future = self._advance(job)
            with self._wake:
                if more and (future is None or job.gone):
                    self._jobs.append(job)
                    continue
                self._load -= job.size
                job.waits_for = future
            if future is not None:
                future.add_done_callback(partial(self._resume, job))

    def _next(self) -> _Job:
        """Whose turn it is, those from the line included for whom there is room."""
        while self._line and len(self._jobs) < self._capacity:
            self._jobs.append(self._line.popleft())
        job = self._jobs.popleft()
        if job.seconds > LARGE_SECONDS:
            self._load += LARGE_BYTES - job.size
            job.size = LARGE_BYTES
        return job

    def _advance(self, job: _Job) -> tuple[bool, Future[Any] | None]:
        """Take one step; whether there are more to come, and what the next one waits for."""
        if job.gone:
            _close(job.steps)
            return False, None
        began = thread_time()
        try:
            return True, next(job.steps)
        except StopIteration as end:
            job.settle(end.value, None)
        except BaseException as error:
            job.settle(None, error)
        finally:
            job.seconds += thread_time() - began
        return False, None

    def _leave(self, job: _Job) -> None:
        """Let a job go that nobody waits for any more: at once if it has not begun, else at its next step."""
        with self._wake:
            job.gone = True
            if not job.future.done() and job in self._line:
                self._line.remove(job)
                self._load -= job.size
        self._resume(job)

    def _resume(self, job: _Job, _: Future[Any] | None = None) -> None:
        """Take up what was put aside: what it waits for is there, or nobody wants it any more."""
        with self._wake:
            if job.waits_for is not None:
                job.waits_for = None
                self._load += job.size
                self._jobs.append(job)
                self._wake.notify()


def _close(steps: Steps[Any]) -> None:
    try:
        steps.close()
    except Exception:
        log.exception("work that nobody waits for could not be closed")
