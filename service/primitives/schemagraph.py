"""A JSON Schema as a graph: which schemas it applies to the same value, and which to what the value holds."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import re2
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from referencing import Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import Schema as Contents

from service.primitives import RuleFault
from service.primitives.schemakeywords import Checks, checks, subschemas

_HERE = frozenset({"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"})
_MEMBERS = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})
_ELEMENTS = frozenset({"additionalItems", "contains", "items", "prefixItems", "unevaluatedItems"})

_LINEAR = re2.Options()
_LINEAR.log_errors = False
_LOOK_AROUND = re.compile(r"\(\?(?:<?[=!]|>)")
_BACK_REFERENCE = re.compile(r"\\[1-9]\d*|\\k<\w*>")

MAX_HELD = 48_000_000
"""Bytes that the patterns of one schema may take once they are compiled."""

MAX_PATTERN_HELD = 8_000_000
"""Bytes that one pattern may take."""

# Measured: an instruction takes up to 60 bytes, an automaton with what it keeps of past texts up to 40 kB, and a
# schema with its validator 1.2 kB.
_BYTES_A_STEP = 60
_BYTES_AN_AUTOMATON = 40_000
_BYTES_A_NODE = 1_200


class Pattern(NamedTuple):
    """A pattern's size in steps for a character, and bytes once it is compiled."""

    steps: int
    held: int


class Node:
    """One object schema.

    `here` are the schemas it applies to the same value, `named` those for one member each, `members` and `elements`
    those that any member or element may meet, `names` those for each name. `checks` is what its own keywords ask,
    `patterns` are its patterns, `label` is the length of its name; `branches` tells whether it offers a choice of
    schemas, `unevaluated` whether it depends on what other schemas leave over.
    """

    __slots__ = (
        "branches",
        "checks",
        "elements",
        "here",
        "label",
        "members",
        "named",
        "names",
        "patterns",
        "unevaluated",
    )

    def __init__(self, schema: dict[str, Any]) -> None:
        self.here: list[Node] = []
        self.named: dict[str, Node] = {}
        self.members: list[Node] = []
        self.elements: list[Node] = []
        self.names: list[Node] = []
        self.branches = "anyOf" in schema or "oneOf" in schema
        self.unevaluated = "unevaluatedProperties" in schema or "unevaluatedItems" in schema
        self.label = 0
        self.checks: Checks = checks(schema)
        self.patterns = [_measured(pattern) for pattern in _patterns(schema)]

    def applied(self) -> list["Node"]:
        """Every schema this one applies to anything."""
        return [*self.here, *self.named.values(), *self.members, *self.elements, *self.names]

    def put(self, keyword: str, name: str | None, node: "Node") -> None:
        """Note a schema that stands under a keyword; one that is only defined there applies to nothing yet."""
        node.label = max(node.label, len(name or ""))
        if keyword == "properties" and name is not None:
            self.named[name] = node
        elif keyword in _HERE:
            self.here.append(node)
        elif keyword in _MEMBERS:
            self.members.append(node)
        elif keyword in _ELEMENTS:
            self.elements.append(node)
        elif keyword == "propertyNames":
            self.names.append(node)


def build(schema: dict[str, Any], specification: Specification[Contents]) -> tuple[Node, int]:
    """Graph of a schema that its meta-schema accepts, and about how many bytes it takes compiled, without what is data.

    Only references into the schema, or to a meta-schema, resolve: any other is RuleFault `invalid_schema`. Patterns
    that take too much memory are `pattern_too_costly`.
    """
    builder = _Builder(schema, specification)
    return builder.build(), builder.held


def depth_first(starts: Iterable[Node], edges: Callable[[Node], list[Node]]) -> tuple[list[Node], set[Node]]:
    """The nodes in reach, each after those it leads to, and the nodes at which a cycle closes."""
    order: list[Node] = []
    closing: set[Node] = set()
    is_open: dict[Node, bool] = {}
    pending = [(start, False) for start in starts]
    while pending:
        node, leaving = pending.pop()
        if leaving:
            is_open[node] = False
            order.append(node)
        elif node not in is_open:
            is_open[node] = True
            pending.append((node, True))
            for child in edges(node):
                if is_open.get(child):
                    closing.add(child)
                elif child not in is_open:
                    pending.append((child, False))
    return order, closing


