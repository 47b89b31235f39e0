"""The functions of RFC 9535 section 2.4: what they take, what they give."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from service.primitives.jsonpath.iregexp import compile_iregexp
from service.primitives.jsonpath.run import Run
from service.primitives.jsonpath.values import NOTHING, length


class Function(NamedTuple):
    """A function and its type, which decides where it may stand."""

    parameters: tuple[Literal["value", "nodes"], ...]
    result: Literal["value", "logical"]
    call: Callable[..., Any]


def _length(_run: Run, value: Any) -> Any:
    return length(value)


def _count(_run: Run, nodes: list[Any]) -> int:
    return len(nodes)


def _value(_run: Run, nodes: list[Any]) -> Any:
    return nodes[0] if len(nodes) == 1 else NOTHING


def _match(run: Run, text: Any, pattern: Any) -> bool:
    return _finds(run, text, pattern, whole=True)


def _search(run: Run, text: Any, pattern: Any) -> bool:
    return _finds(run, text, pattern, whole=False)


def _finds(run: Run, text: Any, pattern: Any, *, whole: bool) -> bool:
    if not isinstance(text, str) or not isinstance(pattern, str):
        return False

    def search() -> bool:
        compiled = compile_iregexp(pattern)
        return compiled is not None and compiled.find(text, whole=whole) is not None

    return run.timed(search)


FUNCTIONS = {
    "length": Function(("value",), "value", _length),
    "count": Function(("nodes",), "value", _count),
    "value": Function(("nodes",), "value", _value),
    "match": Function(("value", "value"), "logical", _match),
    "search": Function(("value", "value"), "logical", _search),
}
