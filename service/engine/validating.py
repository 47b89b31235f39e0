"""POST /v1/evaluations/validate: what is wrong with a batch, and what it would cost, without running it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from time import perf_counter
from typing import Annotated

from msgspec import UNSET, Meta, Struct

from service.catalogue import type_name
from service.config import Limits
from service.core.asking import Need, Ungraded
from service.core.assess import Assessor, lacks_expected
from service.core.binding import bind, is_templated
from service.core.errors import MAX_FAULTS, Fault, Invalid
from service.core.evaluator import Evaluator
from service.core.judging import CALLER, JudgeInfo
from service.engine.admission import admit, deadline_of, over
from service.engine.batch import Batch, Item
from service.engine.consulting import asks_judge, identity, judge_of, refused_by
from service.engine.gathering import own_fault
from service.engine.handing import strays
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.vetting import faults, vetted
from service.primitives import RuleFault
from service.primitives.pointer import join

_DEFAULT_THRESHOLD = 0.5
_FIELDS = {"invalid_pattern": "/pattern", "invalid_path": "/path", "invalid_schema": "/schema"}


class Cost(Struct):
    """What a batch asks for."""

    evaluations: int = 0
    texts: Annotated[
        int, Meta(description="Distinct texts that the model would embed; what judges come up with is not known yet.")
    ] = 0
    judge_calls: Annotated[int, Meta(description="Questions that judges would be asked, equal ones once; at most.")] = 0


class Validation(Struct):
    """Whether a batch would run as meant; `errors` says why not, `warnings` what looks odd."""

    valid: bool
    errors: list[Fault]
    warnings: list[Fault]
    cost: Cost


def refused(faults: list[Fault]) -> Validation:
    """The answer for a body of the wrong shape."""
    return Validation(False, faults, [], Cost())


class _Wants:
    """What the judgements of a batch would ask for."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.embeds_replies = False
        """Whether judges come up with texts that are embedded, too."""
        self._questions: dict[tuple[str, bytes], int] = {}

    def add(self, rule: Evaluator, need: Need) -> None:
        self.texts.update(need.vectors, need.foreseen)
        self.embeds_replies = self.embeds_replies or bool(getattr(rule, "embeds_replies", False))
        judge = judge_of(rule)
        if judge != CALLER:
            self._questions.update({(judge, identity(one)): 1 + rule.spec.follow_ups for one in need.prompts})

    @property
    def judge_calls(self) -> int:
        return sum(self._questions.values())


def validating(
    batch: Batch, limits: Limits, judges: Mapping[str, JudgeInfo], arrived: float, body_bytes: int
) -> Steps[Validation]:
    """Check everything that can be checked without judging, as far as the deadline allows."""
    names = Names(batch)
    try:
        admit(batch, names, limits, body_bytes)
    except Invalid as exc:
        return refused(exc.faults)
    deadline = deadline_of(batch.deadline_ms, limits, arrived)
    errors: list[Fault] = []
    warnings = list(islice(_unused(batch, names), MAX_FAULTS))
    for pointer, rule, items in _rules(batch):
        if not rule.active:
            continue
        found = [] if is_templated(rule) else faults(rule, limits)
        if asks_judge(rule):
            failed, odd = _of_judge(pointer, rule, judges)
            errors += failed
            warnings += odd
        if not found:
            try:
                warnings += [
                    Fault(pointer + place, code, detail)
                    for place, code, detail in (yield from _oddities(rule, items, limits, deadline))
                ]
            except RuleFault as fault:
                found = [fault]
        errors += [Fault(pointer + _FIELDS.get(fault.code, ""), fault.code, fault.detail) for fault in found]
    evaluations = sum(len(items) for _, _, items in _rules(batch))
    wants = _Wants()
    errors += yield from _faults_of_wants(batch, limits, deadline, wants)
    asked = len(wants.texts.difference(batch.vectors))
    errors += over("/items", asked, limits.texts, "texts")
    errors += over("/items", wants.judge_calls, limits.judge_calls, "judge_calls")
    if perf_counter() > deadline:
        warnings.append(Fault("", "deadline_exceeded", "The deadline passed before everything was looked at"))
    elif not wants.embeds_replies:
        warnings += islice(_unused_vectors(batch, wants.texts), MAX_FAULTS)
    cost = Cost(evaluations=evaluations, texts=asked, judge_calls=wants.judge_calls)
    return Validation(not errors, list(dict.fromkeys(errors))[:MAX_FAULTS], warnings[:MAX_FAULTS], cost)


