"""What one evaluation of a path may cost."""

from collections.abc import Callable
from time import thread_time
from typing import Any, TypeVar

from service.primitives import RuleFault

Found = TypeVar("Found")

STEP_BUDGET = 200_000
"""Steps one evaluation may take: nodes visited, candidates tested and values selected, inner queries included."""

MAX_VISITS = 1_000_000
"""Nodes of the document to the power of the descents in the path, above which a path is not even tried."""

REGEX_SECONDS = 0.25
"""Processor time that all regular expressions of one evaluation may take."""


class Run:
    """One evaluation: the root of its document and what it may still spend."""

    __slots__ = ("_seconds", "_steps", "root")

    def __init__(self, root: Any) -> None:
        self.root = root
        self._steps = STEP_BUDGET
        self._seconds = REGEX_SECONDS

    def spend(self, steps: int) -> None:
        """Take steps off the budget. Raises RuleFault path_too_costly when it is used up."""
        self._steps -= steps
        if self._steps < 0:
            raise RuleFault(
                "path_too_costly",
                f"The path takes over {STEP_BUDGET:,} steps on this document. "
                "Name members instead of '..' and '*', or test fewer candidates.",
            )

    def timed(self, search: Callable[[], Found]) -> Found:
        """What a search with a regular expression finds. Raises RuleFault regex_timeout when time is used up."""
        start = thread_time()
        found = search()
        self._seconds -= thread_time() - start
        if self._seconds < 0:
            raise RuleFault(
                "regex_timeout",
                f"The patterns of the path took over {REGEX_SECONDS * 1000:.0f} ms on this document. "
                "Simplify them, or test fewer candidates.",
            )
        return found
