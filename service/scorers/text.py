"""Rules on the characters of a text."""

from collections.abc import Callable
from functools import cached_property
from math import inf
from operator import contains
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from service.core.asking import Judging, Need
from service.core.case import Case
from service.core.evaluator import HEAVY, Evaluator, Example, Expected, Spec, Tester, Verdict
from service.primitives import RuleFault
from service.primitives.jsontext import as_text
from service.primitives.patterns import Pattern, compile_pattern
from service.primitives.text import caseless, fold, has_word, hint_of_difference, nfc, quote
from service.primitives.units import COUNTERS, count

CHEAP_PATTERN_CHARS = 60
MAX_KEYWORD_WORK = 50_000_000

_COUNTED = {
    "characters": "characters",
    "words": "words (white space)",
    "unicode_words": "words (UAX #29)",
    "graphemes": "graphemes",
    "bytes": "bytes",
    "sentences": "sentences (UAX #29)",
    "tokens": "tokens",
}

Size = Annotated[int, Meta(ge=0)]
CaseSensitive = Annotated[bool, Meta(description="false: both sides are case-folded, so STRASSE is straße.")]


class Contains(Evaluator, frozen=True):
    """The text has `expected` somewhere in it.

    Compares characters, not meaning. With `whole_word` the characters beside it must not be word characters; scripts
    written without spaces have no such boundary to respect. An empty `expected` is an error: it would always pass.
    """

    spec = Spec(
        family="text",
        examples=(
            Example(params={"expected": "refund"}, case=Case(output="Your refund is on its way"), status="passed"),
            Example(params={"expected": "Refund"}, case=Case(output="your refund"), status="failed"),
            Example(
                params={"expected": "cat", "whole_word": True},
                case=Case(output="a catalogue of facts"),
                status="failed",
            ),
        ),
    )

    expected: Expected | UnsetType = UNSET
    case_sensitive: CaseSensitive = True
    whole_word: Annotated[bool, Meta(description="Only where no word character is beside it.")] = False

    def validate(self, expected: Any) -> None:
        if expected == "":
            raise RuleFault("invalid_params", "`expected` is empty, and every text contains that: give some text")

    def passes(self, *, plain: bool) -> int:
        return HEAVY if self.whole_word else 1

    def judge(self, value: Any, expected: Any) -> Verdict:
        text, wanted = as_text(value), as_text(expected)
        if self._holds(text, wanted):
            return Verdict(score=1.0, fact=f"text contains {quote(wanted)}")
        hint = self._hint(text, wanted)
        return Verdict(score=0.0, fact=f"text does not contain {quote(wanted)}{hint}")

    def _hint(self, text: str, wanted: str) -> str:
        if self.whole_word:
            return " as a whole word" if wanted in text else ""
        return hint_of_difference(text, wanted, str.__contains__) if self.case_sensitive else ""

    def tester(self, expected: Any) -> Tester:
        wanted = as_text(expected)
        return lambda text: self._holds(text, wanted)

    def _holds(self, text: str, wanted: str) -> bool:
        if not self.case_sensitive:
            text, wanted = fold(text), fold(wanted)
        return has_word(text, wanted) if self.whole_word else wanted in text


