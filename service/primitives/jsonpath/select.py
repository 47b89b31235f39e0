"""Queries compiled to closures that give the values of the selected nodes, without their locations."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from service.primitives.jsonpath.run import Run
from service.primitives.jsonpath.selectors import compile_selector
from service.primitives.jsonpath.singular import compile_singular
from service.primitives.jsonpath.syntax import Children, Query, Segment
from service.primitives.jsonpath.values import CONTAINERS, NOTHING

Find = Callable[[Any, Run], list[Any]]
Step = Callable[[list[Any], Run], list[Any]]


def compile_query(query: Query) -> Find:
    """From the current node to the values of the nodes that the query selects."""
    steps = [*_steps(query.segments)]

    def find(node: Any, run: Run) -> list[Any]:
        nodes = [run.root if query.absolute else node]
        for step in steps:
            nodes = step(nodes, run)
        return nodes

    return find


def _steps(segments: Iterable[Segment]) -> Iterator[Step]:
    for singular, group in groupby(segments, attrgetter("singular")):
        if singular:
            yield _follow([*group])
        else:
            yield from (_children(segment) if isinstance(segment, Children) else _descend for segment in group)


def _follow(segments: list[Segment]) -> Step:
    follow = compile_singular(segments)

    def step(nodes: list[Any], run: Run) -> list[Any]:
        run.spend(len(nodes) * len(segments))
        return [value for node in nodes if (value := follow(node)) is not NOTHING]

    return step


def _children(segment: Children) -> Step:
    selects = [compile_selector(selector, compile_query) for selector in segment.selectors]
    return lambda nodes, run: [value for node in nodes for select in selects for _, value in select(node, run)]


def _descend(nodes: list[Any], run: Run) -> list[Any]:
    """The arrays and objects among the nodes and all below them, from the outside in and in the document's order."""
    found = []
    pending = nodes[::-1]
    while pending:
        node = pending.pop()
        if isinstance(node, CONTAINERS):
            found.append(node)
            run.spend(len(node))
            pending += reversed(node.values() if isinstance(node, dict) else node)
    run.spend(len(nodes))
    return found
