"""Rules made ready, within the limits."""

from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

import msgspec
from msgspec import Meta

from service.config import Limits
from service.core.assess import Assessor
from service.core.evaluator import Evaluator
from service.primitives import RuleFault


def vetted(rule: Evaluator, limits: Limits) -> Assessor:
    """The rule made ready. RuleFault if it is over a limit or can never run."""
    for name, limit in _limited_fields(type(rule)):
        _measure(name, getattr(rule, name), limit, getattr(limits, limit))
    return Assessor(rule)


@cache
def _limited_fields(kind: type[Evaluator]) -> tuple[tuple[str, str], ...]:
    """The fields whose annotation names a limit, each with that limit's name."""
    hints = get_type_hints(kind, include_extras=True)
    metas = [(name, meta) for name, hint in hints.items() for meta in getattr(hint, "__metadata__", ())]
    return tuple((name, meta.extra["limit"]) for name, meta in metas if isinstance(meta, Meta) and meta.extra)


def _measure(name: str, value: Any, limit_name: str, limit: int) -> None:
    if value is None:
        return
    unit = limit_name.rpartition("_")[2]
    size = _SIZE[unit](value)
    if size > limit:
        detail = f"`{name}` has {size:,} {unit}; the limit is {limit:,} ({limit_name} at /v1/limits)"
        raise RuleFault("limit_exceeded", detail)


_SIZE: dict[str, Callable[[Any], int]] = {
    "chars": len,
    "bytes": lambda value: len(msgspec.json.encode(value)),
    "keywords": lambda value: value.count(",") + 1 if isinstance(value, str) else len(value),
}