class Regex(Evaluator, frozen=True):
    """The text matches `pattern`.

    The syntax of Python's `re` with the additions of the `regex` package, Unicode-aware, searched anywhere unless
    `mode` is `fullmatch`; `flags` stand in place of /slashes/i. `actual` is the first match. Patterns that need
    backtracking run under a time limit: past it the evaluation is error/regex_timeout.
    """

    spec = Spec(
        family="text",
        examples=(
            Example(
                params={"pattern": r"\d{3}-\d{2}-\d{4}"}, case=Case(output="My SSN is 123-45-6789."), status="passed"
            ),
            Example(
                params={"pattern": "yes|no", "mode": "fullmatch", "flags": ["i"]},
                case=Case(output="Yes, please"),
                status="failed",
            ),
        ),
    )

    pattern: Annotated[str, Meta(description="A regular expression.", extra={"limit": "pattern_chars"})]
    flags: Annotated[
        tuple[Literal["i", "m", "s"], ...],
        Meta(description="i: letter case aside; m: ^ and $ at every line; s: the dot takes line ends."),
    ] = ()
    mode: Annotated[Literal["search", "fullmatch"], Meta(description="fullmatch: all of the text must match.")] = (
        "search"
    )
    trim: Annotated[bool, Meta(description="Drop white space around the text first.")] = False

    def validate(self, expected: Any) -> None:
        self._compiled()

    def passes(self, *, plain: bool) -> int:
        if len(self.pattern) > CHEAP_PATTERN_CHARS:
            return HEAVY
        try:
            return 5 if self._compiled().is_linear(plain=plain) else HEAVY
        except RuleFault:
            return 1

    def judge(self, value: Any, expected: Any) -> Verdict:
        text = as_text(value)
        if self.trim:
            text = text.strip()
        match, engine = self._compiled().search(text, whole=self.mode == "fullmatch")
        details = {"engine": engine}
        subject = "all of the text" if self.mode == "fullmatch" else "text"
        if match is None:
            fact = f"{subject} does not match {quote(self.pattern)}: {quote(text)}"
            return Verdict(score=0.0, fact=fact, actual=None, expected=self.pattern, details=details)
        fact = f"{subject} matches {quote(self.pattern)}: {quote(match.text)}"
        return Verdict(score=1.0, fact=fact, actual=match.text, expected=self.pattern, details=details)

    def tester(self, expected: Any) -> Tester:
        matches = self._compiled().matcher(whole=self.mode == "fullmatch")
        return (lambda text: matches(text.strip())) if self.trim else matches

    def _compiled(self) -> Pattern:
        return compile_pattern(self.pattern, "".join(self.flags))


class Length(Evaluator, frozen=True):
    """The text is at least `min` and at most `max` long, in the unit given.

    `words` are runs between white space, `unicode_words` and `sentences` are those of UAX #29, `graphemes` are what a
    reader calls characters, `characters` are code points, `bytes` are UTF-8; `tokens` are those of the embedding model,
    special ones not counted, and `details.tokenizer` names it. `actual` is the count.
    """

    spec = Spec(
        family="text",
        examples=(
            Example(params={"max": 4, "unit": "words"}, case=Case(output="short and sweet"), status="passed"),
            Example(params={"min": 100}, case=Case(output="too short"), status="failed"),
        ),
    )

    min: Annotated[Size | None, Meta(description="The least that passes.")] = None
    max: Annotated[Size | None, Meta(description="The most that passes.")] = None
    unit: Annotated[
        Literal["characters", "words", "unicode_words", "graphemes", "bytes", "sentences", "tokens"],
        Meta(description="What is counted."),
    ] = "characters"

    def validate(self, expected: Any) -> None:
        if self.min is None and self.max is None:
            raise RuleFault("invalid_params", "neither `min` nor `max` is given: any length would pass")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise RuleFault("invalid_params", f"`min` {self.min} is over `max` {self.max}: no length would pass")

    def passes(self, *, plain: bool) -> int:
        return 1 if self.unit in ("characters", "words", "bytes") else HEAVY

    def judge(self, value: Any, expected: Any) -> Verdict:
        assert self.unit != "tokens"
        return self._measured(count(as_text(value), self.unit), {"unit": self.unit})

    def tester(self, expected: Any) -> Tester | None:
        if self.unit == "tokens":
            return None
        size, least, most = COUNTERS[self.unit], self.min or 0, inf if self.max is None else self.max
        return lambda text: least <= size(text) <= most

    def inquires(self) -> bool:
        return self.unit == "tokens"

    def inquire(self, value: Any, expected: Any, case: Case) -> Judging[Verdict]:
        text = as_text(value)
        told = yield Need(counts=(text,))
        return self._measured(told.counts[text], {"unit": self.unit, "tokenizer": told.model})

    def _measured(self, size: int, details: dict[str, Any]) -> Verdict:
        return Verdict(
            score=float((self.min or 0) <= size <= (inf if self.max is None else self.max)),
            fact=f"{size} {_COUNTED[self.unit]}, {self._bounds(size)}",
            actual=size,
            expected=self._allowed(),
            details=details,
        )

    def _allowed(self) -> str:
        if self.min is None:
            return f"≤ {self.max}"
        return f"≥ {self.min}" if self.max is None else f"{self.min} to {self.max}"

    def _bounds(self, size: int) -> str:
        if self.min is not None and size < self.min:
            return f"{size} < {self.min}"
        if self.max is not None and size > self.max:
            return f"{size} > {self.max}"
        low = "" if self.min is None else f"{self.min} ≤ "
        return f"{low}{size}" + ("" if self.max is None else f" ≤ {self.max}")


