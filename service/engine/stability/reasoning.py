"""What a model thought aloud, taken out of its answer."""

import re
from typing import NamedTuple

_TAG = r"(think|thinking|reasoning|thought)>"
_THOUGHT = re.compile(rf"<{_TAG}.*?(</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_EDGE = re.compile(rf"<(/?){_TAG}", re.IGNORECASE)


class Stripped(NamedTuple):
    """A text without reasoning, whether there was any, and whether some of it had no end."""

    text: str
    found: bool
    unclosed: bool


def stripped(text: str) -> Stripped:
    """The text without what stands between reasoning tags, and then without white space around it.

    Reasoning that has no end takes the rest with it; one that has no beginning starts with the text, as where a chat
    template wrote the opening tag. Tags do not nest. A text without tags stays as it is.
    """
    edge = _EDGE.search(text)
    if edge is None:
        return Stripped(text, found=False, unclosed=False)
    answer = text[edge.end() :] if edge[1] else text
    unclosed = any(not thought[2] for thought in _THOUGHT.finditer(answer))
    return Stripped(_THOUGHT.sub("", answer).strip(), found=True, unclosed=unclosed)
