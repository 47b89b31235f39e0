"""Rules made ready, within the limits."""

from collections.abc import Callable
from functools import cache, partial
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta

from service.config import Limits
from service.core.assess import Assessor
from service.core.evaluator import Evaluator
from service.primitives import RuleFault
from service.primitives.jsonpath import compile_path


def vetted(rule: Evaluator, limits: Limits) -> Assessor:
    """The rule made ready. RuleFault if it is over a limit or can never run."""
    for name, limit in _limited_fields(type(rule)):
        _measure(name, getattr(rule, name), limit, getattr(limits, limit))
    return Assessor(rule)


def faults(rule: Evaluator, limits: Limits) -> list[RuleFault]:
    """Everything for which a rule can never run; `vetted` raises the first of them."""
    checks: list[Callable[[], object]] = [
        partial(_measure, name, getattr(rule, name), limit, getattr(limits, limit))
        for name, limit in _limited_fields(type(rule))
    ]
    if rule.path is not None:
        checks.append(partial(compile_path, rule.path, rule.dialect))
    checks += [partial(rule.validate, getattr(rule, "expected", None)), partial(Assessor, rule)]
    found: dict[str, RuleFault] = {}
    for check in checks:
        try:
            check()
        except RuleFault as fault:
            found.setdefault(fault.detail, fault)
    return list(found.values())


@cache
def _limited_fields(kind: type[Evaluator]) -> tuple[tuple[str, str], ...]:
    """The fields whose annotation names a limit, each with that limit's name."""
    hints = get_type_hints(kind, include_extras=True)
    metas = [(name, meta) for name, hint in hints.items() for meta in _metas(hint)]
    return tuple((name, meta.extra["limit"]) for name, meta in metas if meta.extra)


def _metas(hint: Any) -> list[Meta]:
    """The annotations of a field, those of the members of a union among them."""
    if get_origin(hint) is Annotated:
        return [meta for meta in hint.__metadata__ if isinstance(meta, Meta)]
    return [meta for member in get_args(hint) for meta in _metas(member)] if get_origin(hint) is not Literal else []


def _measure(name: str, value: Any, limit_name: str, limit: int) -> None:
    if value is None or value is UNSET:
        return
    unit = limit_name.rpartition("_")[2]
    size = _SIZE[unit](value)
    if size > limit:
        detail = f"`{name}` has {size:,} {unit}; the limit is {limit:,} ({limit_name} at /v1/limits)"
        raise RuleFault("limit_exceeded", detail)


_SIZE: dict[str, Callable[[Any], int]] = {
    "chars": lambda value: len(value) if isinstance(value, str) else 0,
    "bytes": lambda value: len(msgspec.json.encode(value)),
    "keywords": lambda value: value.count(",") + 1 if isinstance(value, str) else len(value),
}
