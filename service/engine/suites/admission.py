"""What is wrong with a suite that only the whole of it shows."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import UNSET

from service.config import Limits
from service.core.errors import MAX_FAULTS, Fault, Invalid
from service.core.judging import JudgeInfo
from service.engine.admission import long_values, over, repeated, unknown_rules
from service.engine.generating import MAX_PROMPT_CHARS, generator_faults
from service.engine.lanes import Steps
from service.engine.naming import Names
from service.engine.suites.runs import case_ids, sample
from service.engine.suites.wire import SHARES, SentRun, Suite
from service.primitives.jsontext import as_text
from service.primitives.pointer import join, nearest
from service.primitives.text import cut

Runs = Sequence[Sequence[Sequence[SentRun]]]
"""By version, case and repeat."""

INPUT_PLACEHOLDER = "{input}"

MAX_NAMED = 10


def refuse_many(suite: Suite, limits: Limits) -> None:
    """Raise Invalid if the suite has more of anything than a limit allows. It comes first: it bounds what follows."""
    places = len(suite.versions) * len(suite.cases)
    faults = over("/versions", places, limits.items, "items") or list(_counts(suite, limits))
    if faults:
        raise Invalid(faults)


def admit(
    suite: Suite, runs: Runs, names: Names, known: Mapping[str, JudgeInfo], limits: Limits, size: int
) -> Steps[list[Fault]]:
    """At most 100 faults of a suite that makes no sense as a whole, but for its names.

    `size` is that of the body it came in: no text can have more characters than that.
    """
    faults: list[Fault] = []
    for found in (
        _bounds(suite),
        _graders(suite, runs),
        _prompts(suite, known, limits),
        _verdicts(suite, runs, names),
        _texts(suite, limits) if size > limits.text_chars else (),
        over("/deadline_ms", suite.deadline_ms or 0, limits.max_deadline_ms, "max_deadline_ms"),
    ):
        faults += islice(found, MAX_FAULTS - len(faults))
        yield None
    return faults


def _counts(suite: Suite, limits: Limits) -> Iterator[Fault]:
    own = {name: len(case.graders) for name, case in zip(case_ids(suite.cases), suite.cases, strict=True)}
    count = evaluations = 0
    for version in suite.versions:
        repeats = [(name, len(runs)) for name, runs in version.outputs.items()] if version.outputs else []
        if version.prompt is not UNSET:
            repeats += [(name, suite.repeat) for name in own]
        count += sum(runs for _, runs in repeats)
        evaluations += sum(runs * (len(suite.graders) + own.get(name, 0)) for name, runs in repeats)
    yield from over("/versions", count, limits.items, "items")
    yield from over("/graders", evaluations, limits.evaluations, "evaluations")
    yield from over("/graders", len(suite.graders), limits.evaluators_per_item, "evaluators_per_item")
    if len(suite.graders) <= limits.evaluators_per_item:
        for index, case in enumerate(suite.cases):
            most = len(suite.graders) + len(case.graders)
            yield from over(f"/cases/{index}/graders", most, limits.evaluators_per_item, "evaluators_per_item")


def misnamed(suite: Suite) -> Iterator[Fault]:
    """The faults of names that are there twice, or not at all."""
    yield from repeated(case_ids(suite.cases), "/cases/{}/id", "case")
    names = [one.version for one in suite.versions]
    yield from repeated(names, "/versions/{}/version", "version")
    if suite.baseline is not None and suite.baseline not in names:
        hint = nearest(suite.baseline, names) or f": there are {', '.join(map(repr, names[:MAX_NAMED]))}"
        yield Fault("/baseline", "unknown_id", f"There is no version {cut(suite.baseline, 100)!r}{cut(hint, 1_000)}")
    shared = [rule.id for rule in suite.graders]
    yield from repeated(shared, "/graders/{}/id", "grader")
    for index, case in enumerate(suite.cases):
        own = [rule.id for rule in case.graders]
        yield from repeated(own, f"/cases/{index}/graders/{{}}/id", "grader", earlier=set(shared))


def _bounds(suite: Suite) -> Iterator[Fault]:
    """Bounds that no metric comes near."""
    for index, condition in enumerate(suite.pass_when):
        if condition.metric in SHARES and not 0 <= condition.value <= 1:
            told = f"`{condition.metric}` is a number from 0 to 1: for 80 percent write 0.8"
            yield Fault(f"/pass_when/{index}/value", "out_of_range", told)


def _graders(suite: Suite, runs: Runs) -> Iterator[Fault]:
    """Whoever has an output to grade needs a grader."""
    if suite.graders:
        return
    generated = any(version.prompt is not UNSET for version in suite.versions)
    for index, case in enumerate(suite.cases):
        if not case.graders and (generated or _has_output([one[index] for one in runs])):
            told = "No grader: give `graders`, here or in the case; only runs with a `score` or an `error` need none"
            yield Fault("/graders", "no_grader", f"{told} (case {index + 1})")
            return


def _has_output(runs: Collection[Sequence[SentRun]]) -> bool:
    return any(run.output is not UNSET for of_case in runs for run in of_case)


def _prompts(suite: Suite, known: Mapping[str, JudgeInfo], limits: Limits) -> Iterator[Fault]:
    for index, version in enumerate(suite.versions):
        if (version.prompt is UNSET) == (version.outputs is UNSET):
            yield Fault(f"/versions/{index}", "one_of", "Give either `outputs` or a `prompt` to generate them")
        elif version.prompt is not UNSET and INPUT_PLACEHOLDER not in version.prompt:
            yield Fault(
                f"/versions/{index}/prompt", "invalid_template", f"The prompt has no place for the {INPUT_PLACEHOLDER}"
            )
    if all(version.prompt is UNSET for version in suite.versions):
        return
    if suite.generate is None:
        told = 'A version has a `prompt`: say who runs it, as in {"judge": "default", "temperature": 0.7}'
        yield Fault("/generate", "missing_field", told)
    else:
        yield from generator_faults(suite.generate.judge, known)
    for index, case in enumerate(suite.cases):
        if case.input is UNSET:
            told = "A version has a `prompt`, which needs the case's input"
            yield Fault(f"/cases/{index}/input", "missing_field", told)
    yield from over("/versions", _prompt_chars(suite), MAX_PROMPT_CHARS, "generated_prompt_chars")
    prompts = sum(version.prompt is not UNSET for version in suite.versions)
    yield from over("/repeat", prompts * len(suite.cases) * suite.repeat, limits.judge_calls, "judge_calls")


def _prompt_chars(suite: Suite) -> int:
    """Characters of all prompts with the inputs filled in."""
    inputs = [len(as_text(case.input)) for case in suite.cases if case.input is not UNSET]
    prompts = [one.prompt for one in suite.versions if one.prompt is not UNSET]
    return sum(len(one) * len(inputs) + one.count(INPUT_PLACEHOLDER) * sum(inputs) for one in prompts)


def _verdicts(suite: Suite, runs: Runs, names: Names) -> Iterator[Fault]:
    """Grades and replies for graders that there are not."""
    ids = case_ids(suite.cases)
    for at, of_version in enumerate(runs):
        for case, name, of_case in zip(suite.cases, ids, of_version, strict=True):
            for number, run in enumerate(of_case):
                if run.grades or run.replies:
                    pointer = join(join(f"/versions/{at}/outputs", name), number)
                    item = sample(case, run, number)
                    yield from unknown_rules(item, pointer, names.of(item))


def _texts(suite: Suite, limits: Limits) -> Iterator[Fault]:
    for index, case in enumerate(suite.cases):
        for field in ("input", "expected", "context", "metadata", "variables"):
            yield from long_values(getattr(case, field), f"/cases/{index}/{field}", limits.text_chars)
    for index, version in enumerate(suite.versions):
        for field in ("outputs", "prompt"):
            value: Any = getattr(version, field)
            yield from long_values(value, f"/versions/{index}/{field}", limits.text_chars)
