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

TEMPLATED = ("expected", "actual", "keywords", "pattern", "prefix", "criteria")

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}\s](?:[^{}]*[^{}\s])?)\s*\}\}")
_NAME = re.compile(r"[\w.-]+")


def is_templated(rule: Evaluator) -> bool:
    """Whether filling in variables could change the rule."""
    return rule.template and any(_holds_placeholder(getattr(rule, name, None)) for name in TEMPLATED)


def bind(rule: Evaluator, variables: dict[str, Any] | None, max_chars: int) -> Evaluator:
    """The rule with every `{{name}}` filled in; inside `pattern` a variable stands for its literal text.

    An `expected` or `actual` that is one `{{name}}` and no more becomes the variable itself; elsewhere a variable that
    is no text is filled in as its JSON text. What was filled in is not filled again. RuleFault
    unknown_variable names the one that is missing; limit_exceeded: a parameter would grow beyond `max_chars`.
    """
    changed = {}
    for name in TEMPLATED:
        value = getattr(rule, name, None)
        if _holds_placeholder(value):
            filling = _Filling(variables or {}, max_chars, escape if name == "pattern" else str)
            alone = _alone(value) if name in ("expected", "actual") else None
            changed[name] = filling.value(alone) if alone else filling.of(value)
    return replace(rule, **changed)


def _holds_placeholder(value: Any) -> bool:
    if isinstance(value, str):
        return "{{" in value and _PLACEHOLDER.search(value) is not None
    if isinstance(value, list | tuple):
        return any(map(_holds_placeholder, value))
    return isinstance(value, dict) and any(map(_holds_placeholder, value.values()))


def _alone(value: Any) -> str | None:
    """The name in a text that is one placeholder and no more."""
    found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else None


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

    def value(self, name: str) -> Any:
        """The variable itself."""
        if name in self._variables:
            return self._variables[name]
        known = cut(", ".join(sorted(self._variables)[:10]) or "none", 200)
        told = (
            f"{{{{{cut(name, 100)}}}}} is not among the item's variables ({known}); template: false leaves braces alone"
        )
        raise RuleFault("unknown_variable", told)

    def _replacement(self, found: re.Match[str]) -> str:
        name = found[1]
        if name not in self._variables and not _NAME.fullmatch(name):
            return found[0]
        text = self._quoted(as_text(self.value(name)))
        self._left -= len(text)
        if self._left < 0:
            raise RuleFault(
                "limit_exceeded", "filling in the variables makes the parameter too long (text_chars at /v1/limits)"
            )
        return text
