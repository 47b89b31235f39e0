"""Texts of an evaluation, cut to what a result shows."""

from typing import Any

from msgspec.structs import replace

from service.core.outcome import Evaluation
from service.primitives.jsontext import render

ECHO_CHARS = 2_000


def is_long(value: Any) -> bool:
    """Whether a value may have to be cut; a glance, not a measurement."""
    if type(value) is str:
        return len(value) > ECHO_CHARS
    return isinstance(value, dict | list)


def presented(evaluation: Evaluation) -> Evaluation:
    """The evaluation with `actual`, `expected` and the texts in `details` cut; `details.truncated` names what was cut.

    An object or list whose JSON text is too long is shown as the beginning of that text.
    """
    truncated: list[str] = []
    actual = _cut(evaluation.actual, "actual", truncated)
    expected = _cut(evaluation.expected, "expected", truncated)
    details = {name: _cut_inside(value, name, truncated) for name, value in evaluation.details.items()}
    if truncated:
        details["truncated"] = list(dict.fromkeys([*details.get("truncated", ()), *truncated]))
    return replace(evaluation, actual=actual, expected=expected, details=details)


def _cut(value: Any, name: str, truncated: list[str]) -> Any:
    if isinstance(value, dict | list):
        text = render(value)
        if len(text) <= ECHO_CHARS:
            return value
    elif isinstance(value, str) and len(value) > ECHO_CHARS:
        text = value
    else:
        return value
    truncated.append(name)
    return text[:ECHO_CHARS]


def _cut_inside(value: Any, name: str, truncated: list[str]) -> Any:
    """Lists and objects of details keep their shape; the texts in them are cut one by one."""
    if isinstance(value, dict):
        return {key: _cut_inside(one, f"{name}.{key}", truncated) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cut_inside(one, f"{name}.{index}", truncated) for index, one in enumerate(value)]
    return _cut(value, name, truncated)
