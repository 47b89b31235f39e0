"""Paths as the rest of the service sees them: text in, something that selects out."""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, Protocol

from service.primitives import RuleFault
from service.primitives.jsonpath.locate import compile_locator
from service.primitives.jsonpath.parser import parse
from service.primitives.jsonpath.run import Run
from service.primitives.jsonpath.select import compile_query
from service.primitives.jsonpath.syntax import Query

DIALECTS = ("jayway", "rfc9535", "jsonpath-ng")
"""`rfc9535` is RFC 9535 to the letter. `jayway` differs in that a filter on an object tests that object, and adds `=~`,
`.length()`, hyphens in names and blanks around the path. `jsonpath-ng` is what that library takes."""

MAX_PATH_CHARS = 20_000
"""The length of a path, in code points."""


class Path(Protocol):
    """A compiled path. It holds no document and may be used by several threads at once."""

    def select(self, document: Any) -> list[Any]:
        """The values of the selected nodes, in the order of RFC 9535.

        Raises RuleFault path_too_costly, and regex_timeout or limit_exceeded from a regular expression.
        """

    def nodes(self, document: Any) -> list[tuple[str, Any]]:
        """The normalized path (RFC 9535 2.7) and the value of each selected node. Raises as `select` does."""


class _StandardPath:
    """A path of RFC 9535 or of the dialect jayway."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._find = compile_query(query)

    @cached_property
    def _locate(self) -> Callable[[Run], list[tuple[str, Any]]]:
        return compile_locator(self._query)

    def select(self, document: Any) -> list[Any]:
        return self._find(document, Run(document))

    def nodes(self, document: Any) -> list[tuple[str, Any]]:
        return self._locate(Run(document))


def compile_path(path: str, dialect: str = "jayway") -> Path:
    """The compiled path; the last 1,024 are kept.

    Raises RuleFault: limit_exceeded for a path over 20,000 characters, invalid_params for a dialect that is not one of
    DIALECTS, invalid_path for one that breaks the grammar, with the position, what was expected there and the remedy.
    """
    if len(path) > MAX_PATH_CHARS:
        raise RuleFault("limit_exceeded", f"The path has {len(path):,} characters; shorten it to {MAX_PATH_CHARS:,}.")
    return _compile(path, dialect)


@lru_cache(maxsize=1024)
def _compile(path: str, dialect: str) -> Path:
    match dialect:
        case "jayway" | "rfc9535":
            return _StandardPath(parse(path, dialect))
        case "jsonpath-ng":
            from service.primitives.jsonpath.extension import ExtensionPath  # noqa: PLC0415 - few requests need it

            return ExtensionPath(path)
        case _:
            raise RuleFault("invalid_params", f"The dialect {dialect!r} is unknown; use one of {', '.join(DIALECTS)}.")
