# mypy: disable-error-code="import-not-found"
"""Evaluators beside the scorers of autoevals, in one thread of this process, on inputs that score the same."""

import json
from collections.abc import Callable
from math import isclose
from time import process_time
from typing import Any, NamedTuple

from autoevals.json import JSONDiff, ValidJSON
from autoevals.list import ListContains as TheirListContains
from autoevals.string import Levenshtein as TheirLevenshtein

from benchmarks import workload
from benchmarks.comparison import Comparison, interleaved
from service.core.assess import Assessor
from service.core.case import Case
from service.core.evaluator import Evaluator
from service.scorers.graded import JsonDiff, Levenshtein, ListContains
from service.scorers.structured import ValidJson

INPUTS = 20
LEAST = 1.0

SCHEMA = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "summary": {"type": "string", "maxLength": 60},
            "count": {"type": "integer", "minimum": 0},
            "share": {"type": "number", "maximum": 1},
            "urgent": {"type": "boolean"},
        },
        "required": ["title", "summary", "count", "share", "urgent"],
        "additionalProperties": False,
    },
}


class Contest(NamedTuple):
    """One evaluator and its peer, on the same cases, a number of passes over them a round."""

    name: str
    rule: Evaluator
    peer: Callable[[Any, Any], Any]
    cases: list[Case]
    passes: int


def compare() -> list[Comparison]:
    """CPU an evaluation, each evaluator on its own. RuntimeError if the two score a case differently."""
    return [_compared(contest) for contest in _contests()]


def _compared(contest: Contest) -> Comparison:
    _check(contest)
    rounds = interleaved({"ours": lambda: _ours(contest), "autoevals": lambda: _theirs(contest)})
    return Comparison(
        name=f"{contest.name}, and autoevals",
        unit="us",
        ours=min(rounds["ours"]),
        peer=min(rounds["autoevals"]),
        sense="at least",
        target=LEAST,
        rounds=rounds,
    )


def _check(contest: Contest) -> None:
    for case in contest.cases:
        own = Assessor(contest.rule)(case).score
        other = contest.peer(case.output, case.expected).score
        if own is None or not isclose(own, other, abs_tol=1e-9):
            raise RuntimeError(f"{contest.name}: {own} here, {other} by autoevals, on {case}")


def _ours(contest: Contest) -> float:
    assess = Assessor(contest.rule)
    started = process_time()
    for _ in range(contest.passes):
        for case in contest.cases:
            assess(case)
    return _microseconds_each(started, contest)


def _theirs(contest: Contest) -> float:
    started = process_time()
    for _ in range(contest.passes):
        for case in contest.cases:
            contest.peer(case.output, case.expected)
    return _microseconds_each(started, contest)


def _microseconds_each(started: float, contest: Contest) -> float:
    return (process_time() - started) / (contest.passes * len(contest.cases)) * 1e6


def _contests() -> list[Contest]:
    validator = ValidJSON()

    def valid(output: Any, _: Any) -> Any:
        return validator.eval(output, SCHEMA)

    edit_distance = TheirLevenshtein().eval
    return [
        Contest("json_diff of 30 keys, nested", JsonDiff(), JSONDiff().eval, _objects(), 10),
        Contest("list_contains 20 x 20", ListContains(), TheirListContains().eval, _lists(), 10),
        Contest("levenshtein of 2,000, 5 % edited", Levenshtein(), edit_distance, _texts(related=True), 10),
        Contest("levenshtein of 2,000, unrelated", Levenshtein(), edit_distance, _texts(related=False), 10),
        Contest("valid_json with a schema", ValidJson(schema=SCHEMA), valid, _json_texts(), 10),
    ]


def _objects() -> list[Case]:
    chance = workload.source("objects")
    documents = [workload.nested(chance) for _ in range(INPUTS)]
    return [Case(output=document, expected=workload.altered(chance, document)) for document in documents]


def _lists() -> list[Case]:
    chance = workload.source("lists")
    cases = []
    for _ in range(INPUTS):
        expected = [workload.prose(chance, 20) for _ in range(20)]
        output = [workload.edited(chance, text, 0.1) for text in chance.sample(expected, 20)]
        cases.append(Case(output=output, expected=expected))
    return cases


def _texts(*, related: bool) -> list[Case]:
    chance = workload.source("long texts")
    outputs = [workload.prose(chance, 2000) for _ in range(INPUTS)]
    other = [workload.edited(chance, text) if related else workload.prose(chance, 2000) for text in outputs]
    return [Case(output=output, expected=expected) for output, expected in zip(outputs, other, strict=True)]


def _json_texts() -> list[Case]:
    """Every second one does not fit the schema."""
    chance = workload.source("json texts")
    documents = [workload.nested(chance) for _ in range(INPUTS)]
    for document in documents[::2]:
        document["section_3"]["count"] = "many"
    return [Case(output=json.dumps(document, indent=1), expected=None) for document in documents]
