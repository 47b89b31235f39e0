"""How many calls of one judge may be under way at once."""

from collections.abc import Callable

ROUNDS_TO_FULL = 16
"""A judge that never complains gets back all of its calls in so many rounds."""
LEAST_PAUSE = 0.1
"""How long nothing is sent, at least, after a round that was refused as a whole."""
LONGEST_PAUSE = 600.0
"""At most: no request lives longer, and a judge that asks for a year, by mistake perhaps, is tried again."""


class Pace:
    """Starts at `most`, sinks as a judge says that it has too much to do, and rises again.

    A round is as many answers as calls may be under way. In each, the limit loses half of the share that was refused,
    as RFC 8257 (DCTCP) has it: refusals at random, which say little, cost little, and a real limit is met within a
    few rounds. Unless most were refused, it then gains a sixteenth of `most`, one at least; if all were, whoever is
    next would be refused as well, and there is a pause.
    """

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._limit = float(most)
        self._answers = self._refusals = 0
        self._after = self._resume = 0.0

    @property
    def limit(self) -> int:
        """Calls that may be under way; at least 1."""
        return int(self._limit)

    @property
    def pause(self) -> float:
        """Seconds for which nothing should be sent."""
        return max(self._resume - self._clock(), 0.0)

    def answered(self) -> None:
        """A call ended without complaint."""
        self._count(refusals=0)

    def refused(self, after: float) -> None:
        """A call came back: too many at once, try again `after` so many seconds."""
        self._after = max(self._after, after)
        self._count(refusals=1)

    def _count(self, refusals: int) -> None:
        self._answers += 1
        self._refusals += refusals
        if self._answers >= self.limit:
            self._end_round(self._refusals / self._answers)

    def _end_round(self, share: float) -> None:
        gain = max(self._most / ROUNDS_TO_FULL, 1.0) if share < 0.5 else 0.0
        self._limit = min(max(self._limit * (1 - share / 2) + gain, 1.0), float(self._most))
        if share == 1:
            self._resume = self._clock() + min(max(self._after, LEAST_PAUSE), LONGEST_PAUSE)
        self._answers = self._refusals = 0
        self._after = 0.0
