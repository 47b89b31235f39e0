"""The objects of a reply that have the shape asked for."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from service.primitives.jsontext import NotJson, decode
from service.primitives.replies.faults import ReplyFault, seen
from service.primitives.replies.lenient import Piece
from service.primitives.replies.search import answer_of, objects, without
from service.primitives.replies.shape import COMMENTARY, Fitted, Misfit, fit

MAX_WRAPPERS = 3

_CALL_KEYS = ({"name", "arguments"}, {"name", "parameters"}, {"name", "input"})
_NEVER = re.compile(r"(?!)")
_BRACE = re.compile(r"[{}]")
_JSON_BLANKS = " \t\r\n"


class Candidates(NamedTuple):
    """What has the shape, why the first object that has not does not, and the text around all objects."""

    fitted: list[Fitted]
    misfit: str | None
    prose: str


def in_fields(fields: Any, schema: Mapping[str, Any]) -> Candidates:
    """Candidates in what came as an object: the object itself, each of a list, or a text that holds it."""
    if isinstance(fields, str):
        return in_text(fields, schema)
    given = fields if isinstance(fields, list) else [fields]
    pieces = [Piece(value, 0, 0, mended=False, repeated=frozenset()) for value in given if isinstance(value, dict)]
    return _candidates(pieces, schema, prose="")


def in_text(text: str, schema: Mapping[str, Any]) -> Candidates:
    """Candidates in a text, mended but for the one strict object that is all of it.

    Raises ReplyFault where the text is cut, and where a key that is asked for stands in what is left of an object that
    cannot be read: those that can might be quoted in it.
    """
    answer = answer_of(text)
    if answer.lstrip().startswith('"') and isinstance(inner := _decoded(answer), str):
        answer = answer_of(inner)
    pieces = objects(answer)
    prose = without(answer, pieces)
    stray = _stray_key(schema).search(prose) if _BRACE.search(prose) else None
    if stray:
        detail = f"The judge's reply has a part that is no JSON: {seen(prose[stray.start() :])}"
        raise ReplyFault("judge_unparseable", detail)
    if len(pieces) == 1 and pieces[0].end - pieces[0].start == len(text.strip(_JSON_BLANKS)):
        return _candidates(pieces, schema, prose)
    return _candidates([piece._replace(mended=True) for piece in pieces], schema, prose)


def _stray_key(schema: Mapping[str, Any]) -> re.Pattern[str]:
    keys = "|".join(map(re.escape, schema.get("properties", {})))
    if not keys:
        return _NEVER
    return re.compile(rf"""(?:["'“]\s*(?:{keys})\s*["'”]|(?:\{{|["'”\d\]}}],)\s*(?:{keys}))\s*:""", re.IGNORECASE)


def _candidates(pieces: list[Piece], schema: Mapping[str, Any], prose: str) -> Candidates:
    fitted: list[Fitted] = []
    misfit: str | None = None
    for piece in pieces:
        try:
            fitted.append(_fitted(piece, schema))
        except Misfit as fault:
            misfit = misfit or fault.detail
    return Candidates(fitted, misfit, prose)


def _fitted(piece: Piece, schema: Mapping[str, Any]) -> Fitted:
    fitted = _fit_unwrapped(piece.value, schema)
    faults = fitted.faults
    twice = ", ".join(sorted(piece.repeated - COMMENTARY))
    if twice:
        faults += (
            ReplyFault("judge_ambiguous", f"The judge's reply gives {seen(twice)} twice, with different values."),
        )
    return Fitted(fitted.value, fitted.mended or piece.mended, faults)


def _fit_unwrapped(value: dict[str, Any], schema: Mapping[str, Any]) -> Fitted:
    """The object, else the one that it merely wraps. Raises the Misfit of the object itself."""
    try:
        return fit(value, schema)
    except Misfit:
        for wrapped in _wrapped(value):
            try:
                return fit(wrapped, schema)._replace(mended=True)
            except Misfit:
                continue
        raise


def _wrapped(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Objects inside an object that has no other key, or that is a tool call written out.

    Any other object is left closed: beside a verdict that cannot be read, it might quote the text that is judged.
    """
    inside: Any = value
    for _ in range(MAX_WRAPPERS):
        if not isinstance(inside, dict) or not (len(inside) == 1 or inside.keys() in _CALL_KEYS):
            return
        call = len(inside) > 1
        inside = next(item for key, item in inside.items() if key != "name" or not call)
        if call and isinstance(inside, str):
            inside = _decoded(inside)
        if isinstance(inside, dict):
            yield inside


def _decoded(text: str) -> Any:
    try:
        return decode(text)
    except NotJson:
        return None
