"""Whether a judge that keeps failing is asked at all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

from service.judge.faults import Down, JudgeFault, LeftAlone, Passing

FAILURES = 5
SPAN = 2.0
PAUSE = 10.0
PATIENCE = 10.0
SILENT = "had not answered when it was given up"

State = Literal["closed", "open", "half_open"]

log = logging.getLogger("scorewright.judge")


class Breaker:
    """Open after FAILURES in a row over at least SPAN seconds; a single call then tries again every PAUSE seconds.

    The span keeps a hiccup, which fails all calls under way at once, from failing those that come after it. Whoever
    comes while the single call is out waits for what it finds. A call that is given up after `patience` seconds has
    failed, too: else a judge that hangs until each request's deadline would never be found out. Belongs to one event
    loop.
    """

    def __init__(self, name: str, clock: Callable[[], float], patience: float = PATIENCE) -> None:
        self._name = name
        self._clock = clock
        self._patience = patience
        self._failures = 0
        self._since = 0.0
        self._last = ""
        self._retry_at: float | None = None
        self._trial: asyncio.Event | None = None

    @property
    def state(self) -> State:
        """What it is now."""
        if self._trial is not None:
            return "half_open"
        return "closed" if self._retry_at is None else "open"

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Counts the call in the block. LeftAlone where it must not be made."""
        trial = await self._admitted()
        began = self._clock()
        try:
            yield
        except JudgeFault as fault:
            self._failed(fault) if isinstance(fault, (Passing, Down)) else self._worked()
            raise
        except asyncio.CancelledError:
            if self._clock() - began >= self._patience:
                self._failed(Passing(SILENT))
            raise
        else:
            self._worked()
        finally:
            if trial is not None:
                self._trial = None
                trial.set()

    async def _admitted(self) -> asyncio.Event | None:
        """The trial that the call is, if it is one."""
        while self._trial is not None:
            await self._trial.wait()
        if self._retry_at is None:
            return None
        if self._clock() < self._retry_at:
            raise LeftAlone(f"is left alone for up to {PAUSE:.0f} s: {self._failures} times in a row it {self._last}")
        self._trial = asyncio.Event()
        return self._trial

    def _worked(self) -> None:
        if self._retry_at is not None:
            log.warning("the judge %s answers again", self._name)
        self._failures, self._retry_at = 0, None

    def _failed(self, fault: JudgeFault) -> None:
        now = self._clock()
        self._since = self._since if self._failures else now
        self._failures += 1
        self._last = fault.said
        if self._failures >= FAILURES and now - self._since >= SPAN:
            if self._retry_at is None:
                log.warning("the judge %s %s, for the %dth time in a row", self._name, fault.said, self._failures)
            self._retry_at = now + PAUSE
