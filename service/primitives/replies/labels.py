"""Labels and verdicts, as a judge may spell them."""

import re
from collections.abc import Collection
from typing import Any

from service.primitives.pointer import nearest
from service.primitives.replies.faults import ReplyFault, described
from service.primitives.replies.lenient import number_of

MAX_LABEL = 200
"""Characters of a text that may still be a label."""

_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_ANNOUNCED = re.compile(r"(?:final |my )?(?:answer|choice|verdict|label)[*_ ]*[:=]", re.IGNORECASE)
_VERDICTS = {"true": True, "false": False}


def read_choice(value: Any, labels: Collection[str]) -> str:
    """The label that a value names, without regard to case or to punctuation around it; `Answer: B` names B.

    Raises ReplyFault for anything else, naming the labels.
    """
    if not isinstance(value, str) or len(value) > MAX_LABEL:
        raise _no_label(value, labels)
    if value in labels:
        return value
    announced = _ANNOUNCED.match(value.lstrip(" *_"))
    wanted = {_bare(value)} | ({_bare(value.lstrip(" *_")[announced.end() :])} if announced else set())
    named = [label for label in labels if _bare(label) in wanted]
    if len(named) != 1:
        raise _no_label(value, labels)
    return named[0]


def read_verdict(value: Any) -> bool:
    """Whether a verdict is positive: 1 or true against 0 or false, or the text of one. Else raises ReplyFault."""
    if isinstance(value, bool):
        return value
    bare = _bare(value) if isinstance(value, str) and len(value) <= MAX_LABEL else value
    if isinstance(bare, str):
        if bare in _VERDICTS:
            return _VERDICTS[bare]
        bare = number_of(value.strip("\"'()[]*_`. \t\r\n"))
    if isinstance(bare, int | float) and bare in (0, 1):
        return bool(bare)
    raise ReplyFault("judge_unparseable", f"{described(value)} is no verdict: it is none of 0, 1, false and true.")


def _bare(text: str) -> str:
    return _AROUND.sub("", text).casefold() or text.strip().casefold()


def _no_label(value: Any, labels: Collection[str]) -> ReplyFault:
    listed = ", ".join(labels)
    hint = nearest(value, labels) if isinstance(value, str) else ""
    return ReplyFault("judge_unparseable", f"{described(value)} is none of the labels {listed}{hint or '.'}")
