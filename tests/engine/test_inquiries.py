"""Judgements that need others: what is asked, when, and what becomes of them where no answer comes."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Timer
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
import pytest

from service.config import Limits
from service.core.asking import Need, Told, together
from service.core.errors import ModelUnavailable, Overloaded
from service.core.ports import Embedded, Figures, Model, Reading
from service.embedding.batcher import Batcher
from service.embedding.hashing import HashingEncoder
from service.engine.batch import Batch
from service.engine.evaluating import evaluating
from service.engine.lanes import Abandoned, Lane
from service.engine.run import Outside
from service.engine.validating import validating
from tests.engine.test_lanes import never
from tests.judging import NO_JUDGES, drain, results

SIMILAR = {"type": "embedding_similarity"}
TOKENS = {"type": "length", "unit": "tokens", "max": 3}


class Scripted:
    """An embedder that answers from a table, notes what it was asked, and fails as it is told."""

    def __init__(self, late: Sequence[str] = (), faulty: Sequence[str] = (), overloaded: bool = False) -> None:
        self.model = Model(id="scripted", fingerprint="0", dimensions=2, max_tokens=4)
        self.figures = Figures()
        self.asked: list[list[str]] = []
        self.counted: list[list[str]] = []
        self._late, self._faulty, self._overloaded = late, faulty, overloaded

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:
        if self._overloaded:
            raise Overloaded("too much")
        self.asked.append(list(texts))
        vectors = np.array([[1.0, len(text) / 10] for text in texts], dtype=np.float32)
        readings = [Reading(len(text.split()) + 2, min(4, len(text.split()) + 2)) for text in texts]
        late = frozenset(place for place, text in enumerate(texts) if text in self._late)
        faults = {place: ModelUnavailable("no luck") for place, text in enumerate(texts) if text in self._faulty}
        future: Future[Embedded] = Future()
        future.set_result(Embedded(vectors, readings, late, dict(faults)))
        return future

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:
        self.counted.append(list(texts))
        future: Future[list[int]] = Future()
        future.set_result([len(text.split()) for text in texts])
        return future

    def close(self) -> None:
        pass


def statuses(answer: dict[str, Any]) -> list[list[tuple[str, str | None]]]:
    return [[(one["status"], one["reason"]) for one in item["evaluations"]] for item in answer["results"]]


def test_a_batch_asks_once_for_each_distinct_text() -> None:
    embedder = Scripted()
    items = [{"output": text, "expected": "same"} for text in ("x", "y", "x", "same")]
    own = {"output": "z", "expected": "x", "evaluators": [SIMILAR | {"id": "own", "prefix": "p "}, TOKENS]}
    answer = results({"items": [*items, own], "evaluators": [SIMILAR, SIMILAR | {"id": "again"}]}, embedder=embedder)
    (asked,) = embedder.asked
    assert sorted(asked) == ["p x", "p z", "same", "x", "y", "z"]
    assert embedder.counted == [["z"]]
    summary = answer["summary"]
    assert (summary["evaluations"], summary["computed"], summary["deduplicated"]) == (12, 6, 6)
    assert answer["results"][0]["evaluations"][0]["details"]["model"] == "scripted"


def test_vectors_of_the_request_are_not_asked_for() -> None:
    embedder = Scripted()
    body = {"items": [{"output": "a", "expected": "b"}, {"output": "c", "expected": "d"}], "evaluators": [SIMILAR],
            "vectors": {"a": [1, 0], "b": [1, 0]}}  # fmt: skip
    answer = results(body, embedder=embedder)
    assert embedder.asked == [["c", "d"]]
    models = [item["evaluations"][0]["details"]["model"] for item in answer["results"]]
    assert models == [None, "scripted"]


def test_what_is_told_of_a_judgement_does_not_depend_on_those_beside_it() -> None:
    rules = [{"type": "json_diff", "string_scorer": "embedding_similarity"},
             {"type": "list_contains", "pairwise_scorer": "embedding_similarity"}]  # fmt: skip
    alone = {"output": [1, "same", None], "expected": [1, "same", None]}
    nulls = {"output": [None], "expected": [None]}
    beside = {"output": ["x"], "expected": ["y"]}
    apart = [results({"items": [item], "evaluators": rules}, embedder=Scripted())["results"] for item in (alone, nulls)]
    together = results({"items": [alone, nulls, beside], "evaluators": rules}, embedder=Scripted())["results"]
    assert [one["evaluations"] for one in together[:2]] == [one["evaluations"] for (one,) in apart]
    assert [[one["details"]["model"] for one in item["evaluations"]] for item in together] == [
        [None, "scripted"], [None, None], ["scripted", "scripted"]]  # fmt: skip


def test_no_text_or_an_inactive_rule_asks_nobody() -> None:
    embedder = Scripted()
    rules = [SIMILAR, SIMILAR | {"id": "off", "active": False, "prefix": "p"}]
    answer = results({"items": [{"expected": "b"}, {"output": "a"}], "evaluators": rules}, embedder=embedder)
    assert embedder.asked == []
    assert statuses(answer) == [
        [("no_data", "no_output"), ("skipped", None)],
        [("no_data", "missing_expected"), ("skipped", None)],
    ]


def test_what_comes_late_and_what_fails_is_not_graded_and_the_rest_is() -> None:
    embedder = Scripted(late=["slow"], faulty=["bad"])
    items = [{"output": text, "expected": "x"} for text in ("slow", "bad", "fine", "slow")]
    answer = results({"items": items, "evaluators": [SIMILAR]}, embedder=embedder)
    assert statuses(answer) == [
        [("not_graded", "deadline_exceeded")],
        [("not_graded", "model_unavailable")],
        [("passed", None)],
        [("not_graded", "deadline_exceeded")],
    ]
    summary = answer["summary"]
    assert (summary["computed"], summary["deduplicated"]) == (2, 0)


def test_without_a_model_the_explanation_says_what_to_do() -> None:
    answer = results(
        {"items": [{"output": "a", "expected": "b"}], "evaluators": [SIMILAR, TOKENS, {"type": "exact_match"}]}
    )
    got = answer["results"][0]["evaluations"]
    assert statuses(answer) == [[("not_graded", "model_unavailable")] * 2 + [("failed", None)]]
    assert got[0]["explanation"] == "There is no model in this test"


def test_a_full_queue_refuses_the_request() -> None:
    with pytest.raises(Overloaded):
        results(
            {"items": [{"output": "a", "expected": "b"}], "evaluators": [SIMILAR]}, embedder=Scripted(overloaded=True)
        )


def test_a_batch_may_not_ask_for_too_many_texts() -> None:
    items = [{"output": f"text {number}", "expected": "x"} for number in range(6)]
    answer = results({"items": items, "evaluators": [SIMILAR]}, limits=Limits(texts=5), embedder=Scripted())
    found = [pair for (pair,) in statuses(answer)]
    assert found.count(("error", "limit_exceeded")) == 2
    assert found.count(("passed", None)) + found.count(("failed", None)) == 4


def test_what_needs_nobody_is_judged_while_the_model_works() -> None:
    """The embedder answers only once the deadline is over; the plain rule has been judged by then."""
    embedder = Scripted(late=["a", "x"])
    promise: Future[Embedded] = Future()
    answered = embedder.embed(["a", "x"], 0).result()

    def answer_when_late(texts: Sequence[str], deadline: float) -> Future[Embedded]:
        Timer(deadline - perf_counter() + 0.05, promise.set_result, (answered,)).start()
        return promise

    embedder.embed = answer_when_late  # type: ignore[method-assign]
    body = {"items": [{"output": "a", "expected": "x"}], "deadline_ms": 100,
            "evaluators": [SIMILAR, {"type": "exact_match"}, {"type": "length", "max": 3}]}  # fmt: skip
    assert statuses(results(body, embedder=embedder)) == [
        [("not_graded", "deadline_exceeded"), ("failed", None), ("passed", None)]
    ]


OWN = {name: [1.0, float(ord(name))] for name in "abcdefghij"}
SLOW = {"type": "list_contains", "pairwise_scorer": "embedding_similarity"}


def test_nothing_is_begun_after_the_deadline() -> None:
    items = [{"output": one, "expected": other} for one in OWN for other in OWN]
    body = {"items": items, "vectors": OWN, "deadline_ms": 100,
            "evaluators": [SIMILAR, {"type": "exact_match"}]}  # fmt: skip
    batch = msgspec.convert(body, Batch)
    embedder = Scripted()
    answered = drain(evaluating(batch, Limits(), Outside(embedder, NO_JUDGES), perf_counter() - 10, 1000, 0))
    answer = msgspec.json.decode(answered.body)
    assert statuses(answer) == [[("not_graded", "deadline_exceeded")] * 2] * len(items)
    assert (answer["summary"]["computed"], answer["summary"]["deduplicated"]) == (0, 0)


def test_judgements_that_take_long_end_with_the_deadline() -> None:
    """They would take a minute."""
    sides = [["abcdefghij"[number % 10] for number in range(300)] for _ in "ab"]
    items = [{"output": sides[0], "expected": [*sides[1][1:], None, number]} for number in range(1000)]
    began = perf_counter()
    answer = results({"items": items, "evaluators": [SLOW], "deadline_ms": 300,
                      "vectors": OWN | {str(number): [1.0, 1.0] for number in range(1000)}})  # fmt: skip
    assert perf_counter() - began < 10
    reasons = [reason for ((_, reason),) in statuses(answer)]
    assert reasons.count("deadline_exceeded") > 100
    assert reasons.count(None) + reasons.count("deadline_exceeded") == len(items)


def test_variables_are_filled_in_before_texts_are_asked_for() -> None:
    embedder = Scripted()
    rule = SIMILAR | {"expected": "hello {{name}}"}
    items = [{"output": "a", "variables": {"name": name}} for name in ("Ann", "Bob")] + [{"output": "a"}]
    answer = results({"items": items, "evaluators": [rule]}, embedder=embedder)
    assert sorted(embedder.asked[0]) == ["a", "hello Ann", "hello Bob"]
    assert statuses(answer)[2] == [("error", "unknown_variable")]


def test_a_prefix_may_have_variables() -> None:
    embedder = Scripted()
    rule = SIMILAR | {"prefix": "{{task}}: ", "expected": "b"}
    items: list[dict[str, Any]] = [{"output": "a", "variables": {"task": task}} for task in ("query", 7)]
    off = {"output": "a", "evaluators": [rule | {"id": "off", "template": False}]}
    answer = results({"items": [*items, off], "evaluators": [rule]}, embedder=embedder)
    assert sorted(embedder.asked[0]) == ["7: a", "7: b", "query: a", "query: b", "{{task}}: a", "{{task}}: b"]
    assert statuses(answer)[2][0] == ("error", "unknown_variable")


def test_truncation_is_told_with_both_counts_and_beside_the_cut_of_the_echo() -> None:
    long = "word " * 600
    answer = results({"items": [{"output": long, "expected": "a b c"}], "evaluators": [SIMILAR]}, embedder=Scripted())
    details = answer["results"][0]["evaluations"][0]["details"]
    assert details["tokens"] == {"actual": {"tokens": 602, "read": 4}, "expected": {"tokens": 5, "read": 4}}
    assert details["truncated"] == ["actual", "expected"]


def test_tokens_are_counted_by_the_model_that_is_named() -> None:
    answer = results({"items": [{"output": "a b c d"}], "evaluators": [TOKENS]}, embedder=Scripted())
    got = answer["results"][0]["evaluations"][0]
    assert (got["status"], got["actual"], got["explanation"]) == ("failed", 4, "4 tokens, 4 > 3")
    assert got["details"] == {"unit": "tokens", "tokenizer": "scripted"}


def test_validation_counts_the_texts() -> None:
    items = [{"output": text, "expected": "same"} for text in ("x", "y", "x")]
    rules: list[Any] = [SIMILAR, {"type": "list_contains", "pairwise_scorer": "embedding_similarity"}, TOKENS]
    body = {"items": items, "evaluators": rules, "vectors": {"y": [1.0]}}
    told = drain(validating(msgspec.convert(body, Batch), Limits(), (), perf_counter(), 100))
    assert told.cost.texts == 2
    assert [fault.code for fault in told.warnings if fault.pointer == "/vectors"] == []


@pytest.fixture
def hashing() -> Iterator[Batcher]:
    batcher = Batcher(HashingEncoder(), workers=2, run_tokens=64, queue_texts=1000, cache_texts=8)
    yield batcher
    batcher.close()


def test_the_same_request_has_the_same_bytes_whatever_is_cached(hashing: Batcher) -> None:
    items = [{"output": f"text {number % 7} about things", "expected": "a text of things"} for number in range(40)]
    body = {"items": items, "evaluators": [SIMILAR | {"expected_min": 0}]}
    first = results(body, embedder=hashing)
    assert [results(body, embedder=hashing) for _ in range(3)] == [first] * 3
    assert (
        results({"items": items[:1], "evaluators": body["evaluators"]}, embedder=hashing)["results"]
        == first["results"][:1]
    )


# The lane and the combinator that these rest on ----------------------------------------------------------------------


async def taken_at_last(lane: Lane, work: Callable[[], Any]) -> Any:
    """The result of work that is offered until the lane has room."""
    while True:
        await asyncio.sleep(0)
        with suppress(Overloaded):
            return await lane.run(work(), never)


async def test_work_that_waits_is_put_aside() -> None:
    lane = Lane(capacity=1)
    promise: Future[str] = Future()

    def waits() -> Any:
        return (yield promise) or promise.result()

    def quick() -> Any:
        yield None
        return "quick"

    try:
        waiting = asyncio.ensure_future(lane.run(waits(), never))
        assert await asyncio.wait_for(taken_at_last(lane, quick), 30) == "quick"
        promise.set_result("told")
        assert await waiting == "told"
    finally:
        lane.stop()


async def test_work_that_waits_is_dropped_when_its_caller_leaves() -> None:
    lane = Lane(capacity=2)
    promise: Future[str] = Future()
    loop = asyncio.get_running_loop()
    began, closed, left = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def waits() -> Any:
        loop.call_soon_threadsafe(began.set)
        try:
            yield promise
        finally:
            promise.cancel()
            loop.call_soon_threadsafe(closed.set)

    try:
        task = asyncio.ensure_future(lane.run(waits(), left.wait))
        await began.wait()
        left.set()
        with pytest.raises(Abandoned):
            await task
        await asyncio.wait_for(closed.wait(), 10)
        assert promise.cancelled()
    finally:
        lane.stop()


def test_judgements_side_by_side_ask_together() -> None:
    def judging(name: str, steps: int) -> Any:
        heard = []
        for step in range(steps):
            told = yield Need(vectors=(f"{name}{step}", "shared"), counts=(name,))
            heard.append(told.model)
        return name, heard

    both = together([judging("a", 2), judging("b", 0), judging("c", 1)])
    first = next(both)
    assert (first.vectors, first.counts) == (("a0", "shared", "c0"), ("a", "c"))
    second = both.send(Told(model="one"))
    assert (second.vectors, second.counts) == (("a1", "shared"), ("a",))
    with pytest.raises(StopIteration) as end:
        both.send(Told(model="two"))
    assert end.value.value == [("a", ["one", "two"]), ("b", []), ("c", ["one"])]
