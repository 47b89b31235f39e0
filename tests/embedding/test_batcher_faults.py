"""Faults stay with their texts, callers go and deadlines pass; nobody waits for ever and no worker dies."""

import gc
import math
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from threading import Event
from threading import enumerate as threads_alive
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from service.core.errors import Late, ModelUnavailable, ServiceError
from service.core.ports import Embedded, Matrix
from service.embedding import batcher as module
from service.embedding.encoder import Prepared
from tests.embedding.recording import PLUG, WAIT, Recorder, batching, busy, past, soon, want, words


class Panic(BaseException):
    """As a native library raises it."""


def only(faults: dict[int, ServiceError]) -> tuple[int, str]:
    ((place, fault),) = faults.items()
    assert isinstance(fault, ModelUnavailable)
    return place, fault.detail


# Faults --------------------------------------------------------------------------------------------------------------

FAULTS = {
    "of the model": (ModelUnavailable("It is down", {"Retry-After": "7"}), "It is down", False),
    "unforeseen": (RuntimeError("secret"), "The model failed; this is a fault of the service", True),
    "of memory": (MemoryError(), "The model failed; this is a fault of the service", True),
    "no Exception": (Panic("secret"), "The model failed; this is a fault of the service", True),
}


@pytest.mark.parametrize(("fault", "told", "logged"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_that_of_its_run(
    fault: BaseException, told: str, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = Recorder()
    encoder.faults["bad"] = fault
    texts = [words(60), "bad", words(30)]
    with batching(encoder) as batcher:
        made = batcher.embed(texts, soon()).result(WAIT)
        again = batcher.embed(["good", texts[0]], soon()).result(WAIT)
        assert batcher.figures.waiting == 0
        assert batcher.figures.runs == 3
    assert only(made.faults) == (1, told)
    assert made.late == frozenset()
    np.testing.assert_array_equal(made.vectors[[0, 2]], want([texts[0], texts[2]]))
    assert not made.vectors[1].any()
    assert made.readings[1].tokens == 0
    np.testing.assert_array_equal(again.vectors, want(["good", texts[0]]))
    assert ("the model failed" in caplog.text) == logged


def test_a_fault_is_not_kept() -> None:
    encoder = Recorder()
    encoder.faults["bad"] = ModelUnavailable("It is down")
    with batching(encoder) as batcher:
        assert batcher.embed(["bad"], soon()).result(WAIT).faults
        encoder.faults.clear()
        assert not batcher.embed(["bad"], soon()).result(WAIT).faults


class Unreliable(Recorder):
    """Gives too few of what it is asked for."""

    def prepare(self, texts: Any) -> list[Prepared]:
        return super().prepare(texts)[: 0 if "unready" in texts else None]

    def run(self, prepared: Any) -> Matrix:
        return super().run(prepared)[: 0 if prepared[0].text == "short" else None]


@pytest.mark.parametrize("text", ["unready", "short"])
def test_an_encoder_that_breaks_its_promise(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with batching(Unreliable()) as batcher:
        made = batcher.embed([text], soon()).result(WAIT)
        assert "fault of the service" in only(made.faults)[1]
        np.testing.assert_array_equal(batcher.embed(["b"], soon()).result(WAIT).vectors, want(["b"]))
        assert batcher.figures.waiting == 0
    assert "the model failed" in caplog.text


@pytest.mark.parametrize("refused", [{0}, {39}, {3, 4, 20}, set(range(39))], ids=len)
def test_a_refused_text_is_found(refused: set[int]) -> None:
    encoder = Recorder()
    texts = [f"t{n}" for n in range(40)]
    encoder.refused = {texts[n] for n in refused}
    with batching(encoder, run_tokens=120) as batcher:
        made = batcher.embed(texts, soon()).result(WAIT)
        figures = batcher.figures
    assert made.faults.keys() == refused
    assert not made.late
    np.testing.assert_array_equal(made.vectors, want(texts) * [[n not in refused] for n in range(40)])
    assert len(encoder.runs) <= 1 + min(2 * len(refused) * math.ceil(math.log2(40)), 2 * 39)
    assert (figures.texts, figures.waiting) == (40 - len(refused), 0)


def test_a_search_for_the_refused_text_ends_with_its_callers() -> None:
    encoder = Recorder()
    encoder.refused = {"b"}
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            order = batcher.embed(["a", "b", "c", "d"], soon())
            encoder.during = lambda texts: "b" in texts and order.cancel()
        batcher.embed(["the last"], soon()).result(WAIT)
    assert [sorted(run) for run in encoder.runs] == [[PLUG], ["a", "b", "c", "d"], ["the last"]]


# Callers that go, and deadlines --------------------------------------------------------------------------------------


def test_a_deadline_passes_while_the_model_is_busy() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        batcher.embed(["known"], soon()).result(WAIT)
        with busy(batcher, encoder):
            patient = batcher.embed(["b"], soon())
            hurried = batcher.embed(["a", "known", "b", "a"], perf_counter() + 0.05).result(WAIT)
        assert patient.result(WAIT).late == frozenset()
        assert batcher.figures.waiting == 0
    assert hurried.late == {0, 2, 3}
    assert not hurried.faults
    np.testing.assert_array_equal(hurried.vectors, want(["", "known", "", ""]) * [[0], [1], [0], [0]])
    assert encoder.texts == ["known", "b"]


def test_a_text_in_a_run_at_the_deadline_is_kept() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            assert batcher.embed([PLUG], perf_counter() + 0.01).result(WAIT).late == {0}
        assert batcher.embed([PLUG], soon()).result(WAIT).late == frozenset()
    assert encoder.runs == [[PLUG]]


def test_a_deadline_that_never_comes() -> None:
    with batching(Recorder()) as batcher:
        assert not batcher.embed(["a"], math.inf).result(WAIT).late
        assert batcher.embed(["b"], past()).result(WAIT).late == {0}


def test_a_text_outlives_the_caller_who_asked_first() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            first = batcher.embed(["a", "b", "c"], soon())
            others = [batcher.embed(["b"], soon()) for _ in range(100)]
            assert first.cancel()
            assert all(other.cancel() for other in others[::2])
        for other in others[1::2]:
            np.testing.assert_array_equal(other.result(WAIT).vectors, want(["b"]))
        batcher.embed(["the last"], soon()).result(WAIT)
        assert batcher.figures.waiting == 0
    assert encoder.texts == ["b", "the last"]


def test_a_dropped_text_may_be_asked_for_again() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            assert batcher.embed(["a", "b"], soon()).cancel()
            again = batcher.embed(["a"], soon())
        assert not again.result(WAIT).late
    assert encoder.texts == ["a"]


def test_a_caller_goes_during_the_run() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            orders = [batcher.embed([PLUG], soon()) for _ in range(3)]
            assert orders[1].cancel()
        assert [order.cancelled() or len(order.result(WAIT).vectors) for order in orders] == [1, True, 1]
        with pytest.raises(CancelledError):
            orders[1].result(WAIT)


def test_a_text_of_the_run_under_way_is_joined() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        joined: list[Future[Embedded]] = []
        encoder.during = lambda texts: joined.append(batcher.embed(texts, soon()))
        batcher.embed(["a"], soon()).result(WAIT)
        np.testing.assert_array_equal(joined[0].result(WAIT).vectors, want(["a"]))
    assert encoder.runs == [["a"]]


def test_whoever_is_answered_may_ask_again() -> None:
    with batching(Recorder(), queue_texts=2) as batcher:
        chain: list[Future[Embedded]] = []
        done = Event()

        def ask(before: Future[Embedded]) -> None:
            deadline = past() if len(chain) % 2 else soon()
            chain.append(batcher.embed([f"t{len(chain)}"], deadline))
            batcher.count(["a"], soon()).cancel()
            if len(chain) < 60:
                chain[-1].add_done_callback(ask)
            else:
                done.set()

        batcher.embed(["a"], soon()).add_done_callback(ask)
        assert done.wait(WAIT)
        assert [len(order.result(WAIT).late) for order in chain] == [0, 1] * 30


def test_what_was_answered_is_not_kept() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            asked: list[Future[Any]] = [batcher.embed([words(n, k) for n in range(2, 60)], soon()) for k in range(4)]
            asked += [batcher.count(["a"], soon()) for _ in range(4)]
            # the clock has looked at all of them and finds no cause to look again
            asked += [batcher.embed(["late"], past())]
            assert asked[-1].result(WAIT).late
        for future in asked:
            assert future.exception(WAIT) is None
        alive = [weakref.ref(future) for future in asked]
        asked.clear()
        del future
        # an answer is there before the thread that gave it has let go
        for _ in range(100):
            gc.collect()
            if not any(ref() for ref in alive):
                break
        assert [ref() for ref in alive] == [None] * len(alive)


# Counting ------------------------------------------------------------------------------------------------------------


def test_counts() -> None:
    encoder = Recorder()
    encoder.faults |= {"bad": ModelUnavailable("It is down"), "worse": RuntimeError("secret"), "worst": Panic()}
    with batching(encoder) as batcher:
        assert batcher.count(["a b", "", words(400)], soon()).result(WAIT) == [2, 0, 398]
        assert batcher.count([], soon()).result(WAIT) == []
        for text, told in {"bad": "down", "worse": "fault of the service", "worst": "fault of the service"}.items():
            with pytest.raises(ModelUnavailable, match=told):
                batcher.count([text], soon()).result(WAIT)
        with pytest.raises(Late):
            batcher.count(["late"], past()).result(WAIT)
        assert batcher.count(["a"], soon()).result(WAIT) == [1]
    assert ["late"] not in encoder.counted


def test_nobody_counts_for_those_who_went() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            assert batcher.count(["gone"], soon()).cancel()
            with pytest.raises(Late):
                batcher.count(["late"], perf_counter() + 0.05).result(WAIT)
            counts = batcher.count(["a"], soon())
        assert counts.result(WAIT) == [1]
    assert encoder.counted == [["a"]]


# Closing -------------------------------------------------------------------------------------------------------------


def told_of_closing(orders: list[Future[Embedded]], counts: Future[list[int]]) -> None:
    for order in orders:
        assert "closed" in only(order.result(WAIT).faults)[1]
    with pytest.raises(ModelUnavailable, match="closed"):
        counts.result(WAIT)


def test_whoever_waits_is_told_of_closing() -> None:
    encoder, threads = Recorder(), set(threads_alive())
    with batching(encoder, workers=1) as batcher:
        batcher.embed(["known"], soon()).result(WAIT)
        plug = batcher.embed([PLUG], soon())
        assert encoder.held.wait(WAIT)
        orders = [batcher.embed(["a", "known"], soon()), batcher.embed(["a"], soon())]
        counts = batcher.count(["a"], soon())
    assert set(threads_alive()) == threads
    np.testing.assert_array_equal(plug.result(WAIT).vectors, want([PLUG]))
    told_of_closing(orders, counts)
    np.testing.assert_array_equal(orders[0].result().vectors[1:], want(["known"]))
    assert batcher.figures.waiting == 0
    calls: list[Callable[[], object]] = [
        lambda: batcher.embed(["known"], soon()),
        lambda: batcher.embed([], soon()),
        lambda: batcher.count(["a"], soon()),
    ]
    for call in calls:
        with pytest.raises(ModelUnavailable, match="closed"):
            call()
    batcher.close()


def test_a_run_that_does_not_end_holds_up_nobody_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSING_SECONDS", 0.05)
    encoder, threads = Recorder(), set(threads_alive())
    encoder.opens_on_close = False
    with batching(encoder) as batcher:
        orders = [batcher.embed([PLUG], soon())]
        assert encoder.held.wait(WAIT)
        orders.append(batcher.embed(["a"], soon()))
        counts = batcher.count(["a"], soon())
    told_of_closing(orders, counts)
    encoder.go.set()
    for thread in set(threads_alive()) - threads:
        thread.join(WAIT)
        assert not thread.is_alive()
    assert (batcher.figures.waiting, encoder.texts) == (0, [])


def test_a_fault_is_told_until_the_model_answers_again() -> None:
    with batching(encoder := Recorder()) as batcher:
        assert batcher.embed(["a"], soon()).result(WAIT).faults == {}
        assert batcher.fault is None
        encoder.faults["bad"] = ModelUnavailable("It is down")
        batcher.embed(["bad"], soon()).result(WAIT)
        fault = batcher.fault  # looking makes a worker try again, and it finds the model well
        assert fault is not None
        assert fault.detail == "It is down"
        batcher.count(["the errand after it"], soon()).result(WAIT)
        assert batcher.fault is None
