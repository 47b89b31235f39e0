"""Queries compiled to closures that give the selected nodes with their normalized paths (RFC 9535 2.7)."""

from collections.abc import Callable, Iterable
from typing import Any

from service.primitives.jsonpath.run import Run
from service.primitives.jsonpath.select import compile_query
from service.primitives.jsonpath.selectors import ITSELF, LENGTH, Key, compile_selector
from service.primitives.jsonpath.syntax import Children, Query
from service.primitives.jsonpath.values import CONTAINERS

_CHARACTERS_PER_STEP = 64

Link = tuple["Link | None", Key]
"""The link of the node from which a key was picked, None for the root, and the key."""

Node = tuple[Any, Link | None]
Step = Callable[[list[Node], Run], list[Node]]

_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)} | str.maketrans(
    {"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", "'": r"\'", "\\": r"\\"}
)


def compile_locator(query: Query) -> Callable[[Run], list[tuple[str, Any]]]:
    """From a run to the normalized path and the value of each node that a query from the root selects."""
    steps = [_children(segment) if isinstance(segment, Children) else _descend for segment in query.segments]

    def locate(run: Run) -> list[tuple[str, Any]]:
        nodes: list[Node] = [(run.root, None)]
        for step in steps:
            nodes = step(nodes, run)
        return [(_location(link, run), value) for value, link in nodes]

    return locate


def _children(segment: Children) -> Step:
    selects = [compile_selector(selector, compile_query) for selector in segment.selectors]
    return lambda nodes, run: [
        (value, link if key is ITSELF else (link, key))
        for node, link in nodes
        for select in selects
        for key, value in select(node, run)
    ]


def _descend(nodes: list[Node], run: Run) -> list[Node]:
    found = []
    pending = nodes[::-1]
    while pending:
        node, link = pending.pop()
        if isinstance(node, CONTAINERS):
            found.append((node, link))
            run.spend(len(node))
            children = [*(node.items() if isinstance(node, dict) else enumerate(node))]
            pending += [(child, (link, key)) for key, child in reversed(children)]
    run.spend(len(nodes))
    return found


def _location(link: Link | None, run: Run) -> str:
    keys = []
    while link is not None:
        link, key = link
        keys.append(key)
    return normalized_path(reversed(keys), run)


def normalized_path(keys: Iterable[Key], run: Run) -> str:
    """The text of a location, at a step for every 64 characters; a length, which has none, is written as a method."""
    path = "$" + "".join(map(_part, keys))
    run.spend(len(path) // _CHARACTERS_PER_STEP)
    return path


def _part(key: Key) -> str:
    if key is LENGTH:
        return ".length()"
    return f"['{key.translate(_ESCAPES)}']" if isinstance(key, str) else f"[{key}]"
