"""Reading the text of a path from left to right, and saying where and why it is at fault."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from service.primitives import RuleFault
from service.primitives.jsonpath.advice import Advice

MAX_NESTING = 40
"""Filters, parentheses and function calls that may stand inside one another."""

BLANKS = r"[ \t\n\r]*"

_BLANKS = re.compile(BLANKS)
_FOUND = re.compile(r"\w{1,20}|.", re.DOTALL)


def spaced(mark: str) -> re.Pattern[str]:
    """A pattern for a mark (group 1) and the blanks around it."""
    return re.compile(f"{BLANKS}({mark}){BLANKS}")


class Scanner:
    """A text and the position up to which it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._depth = 0

    def sees(self, mark: str) -> bool:
        """Whether the mark comes next."""
        return self.text.startswith(mark, self.position)

    def accept(self, mark: str) -> bool:
        """Whether the mark came next; it is then read."""
        if self.text.startswith(mark, self.position):
            self.position += len(mark)
            return True
        return False

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What came next if it fits the pattern; it is then read."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def skip_blanks(self) -> None:
        """Read the blanks that come next, if any."""
        self.take(_BLANKS)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """A part that may hold parts of its own kind. Raises RuleFault if it stands too deep."""
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self.fault(f"at most {MAX_NESTING} filters, parentheses and calls inside one another")
        yield
        self._depth -= 1

    def fault(self, expected: str, advice: Advice | str = (), at: int | None = None) -> RuleFault:
        """The fault of a path that goes on, here or at the position given, with something other than expected."""
        position = self.position if at is None else at
        found = _FOUND.match(self.text, position)
        seen = f"found {found[0]!r}" if found else "it ends"
        detail = f"Expected {expected} at character {position + 1} of the path, but {seen}."
        fix = advice if isinstance(advice, str) else self._fix(advice, position)
        return RuleFault("invalid_path", f"{detail} {fix}" if fix else detail)

    def _fix(self, advice: Advice, position: int) -> str:
        return next((fix for pattern, fix in advice if pattern.match(self.text, position)), "")
