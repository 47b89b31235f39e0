"""What a JSON Schema and a value can cost together, known before either is handed to a validator.

A validator's work grows with the schemas it applies to each value. A few references multiply those without bound: a
schema that refers twice to another, which refers twice to another, and so on; or many that all refer to one another.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

from service.primitives import RuleFault
from service.primitives.schemagraph import Node, depth_first
from service.primitives.schemakeywords import is_number, number_weight, text_weight


class Bounds(NamedTuple):
    """Schemas in one schema once each reference is replaced by what it refers to, and what each visit of one takes."""

    schemas: int
    steps: int


# A step is about 15 ns. Measured: a visit takes that, 100 ns in recursion, and 15 us there where a schema depends on
# what others leave over.
PLAIN = Bounds(10_000, 1)
RECURSIVE = Bounds(100_000, 7)
RECURSIVE_UNEVALUATED = Bounds(1_500, 1_000)

MAX_STEPS = 20_000_000
"""Steps of a check: a validator lets no other thread run, so this bound stands for about a third of a second."""

MAX_PATTERN_STEPS = 50_000_000
"""Pattern instructions times characters of the value's texts; one takes up to 6 ns."""

MAX_EXPLANATION = 500_000
"""Values copied into errors, where each error counts as fifty; one takes up to 300 ns and 230 bytes."""

# Counting a visit one by one takes as long as this many steps of the validator.
_COUNTING = 100
_MAX_COUNTED = MAX_STEPS // _COUNTING

MAX_BACKTRACKS = (100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100)
"""Steps back of one pattern on one text, where a pattern needs an engine that backtracks: as many as are affordable."""

# A step back takes 55 ns; with it may go a run of a part of the pattern over the rest of the text, 0.15 ns for each
# of the pattern's instructions and character. Each of these bounds stands for less than a third of a second.
_MAX_STEPS_BACK = 5_000_000
_MAX_RUNS = 2_000_000_000


class Extent(NamedTuple):
    """Size of a value: itself and all values inside, texts and characters (keys included), weight of numbers."""

    values: int
    texts: int
    characters: int
    digits: int


class Cost(NamedTuple):
    """Size of a schema: schemas that one value can meet, and sums over them of what each asks (see Checks).

    `patterns` counts their patterns, `reading` is the steps that those and other keywords take for a character.
    """

    schemas: int
    steps: int
    numbers: int
    digits: int
    patterns: int
    reading: int

    def of(self, values: int, digits: int) -> int:
        """Steps for so many values, with numbers of such weight."""
        return values * (self.steps + self.digits) + digits * self.numbers


