"""The runs of a suite as they were sent: read, and made into items for the engine."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from service.core.errors import MAX_FAULTS, Fault, Invalid
from service.engine.batch import Sample
from service.engine.lanes import Steps
from service.engine.suites.wire import SentRun, Suite, SuiteCase, Version
from service.primitives.pointer import join, nearest
from service.primitives.text import cut

CASES_AT_ONCE = 500

_KINDS = frozenset({"output", "error", "score"})

_FIELDS = SentRun.__struct_fields__

_WRAP = "An output that is itself an object with one of the keys `output`, `error` and `score` goes into `output`"


def is_plain_object(value: Any) -> bool:
    """Whether a run is an object that is an output as it stands."""
    return isinstance(value, dict) and not value.keys() & _KINDS


def read_run(value: Any, pointer: str) -> SentRun | list[Fault]:
    """A run from what was sent for it, or what is wrong with that."""
    if not isinstance(value, dict) or not (kinds := value.keys() & _KINDS):
        return SentRun(output=value)
    if len(kinds) > 1:
        return [Fault(pointer, "one_of", f"Give one of `output`, `error` and `score`. {_WRAP}")]
    try:
        run = msgspec.convert(value, SentRun)
    except msgspec.ValidationError:
        return list(_misfits(value, pointer))
    if run.output is UNSET and (run.grades or run.replies):
        return [Fault(pointer, "unused", "`grades` and `replies` go with an `output`")]
    if run.score is UNSET and run.explanation is not None:
        return [Fault(pointer, "unused", "An `explanation` goes with a `score`")]
    return run


def _misfits(value: dict[str, Any], pointer: str) -> Iterator[Fault]:
    """The fields of a run that are none, or do not fit."""
    for name, one in value.items():
        if name not in _FIELDS:
            hint = nearest(name, _FIELDS) or f": its fields are {', '.join(_FIELDS)}."
            yield Fault(join(pointer, name), "unknown_field", f"A run has no {cut(name, 100)!r}{hint} {_WRAP}")
            continue
        try:
            msgspec.convert({name: one}, SentRun)
        except msgspec.ValidationError as exc:
            bounded = name == "score" and isinstance(one, int | float) and not isinstance(one, bool)
            told = "A score is a number from 0 to 1" if name == "score" else str(exc)
            yield Fault(join(pointer, name), "out_of_range" if bounded else "wrong_type", f"{told}. {_WRAP}")


def case_ids(cases: Sequence[SuiteCase]) -> list[str]:
    """The ids of cases, their positions where none are given."""
    return [case.id or str(position) for position, case in enumerate(cases, 1)]


def read_runs(suite: Suite, faults: list[Fault]) -> Steps[list[list[list[SentRun]]]]:
    """The runs that came with the suite, by version, case and repeat; what is wrong with them is added to the faults.

    One that cannot be read keeps its place, empty. Invalid as soon as there are 100 faults.
    """
    ids = case_ids(suite.cases)
    read = []
    for at, version in enumerate(suite.versions):
        read.append((yield from _of_version(version, f"/versions/{at}", ids, faults)))
    return read


def sample(case: SuiteCase, run: SentRun, slot: int) -> Sample:
    """A run with an output as an item, in the slot of its repeat."""
    return Sample(
        output=run.output,
        input=case.input,
        expected=case.expected,
        context=case.context,
        variables=case.variables,
        metadata=case.metadata,
        evaluators=case.graders,
        grades=run.grades,
        replies=run.replies,
        slot=str(slot),
    )


def _of_version(version: Version, pointer: str, ids: Sequence[str], faults: list[Fault]) -> Steps[list[list[SentRun]]]:
    outputs = {} if version.outputs is UNSET else version.outputs
    read: dict[str, list[SentRun]] = {name: [] for name in ids}
    for position, (name, values) in enumerate(outputs.items()):
        place = join(f"{pointer}/outputs", name)
        if name in read:
            read[name] = [_taken(read_run(value, join(place, at)), faults) for at, value in enumerate(values)]
        else:
            hint = nearest(name, ids)
            faults.append(Fault(place, "unknown_id", f"There is no case with the id {cut(name, 100)!r}{hint}"))
        if len(faults) >= MAX_FAULTS:
            raise Invalid(faults[:MAX_FAULTS])
        if faults or position % CASES_AT_ONCE == 0:
            yield None
    return [read[name] for name in ids]


def _taken(run: SentRun | list[Fault], faults: list[Fault]) -> SentRun:
    if isinstance(run, SentRun):
        return run
    faults += run
    return SentRun()
