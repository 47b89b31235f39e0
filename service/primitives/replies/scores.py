"""A score on a scale, as judges write it."""

import re
from collections.abc import Iterable
from itertools import islice
from math import inf, isclose
from typing import Any, NamedTuple

from service.primitives.numbers import is_number
from service.primitives.replies.candidates import in_fields, in_text
from service.primitives.replies.faults import ReplyFault, described, seen, unreadable
from service.primitives.replies.shape import Fitted

TOLERANCE = 1e-9
"""How far apart two scores, as shares of the scale, may be and still be one."""

MAX_SCORES = 1_000

_NUMBER = r"[+\-−]?(?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
# Not the end of a number: a digit of any script, or a sign that may be a point or group thousands in one.
_END = r"(?!\w|[^\w\s/／⁄∕(\-–~±+]\d)"
_GAP = r"[^\S\n]*+"
_OF = r"/|／|⁄|∕|(?:(?:points?|stars?|marks?)[ ])?out[ ]of\b|of\b|von\b|van\b|sur\b|de\b|di\b|su\b|av\b|af\b|из\b"
_RATING = (
    rf"(?P<number>{_NUMBER}){_END}"
    rf"(?:{_GAP}(?P<percent>[%％])|{_GAP}\(?(?:{_OF}){_GAP}(?P<whole>{_NUMBER})(?![/／⁄∕]){_END})?"
)
# A second number right behind the first makes a range, a date or thousands in groups of it.
_SECOND = rf"{_GAP}(?:[-–~±/／⁄∕]|\+/-|(?:to|or|and)\b)?{_GAP}[.,]?\d[\d.,]*"
_MARKUP = r"[*_`\"' \t]*"
_LABEL = r"(?:score|rating)"
_LABELLED = re.compile(
    rf"(?<![\w\"'])(?:{_LABEL}|\"{_LABEL}\"|'{_LABEL}')[*_` \t]*[:=]{_MARKUP}"
    rf"(?:{_RATING}(?P<second>{_SECOND})?|(?=\n\s*(?P<below>[^\n]*)))?",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"{_MARKUP}{_RATING}{_MARKUP}", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+\-−]?[1-9][0-9]{0,2},[0-9]{3}")
_SHAPE = {"properties": {"score": {"type": ["number", "string"]}}, "required": ["score"]}


def read_score(given: Any, low: float, high: float) -> float:
    """A score on the scale `low` < `high` as its share of the scale, 0 to 1.

    From a number, an object {score}, or a text: such an object in it, numbers behind `Score:` (or Rating, or =), else
    numbers alone on a line. 0,7 is 0.7; n/m, `n out of m` and n % are shares themselves, but for n/high, which is n on
    the scale. Raises ReplyFault: judge_ambiguous for scores that differ, judge_out_of_range for one outside the scale,
    as `read_object` for what cannot be read; no other number of a text is taken.
    """
    found = _ratings(given, _Scale(low, high))
    first = found[0]
    for other in found[1:]:
        if not isclose(first.share, other.share, rel_tol=0, abs_tol=TOLERANCE):
            detail = f"The judge's reply has scores that differ: {first.shown} and {other.shown}."
            raise ReplyFault("judge_ambiguous", detail)
    if not -TOLERANCE <= first.share <= 1 + TOLERANCE:
        detail = f"{first.shown} is not within the scale of {plain(low)} to {plain(high)}."
        raise ReplyFault("judge_out_of_range", detail)
    return min(max(first.share, 0.0), 1.0)


def plain(bound: float) -> str:
    """A bound of a scale in as few digits as name it: 1, 0.5, 1234567."""
    short = f"{bound:g}"
    return short if float(short) == bound else repr(bound).removesuffix(".0")


class _Rating(NamedTuple):
    """A score as its share of the scale, and as a detail shows it."""

    share: float
    shown: str


class _Scale:
    """Reads ratings on a scale."""

    def __init__(self, low: float, high: float) -> None:
        self._low = low
        self._high = high

    def number(self, number: int | float) -> _Rating:
        return _Rating(self._share(number), described(number))

    def text(self, found: re.Match[str]) -> _Rating:
        number, shown = _double(found["number"]), seen(found[0])
        if found["percent"]:
            return _Rating(number / 100, shown)
        if not found["whole"]:
            return _Rating(self._share(number), shown)
        whole = _double(found["whole"])
        if whole <= 0:
            raise ReplyFault("judge_unparseable", f"{shown} is no fraction.")
        return _Rating(self._share(number) if whole == self._high else number / whole, shown)

    def _share(self, number: int | float) -> float:
        try:
            return (float(number) - self._low) / (self._high - self._low)
        except OverflowError:
            return inf if number > 0 else -inf


def _ratings(given: Any, scale: _Scale) -> list[_Rating]:
    """At least one, or ReplyFault."""
    if is_number(given):
        return [scale.number(given)]
    found = in_text(given, _SHAPE) if isinstance(given, str) else in_fields(given, _SHAPE)
    ratings = [_in_object(fitted, scale) for fitted in found.fitted] + _labelled(found.prose, scale)
    return ratings or _alone(found.prose, scale) or _nothing(given)


def _in_object(fitted: Fitted, scale: _Scale) -> _Rating:
    if fitted.faults:
        raise fitted.faults[0]
    score = fitted.value["score"]
    if is_number(score):
        return scale.number(score)
    rating = _ALONE.fullmatch(score.strip())
    if rating is None:
        raise ReplyFault("judge_unparseable", f"{seen(score)} is no score.")
    return scale.text(rating)


def _labelled(prose: str, scale: _Scale) -> list[_Rating]:
    """Ratings behind a label; a label without a number is passed over only where another has one."""
    labels = _few(_LABELLED.finditer(prose))
    for label in labels:
        if label["second"]:
            raise ReplyFault("judge_ambiguous", f"{seen(label[0])} is more than one number.")
    numbers = [label if label["number"] else _ALONE.fullmatch((label["below"] or "").strip()) for label in labels]
    ratings = [scale.text(number) for number in numbers if number]
    if labels and not ratings:
        raise ReplyFault("judge_unparseable", f"No number is behind {seen(prose[labels[0].start() :])}.")
    return ratings


def _alone(prose: str, scale: _Scale) -> list[_Rating]:
    whole = prose.strip()
    lines = whole.splitlines() if "\n" in whole else [whole.removesuffix(".")]
    return [scale.text(number) for number in _few(map(_ALONE.fullmatch, map(str.strip, lines)))]


def _few(matches: Iterable[re.Match[str] | None]) -> list[re.Match[str]]:
    found = list(islice(filter(None, matches), MAX_SCORES + 1))
    if len(found) > MAX_SCORES:
        raise ReplyFault("judge_unparseable", f"The judge's reply has more than {MAX_SCORES} scores.")
    return found


def _nothing(given: Any) -> list[_Rating]:
    if isinstance(given, str):
        raise unreadable(given, "score")
    raise ReplyFault("judge_unparseable", f"{described(given)} is no score.")


def _double(text: str) -> float:
    if _THOUSANDS.fullmatch(text):
        raise ReplyFault("judge_ambiguous", f"{seen(text)} may be thousands or a decimal fraction.")
    return float(text.replace(",", ".").replace("−", "-"))