class SchemaCost:
    """Bounds of one schema. Raises RuleFault if no value could be checked within them.

    `recursive` is true of a schema that refers to itself for what a value holds. One that refers to itself for the same
    value has no meaning and is `invalid_schema`; one that unrolls to too many schemas is `limit_exceeded`. `branches`
    is true of one with a choice of schemas, whose errors hold those of each branch.
    """

    def __init__(self, root: Node) -> None:
        self._root = root
        order, self._cut = depth_first([root], Node.applied)
        if depth_first(order, lambda node: node.here)[1]:
            raise RuleFault("invalid_schema", "The schema refers to itself without going down into the value.")
        self._unrolled = self._unroll(order)
        self.recursive = bool(self._cut)
        self.branches = any(node.branches for node in order)
        self._unevaluated = any(node.unevaluated for node in order)
        self._bounds = PLAIN
        if self.recursive:
            self._bounds = RECURSIVE_UNEVALUATED if self._unevaluated else RECURSIVE
        self.cost = self._total()

    def check(self, value: Any, extent: Extent) -> None:
        """Raise RuleFault for a value so large that checking it could take longer than a third of a second."""
        if self._steps(extent) > MAX_STEPS and not self._affords(value, extent):
            raise RuleFault(
                "limit_exceeded",
                f"The schema (up to {self.cost.schemas:,} for a value) is too large for JSON of {extent.values:,} "
                f"values: over {MAX_STEPS:,} steps; check parts of it by path, or ask for less of each.",
            )
        if extent.characters * self.cost.reading > MAX_PATTERN_STEPS:
            raise RuleFault(
                "pattern_too_costly",
                f"The patterns of the schema take over {MAX_PATTERN_STEPS:,} steps on {extent.characters:,} "
                "characters; use fewer patterns and repeats, or check parts of the JSON by path.",
            )

    def backtracks(self, extent: Extent) -> int:
        """Steps back that each pattern may take on each text. RuleFault `pattern_too_costly` if that is too few."""
        matches = extent.texts * self.cost.patterns
        runs = extent.characters * self.cost.reading
        for limit in MAX_BACKTRACKS:
            if matches * limit <= _MAX_STEPS_BACK and runs * limit <= _MAX_RUNS:
                return limit
        raise too_costly(f"are too many for JSON of {extent.texts:,} texts of {extent.characters:,} characters")

    def explains(self, value: Any, extent: Extent) -> bool:
        """Whether all errors of the value can be listed: each copies the value at fault, and the way to it."""
        if extent.values > _MAX_COUNTED:
            return False
        weights = Weights(value, text_weight)

        def errors(node: Node, part: Any, trail: int) -> int:
            asked = node.checks
            each = asked.bars * len(part) if isinstance(part, (dict, list)) else 0
            told = 50 + asked.told + trail // 16
            return asked.complaints * (told + weights.of(part)) + each * told

        return self._within(value, errors, MAX_EXPLANATION)

    def _steps(self, extent: Extent) -> int:
        """No value meets more than every schema."""
        visits = extent.values * self.cost.schemas * self._bounds.steps
        return visits + self.cost.of(extent.values, extent.digits)

    def _affords(self, value: Any, extent: Extent) -> bool:
        """Whether counting each visit of a schema to a value shows fewer steps than a bound for any value."""
        if self.recursive or self._unevaluated or extent.values > _MAX_COUNTED:
            return False
        values, digits = Weights(value, lambda _: 1), Weights(value, _digits)

        def steps(node: Node, part: Any, _: int) -> int:
            asked = node.checks
            compared = asked.digits + asked.numbers * digits.of(part)
            return _COUNTING + asked.steps + asked.deep * values.of(part) + compared

        return self._within(value, steps, MAX_STEPS)

    def _within(self, value: Any, price: Callable[[Node, Any, int], int], limit: int) -> bool:
        """Whether the visits of schemas to values cost no more than a limit; a trail is the length of names so far."""
        spent = 0
        pending = [(self._root, value, 0)]
        while pending and spent <= limit:
            node, part, trail = pending.pop()
            trail += node.label
            spent += price(node, part, trail)
            pending.extend((schema, part, trail) for schema in node.here)
            if spent + _COUNTING * _inner(node, part) > limit:
                return False
            if isinstance(part, dict):
                # What is wrong with a name is told of the whole object.
                pending.extend((schema, part, trail) for schema in node.names for _ in part)
                named = ((schema, name) for name, schema in node.named.items() if name in part)
                every = ((schema, name) for schema in node.members for name in part)
                pending.extend((schema, part[name], trail + len(name)) for schema, name in chain(named, every))
            elif isinstance(part, list):
                pending.extend((schema, element, trail) for schema in node.elements for element in part)
        return spent <= limit

    def _unroll(self, order: list[Node]) -> dict[Node, Cost]:
        unrolled: dict[Node, Cost] = {}
        for node in order:
            inner = [_CUT if child in self._cut else unrolled[child] for child in node.applied()]
            unrolled[node] = _sum([_own(node), *inner])
            if unrolled[node].schemas > PLAIN.schemas:
                raise _too_large(PLAIN.schemas)
        return unrolled

    def _total(self) -> Cost:
        """Sum over the ways through the cycles: a validator has a copy of each schema for each way that leads to it.

        Ways through the same schemas in another order share their copies, unless those depend on what is left over.
        """
        total = Cost(0, 0, 0, 0, 0, 0)
        seen = set()
        pending: list[tuple[Node, frozenset[Node]]] = [(self._root, frozenset())]
        while pending:
            entry, way = pending.pop()
            if (entry, way) in seen and not self._unevaluated:
                continue
            seen.add((entry, way))
            total = _sum([total, self._unrolled[entry]])
            if total.schemas > self._bounds.schemas:
                raise _too_large(self._bounds.schemas)
            way |= {entry}
            pending.extend((onward, way) for onward in self._onward(entry) if onward not in way)
        return total

    def _onward(self, entry: Node) -> set[Node]:
        """The schemas at which a cycle closes that are in reach without passing through another of them."""
        onward, seen = set(), {entry}
        pending = [entry]
        while pending:
            for child in pending.pop().applied():
                if child in self._cut:
                    onward.add(child)
                elif child not in seen:
                    seen.add(child)
                    pending.append(child)
        return onward


