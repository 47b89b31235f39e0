"""POST /v1/evaluations/validate: what is wrong with a batch, and what it would cost, without running it."""

from collections.abc import Iterator, Sequence
from time import perf_counter

from msgspec import Struct

from service.config import Limits
from service.core.assess import selects
from service.core.binding import bind, is_templated
from service.core.errors import Fault, Invalid
from service.core.evaluator import Evaluator
from service.engine.admission import MAX_FAULTS, admit
from service.engine.batch import Batch, Item
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.vetting import vetted
from service.primitives import RuleFault

_FIELDS = {"invalid_pattern": "/pattern", "invalid_path": "/path", "invalid_schema": "/schema"}


class Cost(Struct):
    """What a batch asks for."""

    evaluations: int = 0
    texts: int = 0
    judge_calls: int = 0


class Validation(Struct):
    """Whether a batch would run as meant; `errors` says why not, `warnings` what looks odd."""

    valid: bool
    errors: list[Fault]
    warnings: list[Fault]
    cost: Cost


def refused(faults: list[Fault]) -> Validation:
    """The answer for a body of the wrong shape."""
    return Validation(False, faults, [], Cost())


def validating(batch: Batch, limits: Limits, arrived: float, body_bytes: int) -> Steps[Validation]:
    """Check everything that can be checked without judging, as far as the deadline allows."""
    try:
        admit(batch, Names(batch), limits, body_bytes)
    except Invalid as exc:
        return refused(exc.faults)
    deadline = arrived + (batch.deadline_ms or limits.deadline_ms) / 1000
    errors: list[Fault] = []
    warnings: list[Fault] = []
    for pointer, rule, items in _rules(batch):
        try:
            matched = yield from _looked_at(rule, items, limits, deadline)
        except RuleFault as fault:
            errors.append(Fault(pointer + _FIELDS.get(fault.code, ""), fault.code, fault.detail))
            continue
        if not matched:
            detail = f"{rule.path} selects nothing in any item"
            warnings.append(Fault(f"{pointer}/path", "path_selects_nothing", detail))
    if perf_counter() > deadline:
        warnings.append(Fault("", "deadline_exceeded", "The deadline passed before everything was looked at"))
    evaluations = sum(len(items) for _, _, items in _rules(batch))
    return Validation(not errors, errors[:MAX_FAULTS], warnings[:MAX_FAULTS], Cost(evaluations=evaluations))


def _rules(batch: Batch) -> Iterator[tuple[str, Evaluator, Sequence[Item]]]:
    """Every rule with its place and the items it is for."""
    for position, rule in enumerate(batch.evaluators):
        yield f"/evaluators/{position}", rule, batch.items
    for index, item in enumerate(batch.items):
        for position, rule in enumerate(item.evaluators):
            yield f"/items/{index}/evaluators/{position}", rule, (item,)


def _looked_at(rule: Evaluator, items: Sequence[Item], limits: Limits, deadline: float) -> Steps[bool]:
    """Whether the path of a rule selects something somewhere; RuleFault if the rule cannot run on some item."""
    if not rule.active:
        return True
    templated = is_templated(rule)
    if not templated:
        vetted(rule, limits)
    matched = rule.path is None
    for item in items:
        if perf_counter() > deadline:
            return True
        bound = rule
        if templated:
            bound = bind(rule, item.variables, limits.text_chars)
            vetted(bound, limits)
        matched = selects(bound, item) or matched
        yield
    return matched