def _of_judge(pointer: str, rule: Evaluator, judges: Mapping[str, JudgeInfo]) -> tuple[list[Fault], list[Fault]]:
    """What keeps a rule from asking the judge that it names: an error of the rule, or that nobody would answer."""
    refusal = refused_by(rule, judges)
    place = f"{pointer}/judge"
    if isinstance(refusal, RuleFault):
        return [Fault(place, refusal.code, refusal.detail)], []
    if refusal is not None:
        return [], [Fault(place, refusal.reason, refusal.detail)]
    judge = judges[judge_of(rule)]
    told = f"The judge {judge.name} {judge.fault}"
    return [], [Fault(place, "judge_unavailable", told)] if judge.fault else []


def _unused(batch: Batch, names: Names) -> Iterator[Fault]:
    """Grades and replies for rules that do not read them."""
    for index, item in enumerate(batch.items):
        if not (item.grades or item.replies):
            continue
        for rule in (*names.shared, *names.own(item)):
            kind, name = type_name(type(rule)), str(rule.id)
            if name in item.grades and kind != "review":
                yield Fault(join(f"/items/{index}/grades", name), "unused", f"A rule of type {kind} takes no grade")
            place = join(f"/items/{index}/replies", name)
            if name in item.replies and judge_of(rule) != CALLER:
                told = "Replies of the caller are read where the rule says `judge: caller`"
                yield Fault(place, "unused", told)
            elif name in item.replies:
                for stray in strays(rule, item.replies[name], several=False if rule.path is None else None):
                    yield Fault(join(place, stray.key), "unused", stray.detail)


def _unused_vectors(batch: Batch, needed: set[str]) -> Iterator[Fault]:
    """The request's own vectors that no judgement needs."""
    for text in batch.vectors:
        if text not in needed:
            told = "No judgement needs the vector of this text; they are looked up by the whole text, `prefix` included"
            yield Fault(join("/vectors", text), "unused", told)


def _faults_of_wants(batch: Batch, limits: Limits, deadline: float, wants: _Wants) -> Steps[list[Fault]]:
    """What is wrong with what each rule would ask for first, which is added to `wants`: its length, its vectors."""
    found: list[Fault] = []
    for pointer, rule, items in _rules(batch):
        faults: dict[str, Fault] = {}
        for item in items if rule.active and rule.inquires() else ():
            if perf_counter() > deadline:
                break
            with suppress(RuleFault):
                ready = vetted(bind(rule, item.variables, limits.text_chars), limits)
                if fault := _fault_of_first(rule, ready, item, batch, wants):
                    faults.setdefault(fault.code, Fault(pointer, fault.code, fault.detail))
            yield None
        found += faults.values()
    return found


def _fault_of_first(rule: Evaluator, ready: Assessor, item: Item, batch: Batch, wants: _Wants) -> RuleFault | None:
    """What is wrong with what a judgement asks for first, now added to `wants`."""
    try:
        need = next(ready.inquire(item))
    except RuleFault as fault:
        return fault
    except (Ungraded, StopIteration):
        return None
    wants.add(rule, need)
    return own_fault(need.vectors or need.foreseen, batch.vectors)


def _rules(batch: Batch) -> Iterator[tuple[str, Evaluator, Sequence[Item]]]:
    """Every rule with its place and the items it is for."""
    for position, rule in enumerate(batch.evaluators):
        yield f"/evaluators/{position}", rule, batch.items
    for index, item in enumerate(batch.items):
        for position, rule in enumerate(item.evaluators):
            yield f"/items/{index}/evaluators/{position}", rule, (item,)


def _oddities(
    rule: Evaluator, items: Sequence[Item], limits: Limits, deadline: float
) -> Steps[list[tuple[str, str, str]]]:
    """What looks odd about a rule: field, code, sentence. RuleFault if it cannot run on some item."""
    odd: list[tuple[str, str, str]] = [*getattr(rule, "oddities", tuple)()]
    if rule.threshold != _DEFAULT_THRESHOLD and not rule.spec.graded:
        odd.append(("/threshold", "threshold_ignored", "This type scores 1 or 0: a threshold changes nothing"))
    if lacks_expected(rule) and all(item.expected is UNSET for item in items):
        odd.append(("/expected", "nothing_to_compare", "Neither the rule nor any item has `expected`"))
    if not (yield from _selects_somewhere(rule, items, limits, deadline)):
        odd.append(("/path", "path_selects_nothing", f"{rule.path} selects nothing in any item"))
    return odd


def _selects_somewhere(rule: Evaluator, items: Sequence[Item], limits: Limits, deadline: float) -> Steps[bool]:
    """Whether the rule has a value to judge somewhere, if it looks for one by path; made ready for every item."""
    templated = is_templated(rule)
    assessor = None if templated else vetted(rule, limits)
    matched = rule.path is None
    for item in items:
        if perf_counter() > deadline:
            return True
        ready = assessor or vetted(bind(rule, item.variables, limits.text_chars), limits)
        ready.expectation(item)
        matched = matched or ready.selects(item)
        yield None
    return matched
