"""Why a reply is no verdict."""

import re
from typing import Any, Literal

from service.primitives.jsontext import kind_of, render
from service.primitives.numbers import is_number
from service.primitives.text import cut, quote

Reason = Literal[
    "judge_unparseable",
    "judge_ambiguous",
    "judge_out_of_range",
    "judge_truncated",
    "judge_refused",
    "judge_filtered",
]

MAX_SEEN = 80
"""Characters of a reply that a detail repeats."""

_LONGEST_SHOWN = 10**16

_STOPS: dict[str, tuple[Reason, str]] = {
    "truncated": ("judge_truncated", "The judge reached its limit of tokens before the reply was complete."),
    "refused": ("judge_refused", "The judge refused to answer."),
    "filtered": ("judge_filtered", "A content filter held the judge's reply back."),
}

# Beyond doubt: the reply opens with it, and what is declined is the request itself.
_REFUSAL = re.compile(
    r"""\W*(?:(?:i['’]?m|i\ am|we['’]re)\ (?:very\ |so\ |really\ )?sorry|i\ apologi[sz]e|sorry|unfortunately|apologies)?
    [\s,.;:!–—-]*(?:but\ )?(?:as\ an\ ai(?:\ language\ model|\ assistant)?,?\ )?
    (?:i|we)(?:\ cannot|\ can\ ?not|\ can['’]t|\ won['’]t|\ will\ not|\ must\ decline\ to
        |(?:['’]m|\ am|['’]re|\ are)\ (?:unable|not\ able)\ to)\ +
    (?:(?:assist|help|comply|engage|participate)\b(?!\ but)
      |(?:fulfil+|process|complete|continue|evaluate|judge|rate|grade|answer|respond\ to|discuss)\ (?:with\ )?
       (?:this|that|your|such)\ (?:request|task|conversation|content|material|question|prompt|topic|text)\b)""",
    re.IGNORECASE | re.VERBOSE,
)


class ReplyFault(Exception):
    """A reply gives no verdict. `reason` is one of not_graded; `detail` is a sentence that names what was seen."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def refuse_stop(stop: str) -> None:
    """Nothing for a reply that came to its end by itself; else raises ReplyFault.

    Stops are `truncated` (a limit of tokens), `refused` and `filtered`; any other is a complete reply.
    """
    if stop in _STOPS:
        raise ReplyFault(*_STOPS[stop])


def unreadable(text: str, missed: str) -> ReplyFault:
    """The fault of a text in which nothing was found: empty, a refusal in plain words, or without what was `missed`."""
    if not text.strip():
        return ReplyFault("judge_unparseable", "The judge's reply is empty.")
    if _REFUSAL.match(text[:1_000]):
        return ReplyFault("judge_refused", f"The judge refused to answer: {seen(text)}")
    return ReplyFault("judge_unparseable", f"The judge's reply has no {missed}: {seen(text)}")


def seen(text: str) -> str:
    """A text as a detail repeats it: in quotes, and cut."""
    return quote(cut(text.strip(), MAX_SEEN))


def described(value: Any) -> str:
    """A JSON value as a detail repeats it; a container, or a number without end, by its kind alone."""
    if isinstance(value, str):
        return seen(value)
    if value is None or isinstance(value, bool) or (is_number(value) and abs(value) < _LONGEST_SHOWN):
        return render(value)
    return kind_of(value)
