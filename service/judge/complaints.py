"""What the log says of a judge that fails."""

import logging
from collections import Counter
from collections.abc import Callable

from service.judge.faults import Cause, JudgeFault

QUIET = 300.0
"""Seconds for which a cause that was told is not told again."""

log = logging.getLogger("scorewright.judge")


class Complaints:
    """Warns of each cause once, and again after QUIET seconds, with how often it came up in between.

    Belongs to one event loop.
    """

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._told_at: dict[Cause, float] = {}
        self._untold: Counter[Cause] = Counter()

    def tell(self, fault: JudgeFault) -> None:
        """Warn of a fault, unless its cause was told a short while ago."""
        now, cause = self._clock(), fault.cause
        if now - self._told_at.get(cause, -QUIET) < QUIET:
            self._untold[cause] += 1
            return
        more = f"; {self._untold[cause]:,} times more since it was last told" if self._untold[cause] else ""
        log.warning("the judge %s %s (%s%s)", self._name, fault.said, cause, more)
        self._told_at[cause] = now
        del self._untold[cause]
