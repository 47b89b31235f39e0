"""What the threads that share a model do next."""

from collections import deque
from collections.abc import Callable
from threading import Condition, RLock

Task = Callable[[], None]

REST_AFTER_SECONDS = 1.0
"""After so long without work the memory that only runs need is given back."""


class Turns:
    """An errand and a run by turns, so that neither waits for all of the other; a rest when there is nothing to do.

    `next_run` is called under `lock`, and gives None where nothing is ready.
    """

    def __init__(self, lock: RLock, next_run: Callable[[], Task | None], rest: Task) -> None:
        self._lock = lock
        self._next_run = next_run
        self._rest = rest
        self._errands: deque[Task] = deque()
        self._work_there = Condition(lock)
        self._has_run = False
        self._has_memory_to_return = False
        self._closed = False

    def add(self, errand: Task) -> None:
        """Have some thread do an errand after those that were added before."""
        with self._lock:
            self._errands.append(errand)
            self._work_there.notify()

    def wake(self) -> None:
        """Tell the threads that runs are ready."""
        with self._lock:
            self._work_there.notify_all()

    def ran(self) -> None:
        """Note that a run has ended, so that there is memory to give back."""
        with self._lock:
            self._has_memory_to_return = True

    def close(self) -> None:
        """Give nobody anything to do any more."""
        with self._lock:
            self._closed = True
            self._work_there.notify_all()

    def next(self) -> Task | None:
        """What the calling thread is to do, waited for; None once this is closed."""
        with self._lock:
            while not self._closed:
                if task := self._due():
                    return task
                patience = REST_AFTER_SECONDS if self._has_memory_to_return else None
                if not self._work_there.wait(patience) and self._has_memory_to_return:
                    self._has_memory_to_return = False
                    return self._rest
        return None

    def _due(self) -> Task | None:
        is_for_errand = self._has_run and self._errands
        if not is_for_errand and (run := self._next_run()):
            self._has_run = True
            return run
        if not self._errands:
            return None
        self._has_run = False
        return self._errands.popleft()
