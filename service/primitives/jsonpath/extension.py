"""The dialect jsonpath-ng: what that library takes, extensions included, at a bounded cost."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from jsonpath_ng import DatumInContext, Fields, Index, JSONPath
from jsonpath_ng.ext.parser import parse

from service.primitives import RuleFault
from service.primitives.jsonpath.bounding import bound
from service.primitives.jsonpath.locate import normalized_path
from service.primitives.jsonpath.metering import RUN, kind, operators, values
from service.primitives.jsonpath.run import MAX_VISITS, Run
from service.primitives.jsonpath.selectors import Key

_WARNING_FILTERS = Lock()


class ExtensionPath:
    """A path of the library jsonpath-ng."""

    def __init__(self, path: str) -> None:
        self._tree = _parse(path)
        self._descents = sum(kind(operator) == "Descendants" for operator in operators(self._tree))
        bound(self._tree)

    def select(self, document: Any) -> list[Any]:
        """As `Path.select`; also raises RuleFault invalid_path or non_finite for what fails on this document."""
        run = Run(document)
        with _evaluation(run):
            return [match.value for match in self._matches(run)]

    def nodes(self, document: Any) -> list[tuple[str, Any]]:
        """As `Path.nodes`, but a value that is not in the document has the library's text for its location."""
        run = Run(document)
        with _evaluation(run):
            return [(_location(match, run), match.value) for match in self._matches(run)]

    def _matches(self, run: Run) -> list[DatumInContext]:
        if sum(1 for _ in values(run.root)) ** self._descents > MAX_VISITS:
            raise RuleFault(
                "path_too_costly", f"The path has {self._descents} times '..', too many for a document of this size."
            )
        return self._tree.find(run.root)


def _parse(path: str) -> JSONPath:
    try:
        # Without the lock, one thread could put back the filters that another has set for its own parse.
        with _WARNING_FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse(path)
    except Exception as error:
        raise RuleFault("invalid_path", f"jsonpath-ng cannot read the path. {error}") from None


@contextmanager
def _evaluation(run: Run) -> Iterator[None]:
    """Operators count for the run, and whatever the library raises is a RuleFault."""
    token = RUN.set(run)
    try:
        yield
    except RuleFault:
        raise
    except RecursionError:
        raise RuleFault("path_too_costly", "The document is nested too deep for the dialect jsonpath-ng.") from None
    except Exception as error:
        reason = repr(error)[:200]
        raise RuleFault("invalid_path", f"jsonpath-ng cannot evaluate the path on this document: {reason}.") from None
    finally:
        RUN.reset(token)


def _location(match: DatumInContext, run: Run) -> str:
    keys: list[Key] = []
    datum = match
    while datum.context is not None:
        keys.append(_key(datum.path, datum.context.value))
        datum = datum.context
    if None in keys or datum.value is not run.root:
        return str(match.full_path)
    return normalized_path(reversed(keys), run)


def _key(path: JSONPath, parent: Any) -> Key:
    """The name or the index by which a path leads from a parent, None if it leads to something else."""
    if isinstance(path, Fields) and isinstance(parent, dict):
        return path.fields[0]
    if isinstance(path, Index) and isinstance(parent, list):
        return path.indices[0] % len(parent)
    return None