class Weights:
    """Sums of what the scalars inside each part of a value weigh, an array or object itself 1."""

    def __init__(self, value: Any, scalar: Callable[[Any], int]) -> None:
        self._scalar = scalar
        self._sums: dict[int, int] = {}
        order = [value] if isinstance(value, (dict, list)) else []
        for container in order:
            order.extend(part for part in _parts(container) if isinstance(part, (dict, list)))
        for container in reversed(order):
            keys = sum(map(text_weight, container)) if isinstance(container, dict) else 0
            self._sums[id(container)] = 1 + keys + sum(map(self.of, _parts(container)))

    def of(self, part: Any) -> int:
        """What one part weighs."""
        return self._sums[id(part)] if isinstance(part, (dict, list)) else self._scalar(part)


def measure(value: Any) -> Extent:
    """Extent of a JSON value."""
    values = texts = characters = digits = 0
    pending = [value]
    while pending:
        part = pending.pop()
        values += 1
        if isinstance(part, str):
            texts += 1
            characters += len(part)
        elif isinstance(part, dict):
            texts += len(part)
            characters += sum(map(len, part))
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
        else:
            digits += _digits(part)
    return Extent(values, texts, characters, digits)


_CUT = Cost(1, 0, 0, 0, 0, 0)


def _inner(node: Node, part: Any) -> int:
    """How many visits a visit leads to inside a value at most."""
    if isinstance(part, dict):
        return len(node.named) + (len(node.names) + len(node.members)) * len(part)
    return len(node.elements) * len(part) if isinstance(part, list) else 0


def _own(node: Node) -> Cost:
    asked = node.checks
    reading = asked.reads + sum(pattern.steps for pattern in node.patterns)
    return Cost(1, asked.steps + asked.deep, asked.numbers, asked.digits, len(node.patterns), reading)


def _sum(costs: list[Cost]) -> Cost:
    return Cost(*map(sum, zip(*costs, strict=True)))


def _digits(scalar: Any) -> int:
    return number_weight(scalar) if is_number(scalar) else 0


def _parts(container: Any) -> Any:
    return container.values() if isinstance(container, dict) else container


def _too_large(limit: int) -> RuleFault:
    return RuleFault(
        "limit_exceeded",
        f"The schema is more than {limit:,} schemas once its references are replaced by what they refer to; where "
        "several schemas share a choice of schemas, put that choice under $defs once and refer to it.",
    )


def too_costly(what: str) -> RuleFault:
    """The fault of patterns that need an engine that backtracks."""
    fix = "check shorter texts, start them with ^, or avoid look-around and back-references"
    return RuleFault("pattern_too_costly", f"The patterns of the schema {what}; {fix}.")
