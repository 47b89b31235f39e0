"""The parts of a parsed path, named as in RFC 9535."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from service.primitives.patterns import Pattern

Operator = Literal["==", "!=", "<", "<=", ">", ">="]

Scope = Literal["members", "self", "self_once"]
"""What a filter tests. `members`: the children of a node (RFC 9535). `self`: an object itself, the elements of an array
(Jayway). `self_once`: the same after `..`, where an object in an array tests itself and is not tested as an element."""


@dataclass(frozen=True, slots=True)
class Name:
    """The member of an object that has this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """One element of an array, counted from its end if negative."""

    index: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Elements of an array, as in Python, but a step of 0 selects nothing."""

    start: int | None
    stop: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Every child."""


@dataclass(frozen=True, slots=True)
class Filter:
    """The candidates within the scope that pass the test."""

    test: Test
    scope: Scope


@dataclass(frozen=True, slots=True)
class Length:
    """Jayway's `.length()`: a number in place of an array, object or text."""


Selector = Name | Index | Slice | Wildcard | Filter | Length


@dataclass(frozen=True, slots=True)
class Children:
    """What each selector picks from a node."""

    selectors: tuple[Selector, ...]

    @property
    def singular(self) -> bool:
        """Whether it picks one node at most."""
        return len(self.selectors) == 1 and isinstance(self.selectors[0], Name | Index | Length)


@dataclass(frozen=True, slots=True)
class Descent:
    """The first half of a descendant segment: a node and all below it, as far as they have children."""

    singular = False


Segment = Children | Descent


@dataclass(frozen=True, slots=True)
class Query:
    """A path from the root (`$`) or, within a filter, from the current node (`@`)."""

    absolute: bool
    segments: tuple[Segment, ...]

    @property
    def singular(self) -> bool:
        """Whether it selects one node at most, whatever the document."""
        return all(segment.singular for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, text, true, false or null."""

    value: Any


@dataclass(frozen=True, slots=True)
class Call:
    """A function with well-typed arguments."""

    function: str
    arguments: tuple[Operand, ...]


Operand = Constant | Query | Call


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values set against each other."""

    operator: Operator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Matches:
    """Jayway's `=~`: whether a text matches a regular expression from end to end."""

    text: Operand
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a query selects anything, even null or false."""

    query: Query


@dataclass(frozen=True, slots=True)
class Holds:
    """Whether a function of logical result is true."""

    call: Call


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a test."""

    test: Test


@dataclass(frozen=True, slots=True)
class Every:
    """Tests joined by `&&`."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Tests joined by `||`."""

    tests: tuple[Test, ...]


Test = Comparison | Matches | Exists | Holds | Not | Every | Some
