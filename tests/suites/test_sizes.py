"""Large and hostile suites: what they take, and what is refused before it takes too much."""

import tracemalloc
from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.config import Limits
from service.core.errors import TooLarge
from service.core.judging import JudgeInfo
from service.engine.lanes import Steps
from service.engine.run import Outside
from service.engine.suites.answering import answering
from service.engine.suites.wire import Suite
from service.engine.writing import Answered
from service.judge.scripted import Scripted
from tests.judging import LIMITS, NO_JUDGES, NO_MODEL
from tests.suites.driving import EXACT, answer, body_of, faults, scored, suite

A = {"type": "contains", "expected": "a"}


def steps_of(body: dict[str, Any]) -> Steps[Answered]:
    decoded = msgspec.convert(body, Suite)
    return answering(decoded, LIMITS, Outside(NO_MODEL, NO_JUDGES), perf_counter(), 1_000, 0)


HOSTILE = [
    "",
    "/",
    "~",
    "~1",
    "a/b",
    "a~0b",
    '"',
    "\\",
    "\u0000",
    "\u2028",
    "{input}",
    "$.x",
    "é",
    "💥",
    " ",
    "null",
    'versions":[]',
]


def test_hostile_ids_come_back_as_they_were() -> None:
    names = [name for name in HOSTILE if name]
    body = suite({name: scored(1) for name in names})
    body["versions"] = [{"version": name, "outputs": {case: scored(1) for case in names}} for name in names]
    got = answer(body)
    assert [one["version"] for one in got["versions"]] == names
    assert all([case["id"] for case in one["cases"]] == names for one in got["versions"])
    assert [one["candidate"] for one in got["comparisons"]] == names[1:]


@pytest.mark.parametrize("field", ["name", "model"])
def test_hostile_texts_beside_them(field: str) -> None:
    body = suite({"a": scored(1)})
    (body if field == "name" else body["versions"][0])[field] = '"versions":[]}"cases":[]}'
    got = answer(body)
    assert (got if field == "name" else got["versions"][0])[field] == '"versions":[]}"cases":[]}'


def test_grader_ids_may_be_anything() -> None:
    graders = [A | {"id": name} for name in HOSTILE if name]
    (run,) = answer(suite({"a": ["a"]}, graders=graders))["versions"][0]["cases"][0]["runs"]
    assert [one["evaluator"] for one in run["evaluations"]] == [one["id"] for one in graders]


def test_a_thousand_versions() -> None:
    got = answer(suite(*[{"a": scored(number % 2), "b": scored(1)} for number in range(1_000)]))
    assert len(got["comparisons"]) == 999
    assert sum(one["counts"]["improved"] for one in got["comparisons"]) == 500


@pytest.mark.parametrize("shape", [(1, 1, 10_000), (2, 1_000, 5), (1, 10_000, 1)])
def test_ten_thousand_runs_are_graded_in_many_steps(shape: tuple[int, int, int]) -> None:
    versions, cases, repeats = shape
    outputs = {f"case {case}": [f"answer {(case + run) % 50}" for run in range(repeats)] for case in range(cases)}
    body = suite(*[outputs] * versions, graders=[A, EXACT | {"expected": "answer 7"}, {"type": "length", "max": 9}])
    steps, count = steps_of(body), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            answered = end.value
            break
        count += 1
    assert count > 500
    got = msgspec.json.decode(answered.body)
    assert got["summary"] == {"runs": 10_000, "evaluations": 30_000, "computed": 150, "deduplicated": 29_850}
    assert answered.facts == {"runs": 10_000, "evaluations": 30_000}


def long_answers(runs: int, **more: Any) -> dict[str, Any]:
    return suite({"a": ["a" * 1_900] * runs}, graders=[A | {"id": str(number)} for number in range(10)], **more)


def test_an_answer_over_the_limit_is_refused_before_it_is_made() -> None:
    """One case with all the runs: 40 MB, had it been encoded."""
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="response_bytes"):
            body_of(long_answers(2_000), Limits(response_bytes=1_000_000))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("echo", ["cut", "full"])
def test_answers_up_to_the_limit(echo: str) -> None:
    body = long_answers(20, echo=echo)
    size = len(body_of(body))
    assert len(body_of(body, Limits(response_bytes=size))) == size
    with pytest.raises(TooLarge, match="echo: full"):
        body_of(body, Limits(response_bytes=size - 1))


def test_large_outputs_in_full_are_measured_before_they_are_encoded() -> None:
    body = suite({"a": ["a" * 1_000_000]}, graders=[A | {"id": str(number)} for number in range(100)], echo="full")
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            body_of(body)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_prompts_for_the_caller_are_measured_too() -> None:
    body = suite({"a": ["x" * 100_000] * 20}, graders=[{"type": "possible", "judge": "caller"}])
    with pytest.raises(TooLarge):
        body_of(body, Limits(response_bytes=1_000_000))


def test_texts_that_were_written_count() -> None:
    judges = Scripted(
        lambda _: "x" * 10_000, [JudgeInfo(name="default", kind="openai", model="m", allow_generate=True)]
    )
    body = {"cases": [{"input": "Who?"}], "versions": [{"version": "v", "prompt": "{input}"}], "graders": [A],
            "generate": {}, "repeat": 20}  # fmt: skip
    with pytest.raises(TooLarge):
        body_of(body, Limits(response_bytes=100_000), judges)


def test_a_comparison_is_part_of_the_answer() -> None:
    with pytest.raises(TooLarge):
        body_of(suite({"a": scored(1)}, {"a": scored(1)}), Limits(response_bytes=1_000))


def test_many_unknown_cases_beside_many_known_ones() -> None:
    """A hint is looked for among names that are all alike."""
    cases = [{"id": f"ticket-{number:05}"} for number in range(2_000)]
    outputs: dict[str, list[Any]] = {f"tickets-{number:05}": [] for number in range(200)}
    found = faults({"cases": cases, "versions": [{"version": "v", "outputs": outputs}]})
    assert len(found) == 100
    assert "did you mean 'ticket-" in found[0][2]
