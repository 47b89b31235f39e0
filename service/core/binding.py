"""Variables of an item, filled into the parameters of a rule."""

import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from service.core.evaluator import Evaluator
from service.primitives import RuleFault
from service.primitives.jsontext import as_text
from service.primitives.patterns import escape
from service.primitives.text import cut

TEMPLATED = ("expected", "actual", "keywords", "criteria", "prefix", "pattern")

_PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")


def is_templated(rule: Evaluator) -> bool:
    """Whether filling in variables could change the rule."""
    return rule.template and any(_holds_placeholder(getattr(rule, name, None)) for name in TEMPLATED)


def bind(rule: Evaluator, variables: dict[str, Any] | None, max_chars: int) -> Evaluator:
    """The rule with every `{{name}}` filled in; inside `pattern` a variable stands for its literal text.

    A variable that is not a text is filled in as its JSON text, and what was filled in is not filled again. RuleFault
    unknown_variable names the one that is missing; limit_exceeded: a parameter would grow beyond `max_chars`.
    """
    changed = {}
    for name in TEMPLATED:
        value = getattr(rule, name, None)
        if _holds_placeholder(value):
            filling = _Filling(variables or {}, max_chars, escape if name == "pattern" else str)
            changed[name] = filling.of(value)
    return replace(rule, **changed)


def _holds_placeholder(value: Any) -> bool:
    if isinstance(value, str):
        return "{{" in value and _PLACEHOLDER.search(value) is not None
    if isinstance(value, list | tuple):
        return any(map(_holds_placeholder, value))
    return isinstance(value, dict) and any(map(_holds_placeholder, value.values()))


class _Filling:
    """Fills one parameter; its texts together may not grow beyond a number of characters."""

    def __init__(self, variables: dict[str, Any], max_chars: int, quoted: Callable[[str], str]) -> None:
        self._variables = variables
        self._left = max_chars
        self._quoted = quoted

    def of(self, value: Any) -> Any:
        if isinstance(value, str):
            return _PLACEHOLDER.sub(self._replacement, value)
        if isinstance(value, list | tuple):
            return [self.of(one) for one in value]
        if isinstance(value, dict):
            return {key: self.of(one) for key, one in value.items()}
        return value

    def _replacement(self, found: re.Match[str]) -> str:
        name = found[1]
        if name not in self._variables:
            known = ", ".join(sorted(self._variables)[:10]) or "none"
            raise RuleFault(
                "unknown_variable", f"{{{{{cut(name, 100)}}}}} is not among the item's variables ({cut(known, 200)})"
            )
        text = self._quoted(as_text(self._variables[name]))
        self._left -= len(text)
        if self._left < 0:
            raise RuleFault(
                "limit_exceeded", "filling in the variables makes the parameter too long (text_chars at /v1/limits)"
            )
        return text
