"""What a JSON Schema and a value can cost together, known before either is handed to a validator.

A validator's work grows with the schemas it applies to each value. A few references multiply those without bound: a
schema that refers twice to another, which refers twice to another, and so on; or many that all refer to one another.
"""

from typing import Any, NamedTuple

from service.primitives import RuleFault
from service.primitives.schemagraph import Node, depth_first


class Bounds(NamedTuple):
    """Schemas in one schema once each reference is replaced by what it refers to, and those times values to check."""

    schemas: int
    visits: int


# A validator lets no other thread run, so each bound stands for about half a second. Measured: a visit costs 10 to
# 20 ns; in recursion 100 ns, and 15 us where a schema depends on what others leave over.
PLAIN = Bounds(10_000, 40_000_000)
RECURSIVE = Bounds(100_000, 5_000_000)
RECURSIVE_UNEVALUATED = Bounds(1_500, 40_000)

MAX_PATTERN_STEPS = 100_000_000
"""Pattern instructions times characters of the value's texts."""

MAX_EXPLANATION = 500_000
"""Values copied into errors, where each error counts as fifty."""


class Extent(NamedTuple):
    """Size of a value: itself and all values inside, their texts, and the characters of those (keys included)."""

    values: int
    texts: int
    characters: int


class Cost(NamedTuple):
    """Size of a schema: schemas that one value can meet, their patterns, and those patterns' steps for a character."""

    schemas: int
    patterns: int
    steps: int


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

    def check(self, extent: Extent) -> None:
        """Raise RuleFault for a value so large that checking it could take a second or more."""
        visits = extent.values * self.cost.schemas
        if visits > self._bounds.visits:
            raise RuleFault(
                "limit_exceeded",
                f"The schema (up to {self.cost.schemas:,} for a value) is too large for JSON of {extent.values:,} "
                "values; check parts of it by path.",
            )
        if extent.characters * self.cost.steps > MAX_PATTERN_STEPS:
            raise RuleFault(
                "pattern_too_costly",
                f"The patterns of the schema are too large for {extent.characters:,} characters; use fewer repeats.",
            )

    def explains(self, value: Any, extent: Extent) -> bool:
        """Whether all errors of the value can be listed: a validator copies each value it finds at fault."""
        if extent.values > MAX_EXPLANATION:
            return False
        weights = _weights(value)
        spent = 0
        pending = [(self._root, value)]
        while pending and spent <= MAX_EXPLANATION:
            node, part = pending.pop()
            spent += 50 + node.options + (weights.get(id(part)) or _weight(part))
            pending.extend((schema, part) for schema in node.here)
            if isinstance(part, dict):
                pending.extend((schema, part[name]) for name, schema in node.named.items() if name in part)
                pending.extend((schema, member) for schema in node.members for member in part.values())
            elif isinstance(part, list):
                pending.extend((schema, element) for schema in node.elements for element in part)
        return spent <= MAX_EXPLANATION

    def _unroll(self, order: list[Node]) -> dict[Node, Cost]:
        unrolled: dict[Node, Cost] = {}
        for node in order:
            own = Cost(1, len(node.patterns), sum(node.patterns))
            inner = [Cost(1, 0, 0) if child in self._cut else unrolled[child] for child in node.applied()]
            unrolled[node] = _sum([own, *inner])
            if unrolled[node].schemas > PLAIN.schemas:
                raise _too_large(PLAIN.schemas)
        return unrolled

    def _total(self) -> Cost:
        """Sum over the ways through the cycles: a validator has a copy of each schema for each way that leads to it.

        Ways through the same schemas in another order share their copies, unless those depend on what is left over.
        """
        total = Cost(0, 0, 0)
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


def measure(value: Any) -> Extent:
    """Extent of a JSON value."""
    values = texts = characters = 0
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
    return Extent(values, texts, characters)


def _sum(costs: list[Cost]) -> Cost:
    return Cost(*map(sum, zip(*costs, strict=True)))


def _weights(value: Any) -> dict[int, int]:
    """What a copy of each array and object inside a value takes, by identity."""
    order = [value] if isinstance(value, (dict, list)) else []
    for container in order:
        order.extend(part for part in _parts(container) if isinstance(part, (dict, list)))
    weights: dict[int, int] = {}
    for container in reversed(order):
        weights[id(container)] = 1 + sum(weights.get(id(part)) or _weight(part) for part in _parts(container))
    return weights


def _weight(scalar: Any) -> int:
    return 1 + len(scalar) // 16 if isinstance(scalar, str) else 1


def _parts(container: Any) -> Any:
    return container.values() if isinstance(container, dict) else container


def _too_large(limit: int) -> RuleFault:
    return RuleFault(
        "limit_exceeded",
        f"The schema is more than {limit:,} schemas once its references are replaced by what they refer to; where "
        "several schemas share a choice of schemas, put that choice under $defs once and refer to it.",
    )
