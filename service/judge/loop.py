"""An event loop in a thread of its own."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Loop:
    """Begins with the first work; safe to use from any thread but its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether no more work is taken."""
        return self._is_closed

    def submit(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T] | None:
        """What becomes of the work, None where it is not taken. Cancelling that cancels the work."""
        with self._lock:
            if self._is_closed:
                return None
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Take no more work, do what is to be done last, and end the thread; nothing where none began."""
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(_ending(last), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            # Names of hosts are looked up in its threads.
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()


async def _ending(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await last()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
