"""The object that a judge was asked for, out of whatever it answered."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from service.primitives.equality import equal
from service.primitives.jsontext import render
from service.primitives.replies.candidates import in_fields, in_text
from service.primitives.replies.faults import ReplyFault, described, seen, unreadable
from service.primitives.replies.shape import Fitted, verdict_of


class Read(NamedTuple):
    """What a reply says, with the keys and labels of its schema, and whether it had to be mended to be read."""

    value: dict[str, Any]
    repaired: bool


def read_object(text: str | None, fields: Any, schema: Mapping[str, Any]) -> Read:
    """The object of a reply: `fields` if they have the shape asked for, else the one in the text that has.

    Keys that explain (`shape.COMMENTARY`) may be missing; keys that are not in the schema are left out. Several objects
    of the shape must agree in all but what explains them. Raises ReplyFault: judge_ambiguous where they do not,
    judge_out_of_range past a bound of the schema, judge_truncated where the text ends too early, judge_refused for a
    refusal in words, else judge_unparseable.
    """
    given = in_fields(fields, schema)
    if given.fitted:
        return _agreed(given.fitted)
    found = in_text(text or "", schema)
    if found.fitted:
        read = _agreed(found.fitted)
        return read if fields is None else read._replace(repaired=True)
    misfit = given.misfit or found.misfit
    if misfit:
        raise ReplyFault("judge_unparseable", misfit)
    raise unreadable(text or "", "JSON object") if fields is None or text else _no_object(fields)


def _agreed(candidates: list[Fitted]) -> Read:
    first = candidates[0]
    for other in candidates[1:]:
        if not equal(verdict_of(first.value), verdict_of(other.value)):
            raise ReplyFault("judge_ambiguous", f"The judge's reply has verdicts that differ: {_both(first, other)}.")
    if first.faults:
        raise first.faults[0]
    return Read(first.value, first.mended or len(candidates) > 1)


def _both(one: Fitted, other: Fitted) -> str:
    return " and ".join(seen(render(verdict_of(fitted.value))) for fitted in (one, other))


def _no_object(fields: Any) -> ReplyFault:
    return ReplyFault("judge_unparseable", f"The judge's reply is no JSON object: {described(fields)}.")