class Keywords(Evaluator, frozen=True, dict=True):
    """The text has any, or all, of the keywords.

    Both sides are brought to NFC and case-folded. A keyword counts as a whole word unless `whole_word` is false; blank
    and repeated keywords are dropped. `details.coverage` is the share that was found.
    """

    spec = Spec(
        family="text",
        echoes=True,
        examples=(
            Example(
                params={"keywords": "Acme, Widget Pro"}, case=Case(output="The widget pro ships."), status="passed"
            ),
            Example(
                params={"keywords": ["Acme", "Widget Pro"], "match": "all"},
                case=Case(output="AcmeCorp sells the Widget Pro"),
                status="failed",
            ),
        ),
    )

    keywords: Annotated[
        str | list[str], Meta(description="A list, or one comma-separated text.", extra={"limit": "keywords"})
    ]
    match: Annotated[Literal["any", "all"], Meta(description="How many must be there.")] = "any"
    whole_word: Annotated[bool, Meta(description="false: inside other words too.")] = True
    case_sensitive: Annotated[bool, Meta(description="true: letter case counts.")] = False

    def validate(self, expected: Any) -> None:
        if not self._wanted:
            raise RuleFault("invalid_params", "`keywords` has no keyword that is not blank")

    def passes(self, *, plain: bool) -> int:
        return 20 * (1 + (self.keywords.count(",") if isinstance(self.keywords, str) else len(self.keywords)))

    def judge(self, value: Any, expected: Any) -> Verdict:
        text, holds = self._prepared(as_text(value)), self._holds
        held = {word: holds(text, key) for key, word in self._wanted.items()}
        found = [word for word, is_held in held.items() if is_held]
        missing = [word for word, is_held in held.items() if not is_held]
        return Verdict(
            score=float(not missing if self.match == "all" else bool(found)),
            fact=f"text contains {len(found)} of {len(held)} keywords"
            + _named("missing", missing)
            + _named("found", found),
            expected=list(held),
            details={"coverage": len(found) / len(held), "found": found, "missing": missing},
        )

    def tester(self, expected: Any) -> Tester:
        prepared, holds, wanted = self._prepared, self._holds, list(self._wanted)
        decisive = self.match == "any"

        def test(text: str) -> bool:
            text = prepared(text)
            for word in wanted:
                if holds(text, word) is decisive:
                    return decisive
            return not decisive

        return test

    def _prepared(self, text: str) -> str:
        """The text as it is compared."""
        text = self._normal(text)
        if len(text) * len(self._wanted) > MAX_KEYWORD_WORK:
            sizes = f"{len(self._wanted):,} keywords and {len(text):,} characters"
            raise RuleFault("limit_exceeded", f"{sizes} are too many together: give fewer keywords or less text")
        return text

    @property
    def _holds(self) -> Callable[[str, str], bool]:
        return has_word if self.whole_word else contains

    @cached_property
    def _wanted(self) -> dict[str, str]:
        """The keywords as they are compared, with the first spelling of each."""
        words = self.keywords.split(",") if isinstance(self.keywords, str) else self.keywords
        stripped = [word.strip() for word in words]
        found = {self._normal(word): word for word in reversed(stripped) if word}
        return dict(reversed(found.items()))

    @property
    def _normal(self) -> Callable[[str], str]:
        return nfc if self.case_sensitive else caseless


def _named(what: str, words: list[str]) -> str:
    if not words:
        return ""
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return f"; {what}: {', '.join(quote(word) for word in words[:5])}{more}"