class _Builder:
    def __init__(self, schema: dict[str, Any], specification: Specification[Contents]) -> None:
        self._schema = schema
        self._specification = specification
        self._root_scope = REGISTRY.resolver_with_root(specification.create_resource(schema))
        self._nodes: dict[int, Node] = {}
        self.held = 0
        self._pending: list[tuple[Node, dict[str, Any], Any]] = []
        self._dynamic: dict[str, list[tuple[dict[str, Any], Any]]] = {}

    def build(self) -> Node:
        self._collect_dynamic_anchors()
        root = self._node(self._schema, self._root_scope)
        while self._pending:
            node, schema, scope = self._pending.pop()
            for keyword, name, sub in subschemas(schema):
                node.put(keyword, name, self._node(sub, self._inner(scope, sub)))
            for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                if isinstance(reference := schema.get(keyword), str):
                    node.here.extend(self._targets(keyword, reference, scope))
        return root

    def _node(self, schema: dict[str, Any], scope: Any) -> Node:
        node = self._nodes.get(id(schema))
        if node is None:
            node = self._nodes[id(schema)] = Node(schema)
            self.held += _BYTES_A_NODE
            self._hold(node.patterns)
            self._pending.append((node, schema, scope))
        return node

    def _hold(self, patterns: list[Pattern]) -> None:
        self.held += sum(pattern.held for pattern in patterns)
        if (patterns and self.held > MAX_HELD) or any(pattern.held > MAX_PATTERN_HELD for pattern in patterns):
            raise RuleFault(
                "pattern_too_costly",
                f"The patterns of the schema take over {MAX_HELD:,} bytes compiled, or one over {MAX_PATTERN_HELD:,}; "
                "use fewer patterns and repeats, and put one that occurs often under $defs once.",
            )

    def _targets(self, keyword: str, reference: str, scope: Any) -> list[Node]:
        """The schema referred to; for a dynamic reference each that it could lead to, whatever led there."""
        try:
            resolved = scope.lookup(reference)
        except (Unresolvable, AttributeError, LookupError, TypeError, ValueError):
            raise RuleFault(
                "invalid_schema",
                f"The schema refers to {reference[:80]!r}, which is not inside it; no other document is ever fetched, "
                "so put the definition under $defs.",
            ) from None
        targets = [(resolved.contents, resolved.resolver)]
        if keyword != "$ref":
            targets += self._dynamic.get(reference.rpartition("#")[2], [])
        nodes = [self._node(contents, inner) for contents, inner in targets if isinstance(contents, dict)]
        return list(dict.fromkeys(nodes))

    def _collect_dynamic_anchors(self) -> None:
        """`$dynamicAnchor` by its name; `$recursiveAnchor`, which `#` refers to, by the empty name."""
        pending = [(self._schema, self._root_scope)]
        while pending:
            schema, scope = pending.pop()
            if isinstance(anchor := schema.get("$dynamicAnchor"), str):
                self._dynamic.setdefault(anchor, []).append((schema, scope))
            if schema.get("$recursiveAnchor") is True:
                self._dynamic.setdefault("", []).append((schema, scope))
            pending.extend((sub, self._inner(scope, sub)) for _, _, sub in subschemas(schema))

    def _inner(self, scope: Any, schema: dict[str, Any]) -> Any:
        try:
            return scope.in_subresource(self._specification.create_resource(schema))
        except (AttributeError, ValueError):
            raise RuleFault("invalid_schema", "The schema has an $id that is no URI; mend it or drop it.") from None


def _patterns(schema: dict[str, Any]) -> list[str]:
    keyed = schema.get("patternProperties")
    patterns = [schema.get("pattern"), *(keyed if isinstance(keyed, dict) else ())]
    return [pattern for pattern in patterns if isinstance(pattern, str)]


def _measured(pattern: str) -> Pattern:
    """Size of the pattern as RE2 compiles it, look-around taken for plain groups.

    Where RE2 still cannot, its length times all its repeat counts. Parts between look-arounds are compiled apart.
    """
    plain, around = _LOOK_AROUND.subn("(?:", pattern)
    plain, back = _BACK_REFERENCE.subn("(?:)", plain)
    try:
        steps = int(re2.compile(plain, _LINEAR).programsize)
    except re2.error:
        steps = len(pattern) * math.prod(int(most) or 1 for most in re.findall(r"(\d{1,6})\}", pattern))
    automata = 1 + 4 * (around + back)
    return Pattern(steps, _BYTES_A_STEP * steps + _BYTES_AN_AUTOMATON * automata)
