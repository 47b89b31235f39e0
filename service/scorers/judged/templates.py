"""Prompt templates of callers: text with the names of parts in braces."""

import re
from functools import lru_cache

from service.primitives import RuleFault
from service.primitives.pointer import nearest
from service.primitives.text import cut

NAMES = ("eval_input", "eval_output", "expectation")

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_DOUBLED = {"{{": "{", "}}": "}"}


@lru_cache(maxsize=8)
def parsed(template: str) -> tuple[tuple[str, str | None], ...]:
    """A template as pairs of a text and the name that follows it, None after the last.

    Doubled braces stand for one. RuleFault invalid_template for any other name and for a brace that is alone.
    """
    pairs: list[tuple[str, str | None]] = []
    text, end = "", 0
    for found in _BRACES.finditer(template):
        text, end = text + template[end : found.start()], found.end()
        if found[0] in _DOUBLED:
            text += _DOUBLED[found[0]]
        elif found[1] in NAMES:
            pairs.append((text, found[1]))
            text = ""
        else:
            raise _fault(template, found)
    return (*pairs, (text + template[end:], None))


def _fault(template: str, found: re.Match[str]) -> RuleFault:
    line = template.count("\n", 0, found.start()) + 1
    column = found.start() - template.rfind("\n", 0, found.start())
    where = f"`prompt_template` at line {line}, column {column}"
    allowed = ", ".join(f"{{{name}}}" for name in NAMES)
    if found[1] is None:
        what = f"the brace {found[0]} is alone"
        return RuleFault("invalid_template", f"{where}: {what}; double it to mean the brace, or name one of {allowed}")
    what = f"{{{cut(found[1], 60)}}} is none of {allowed}{nearest(found[1], NAMES).rstrip('.')}"
    return RuleFault("invalid_template", f"{where}: {what}; double the braces to mean them as they stand")
