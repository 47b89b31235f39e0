"""Rules of a batch, told apart by what they judge: those that judge alike share one task, whatever they are called."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, Struct, structs

from service.catalogue import type_name
from service.config import Limits
from service.core.asking import Ungraded
from service.core.assess import Assessor, lacks_expected
from service.core.binding import bind, is_templated
from service.core.case import Case
from service.core.evaluator import Evaluator, Tester
from service.core.outcome import Evaluation
from service.engine.consulting import asks_judge, judge_of
from service.engine.presenting import is_long, presented
from service.engine.vetting import vetted
from service.primitives import RuleFault

log = logging.getLogger("scorewright.engine")

MAX_TIMEOUTS = 5

Held = bool | Evaluation
"""Whether a rule passes; where that cannot be told, the evaluation that says why."""

_LATE = "The deadline passed before this was evaluated (see deadline_ms)"

_encode = msgspec.json.Encoder().encode


class Task(Struct, kw_only=True):
    """A rule, and what is known of it so far: its outcomes by the data they depend on, its timeouts.

    `assessor` is the rule made ready. It is None where the rule can never run, which `fault` explains, and where what
    it says depends on the variables of an item. `cuts`: long texts in outcomes are cut; `echoes`: there may be some
    besides the value under test. `test` tells quickly whether an output that is a text passes; `held` remembers what a
    screening found, `seen` what a run did.
    """

    rule: Evaluator
    type: str
    limits: Limits
    cuts: bool
    echoes: bool
    reads: tuple[str, ...]
    reads_output: bool
    inquires: bool
    assessor: Assessor | None
    fault: RuleFault | None
    test: Tester | None = None
    seen: dict[Any, Evaluation] = {}
    held: dict[Any, Held] = {}
    seconds: float = 0.0
    timeouts: int = 0
    logged: bool = False

    def key(self, case: Case, memo: dict[str, Any]) -> Any:
        """The data of a case on which the outcome depends: equal keys, equal outcomes.

        `memo` keeps the parts of one case that have been encoded already.
        """
        if self.reads_output:
            return _part(case, "output", memo)
        return tuple([_part(case, field, memo) for field in self.reads])

    def judge(self, case: Case, key: Any) -> Evaluation:
        """Judge a case, and remember the outcome under its key."""
        try:
            evaluation = (self.assessor or self.ready(case))(case)
        except Exception as exc:
            evaluation = self.failed(exc)
        if self.echoes or is_long(evaluation.actual):
            return self.keep(key, evaluation)
        self.seen[key] = evaluation
        return evaluation

    def hold(self, case: Case) -> Held:
        """Whether a case passes, or the evaluation that says why that cannot be told; raises what `failed` explains."""
        return held_by((self.assessor or self.ready(case))(case))

    def refuse(self, subject: object) -> Held:  # noqa: ARG002
        """Raise why the rule cannot run."""
        assert self.fault is not None
        raise self.fault

    def too_late(self) -> Evaluation:
        """The outcome of what the deadline has overtaken; it is not remembered."""
        return self.rule.ungraded("not_graded", "deadline_exceeded", _LATE)

    def ready(self, case: Case) -> Assessor:
        """The rule made ready for a case; RuleFault where it cannot run."""
        if self.fault is not None:
            raise self.fault
        return self.assessor or vetted(bind(self.rule, case.variables, self.limits.text_chars), self.limits)

    def keep(self, key: Any, evaluation: Evaluation) -> Evaluation:
        """The outcome as it is shown, remembered under a key."""
        self.seen[key] = shown = presented(evaluation) if self.cuts else evaluation
        return shown

    def failed(self, exc: Exception) -> Evaluation:
        """The outcome where judging failed. What nobody foresaw is logged."""
        if isinstance(exc, Ungraded):
            return self.rule.ungraded(exc.status, exc.reason, exc.detail, details=exc.details)
        fault = exc if isinstance(exc, RuleFault) else self._internal(exc)
        if fault.code == "regex_timeout":
            self._count_timeout(fault)
        return self.rule.ungraded("error", fault.code, fault.detail)

    def _internal(self, exc: Exception) -> RuleFault:
        if not self.logged:
            log.error("evaluator %s failed", self.type, exc_info=exc)
            self.logged = True
        return RuleFault("internal", f"The evaluator {self.type} failed; this is a fault of the service")

    def _count_timeout(self, fault: RuleFault) -> None:
        """A rule that ran out of time too often is given up."""
        self.timeouts += 1
        if self.timeouts == MAX_TIMEOUTS:
            detail = f"{fault.detail}; {MAX_TIMEOUTS} times, so the rule was given up"
            self.assessor, self.test, self.fault = None, None, RuleFault(fault.code, detail)


def held_by(evaluation: Evaluation) -> Held:
    """The same without its words, where it has a score."""
    return evaluation if evaluation.score is None else evaluation.status == "passed"


class Tasks:
    """The tasks of a batch, made when a rule is first met."""

    def __init__(self, limits: Limits, *, cuts: bool) -> None:
        self._limits = limits
        self._cuts = cuts
        self._by_identity: dict[bytes, Task] = {}

    def of(self, rules: Iterable[Evaluator]) -> list[Task | None]:
        """A task for each rule, None for one that is not active."""
        return [self._of(rule) if rule.active else None for rule in rules]

    def computed(self) -> int:
        """How many distinct (rule, data) pairs have been judged."""
        return sum(len(task.seen) + len(task.held) for task in self._by_identity.values())

    def unjudged(self) -> Counter[tuple[str, str]]:
        """How many distinct judgements judges gave no verdict for, by judge and reason."""
        return Counter(
            (judge_of(task.rule), str(one.reason))
            for task in self._by_identity.values()
            if asks_judge(task.rule)
            for one in task.seen.values()
            if one.status == "not_graded"
        )

    def seconds(self) -> dict[str, float]:
        """Time spent judging, by type."""
        spent: defaultdict[str, float] = defaultdict(float)
        for task in self._by_identity.values():
            spent[task.type] += task.seconds
        return spent

    def _of(self, rule: Evaluator) -> Task:
        identity = _encode(structs.replace(rule, id=None, label=None, weight=1.0))
        task = self._by_identity.get(identity)
        if task is None:
            templated = is_templated(rule)
            assessor, fault = (None, None) if templated else self._ready(rule)
            reads = _reads(rule, templated)
            echoes = rule.spec.echoes or templated or "expected" in reads or is_long(getattr(rule, "expected", None))
            task = self._by_identity[identity] = Task(
                rule=rule,
                type=type_name(type(rule)),
                limits=self._limits,
                cuts=self._cuts,
                echoes=echoes,
                reads=reads,
                reads_output=reads == ("output",) and not rule.inquires(),
                inquires=rule.inquires(),
                assessor=assessor,
                fault=fault,
            )
        return task

    def _ready(self, rule: Evaluator) -> tuple[Assessor, None] | tuple[None, RuleFault]:
        try:
            return vetted(rule, self._limits), None
        except RuleFault as fault:
            return None, fault


def _reads(rule: Evaluator, templated: bool) -> tuple[str, ...]:
    fields: set[str] = set()
    if rule.literal() is UNSET:
        fields.add(rule.from_)
    if lacks_expected(rule):
        fields.add("expected")
    if templated:
        fields.add("variables")
    fields.update(rule.spec.reads)
    return tuple(sorted(fields))


def _part(case: Case, field: str, memo: dict[str, Any]) -> Any:
    """A text as it is, anything else as its JSON text, so that 1, 1.0, true and two orders of keys stay apart."""
    value = getattr(case, field)
    if type(value) is str or value is UNSET:
        return value
    encoded = memo.get(field)
    if encoded is None:
        encoded = memo[field] = _encode(value)
    return encoded
