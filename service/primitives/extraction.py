"""JSON out of the text of a model: the whole text, a Markdown code block, or an object inside prose."""

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from service.primitives.jsontext import NotJson, decode

Mode = Literal["whole", "fences", "anywhere"]
Source = Literal["whole", "fence", "inline"]

MAX_CANDIDATES = 100
"""Balanced pieces of prose that are read as JSON before the search is given up."""

MAX_STEPS = 500_000
"""Brackets and texts passed while looking for the ends of those pieces; 16 characters cost as much as one of them."""

_FENCE_LINE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_OPENING = re.compile(r'\{(?=[ \t\r\n]*["}])|\[(?=[ \t\r\n]*[\]\[{"0-9tfn-])')
# What may stand between two brackets, then a text (closed or not), or a bracket, or nothing where no JSON goes on.
_STEP = re.compile(r'[ \t\r\n,:0-9+.eE\-truefalsn]*+(?:"(?:[^"\\\x00-\x1f]++|\\.)*+"?|([{\[])|([}\]]))?')
_CLOSING = {"{": "}", "[": "]"}
_PLACES: dict[Source, str] = {"fence": "first code block", "inline": "first object or array inside the text"}


class Found(NamedTuple):
    """A JSON value and where in the text it stood."""

    value: Any
    source: Source


def extract(text: str, mode: Mode) -> Found:
    """The JSON of a text, read strictly and never repaired.

    `whole` takes all of the text. `fences` then tries Markdown code blocks: the first labelled json* that is JSON, else
    the first unlabelled one. `anywhere` then takes the first object, or array holding an object, that stands in the
    prose, else the first array. JSON that is found but not accepted (nested too deep, a number no double holds) is
    not searched for smaller JSON inside. Raises NotJson, which says what was tried.
    """
    if mode == "whole":
        return Found(decode(text), "whole")
    search = _Search(text.removeprefix("\ufeff"))
    found = search.whole() or search.fences()
    if found is None and mode == "anywhere":
        found = search.inline()
    if found is None:
        raise search.fault(mode)
    return found


class _Search:
    """One search, and the faults met on the way, of which the most telling is reported if nothing is found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.refusal: NotJson | None = None
        self.faults: dict[Source, NotJson] = {}
        self.gave_up = False

    def whole(self) -> Found | None:
        return self._try(self.text, "whole")

    def fences(self) -> Found | None:
        unlabelled = []
        for label, block in _fenced_blocks(self.text):
            if not label:
                unlabelled.append(block)
            elif label.lower().startswith("json") and (found := self._try(block, "fence")):
                return found
        return next(filter(None, (self._try(block, "fence") for block in unlabelled)), None)

    def inline(self) -> Found | None:
        first_array: Found | None = None
        candidates = steps = position = 0
        while opening := _OPENING.search(self.text, position):
            if candidates == MAX_CANDIDATES or steps >= MAX_STEPS:
                self.gave_up = True
                break
            start = opening.start()
            end, cost = _balanced(self.text, start)
            steps += cost
            position = start + 1
            if end is None:
                continue
            candidates += 1
            try:
                found = self._read(self.text[start:end], "inline")
            except NotJson as fault:
                position = position if fault.code == "no_json" else end
                continue
            if _holds_object(found.value):
                return found
            first_array = first_array or found
            position = end
        return first_array

    def fault(self, mode: Mode) -> NotJson:
        if self.refusal:
            return self.refusal
        limit = " The search stopped at its limit." if self.gave_up else ""
        return NotJson("no_json", self._explanation(mode) + limit)

    def _explanation(self, mode: Mode) -> str:
        if self.text.lstrip()[:1] in ("{", "[", ""):
            return self.faults["whole"].detail
        for source, place in _PLACES.items():
            if fault := self.faults.get(source):
                return f"No JSON was found: the {place} {fault.detail.removeprefix('The text ')}"
        tried = "all of the text and every code block"
        if mode == "anywhere":
            tried = "all of the text, every code block and every object or array inside it"
        return f"No JSON was found; {tried} were tried."

    def _read(self, piece: str, source: Source) -> Found:
        """The piece as JSON; a fault is noted before it is raised."""
        try:
            return Found(decode(piece), source)
        except NotJson as fault:
            self.faults.setdefault(source, fault)
            if fault.code != "no_json":
                self.refusal = self.refusal or fault
            raise

    def _try(self, piece: str, source: Source) -> Found | None:
        try:
            return self._read(piece, source)
        except NotJson:
            return None


def _fenced_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Label and content of each code block; one that is never closed runs to the end of the text."""
    opening: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text):
        mark, label = line[1], line[2].strip()
        if opening is None:
            if mark[0] == "~" or "`" not in label:
                opening = line
        elif not label and mark.startswith(opening[1]):
            yield opening[2].strip(), text[opening.end() + 1 : line.start()]
            opening = None
    if opening:
        yield opening[2].strip(), text[opening.end() + 1 :]


def _balanced(text: str, start: int) -> tuple[int | None, int]:
    """End of the array or object that opens at `start`, None where it cannot be JSON, and the steps that took."""
    awaited: list[str] = []
    end: int | None = None
    position, steps = start, 0
    while (step := _STEP.match(text, position)) and step.end() > position:
        position, steps = step.end(), steps + 1
        if step[1]:
            awaited.append(_CLOSING[step[1]])
        elif step[2] and awaited.pop() != step[2]:
            break
        if not awaited:
            end = position
            break
    return end, steps + (position - start) // 16


def _holds_object(value: Any) -> bool:
    """Whether the value is an object or has one anywhere inside."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            return True
        if isinstance(node, list):
            pending.extend(node)
    return False
