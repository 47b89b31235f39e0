"""Each text once, in runs of like length, callers in turns; the same vectors however they were made."""

import random
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import Overloaded
from service.core.ports import Embedded, Reading
from service.embedding.pool import SLACK
from service.embedding.portions import AT_ONCE, CHARS_AT_ONCE, portions
from tests.embedding.recording import OPTIONS, PLUG, WAIT, Recorder, batching, busy, past, soon, want, words

RUN_TOKENS = OPTIONS["run_tokens"]


def test_texts_in_their_order() -> None:
    texts = ["a b", "", "c", "a b", "\ud800", "\udc00", "\0", words(400)]
    with batching(Recorder()) as batcher:
        made = batcher.embed(texts, soon()).result(WAIT)
    np.testing.assert_array_equal(made.vectors, want(texts))
    assert (made.late, made.faults) == (frozenset(), {})
    assert made.readings[:3] == [Reading(4, 4), Reading(2, 2), Reading(3, 3)]
    assert [reading.is_truncated for reading in made.readings] == [False] * 7 + [True]


def test_no_texts() -> None:
    with batching(Recorder()) as batcher, batching(Recorder(), queue_texts=0) as small:
        for made in (batcher.embed([], soon()), batcher.embed([], past()), small.embed([], soon())):
            assert len(made.result(WAIT).vectors) == 0
            assert made.result().readings == []


def test_one_text_10_000_times_is_run_once() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        made = batcher.embed(["again"] * 10_000, soon()).result(WAIT)
    assert encoder.runs == [["again"]]
    np.testing.assert_array_equal(made.vectors, np.repeat(want(["again"]), 10_000, axis=0))


def test_texts_of_several_orders_are_run_once() -> None:
    encoder = Recorder()
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            orders = [batcher.embed(texts, soon()) for texts in (["a", "b"], ["b", "c", "b"], [PLUG, "a"])]
        for order, texts in zip(orders, (["a", "b"], ["b", "c", "b"], [PLUG, "a"]), strict=True):
            np.testing.assert_array_equal(order.result(WAIT).vectors, want(texts))
        batcher.embed(["c", "a"], soon()).result(WAIT)
        figures = batcher.figures
    assert sorted(encoder.texts) == ["a", "b", "c"]
    assert (figures.texts, figures.cache_misses, figures.cache_hits) == (4, 7, 2)


def test_what_is_kept_is_nobody_elses() -> None:
    with batching(Recorder()) as batcher:
        for _ in range(3):
            made = batcher.embed(["a", "b"], soon()).result(WAIT)
            np.testing.assert_array_equal(made.vectors, want(["a", "b"]))
            made.vectors[:] = np.nan


def test_nothing_is_kept_where_there_is_no_room() -> None:
    encoder = Recorder()
    with batching(encoder, cache_texts=0) as batcher:
        for _ in range(2):
            batcher.embed(["a"], soon()).result(WAIT)
        assert batcher.figures.cached == 0
    assert encoder.texts == ["a", "a"]


# Runs ----------------------------------------------------------------------------------------------------------------


def test_a_small_order_waits_for_few_runs() -> None:
    encoder = Recorder()
    large, small = [words(16, n) for n in range(400)], [words(12, "small"), words(3, "small")]
    ready_at_run: list[int] = []
    encoder.during = lambda texts: ready_at_run.append(len(encoder.made_ready))
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            orders = [batcher.embed(large, soon()), batcher.embed(small, soon())]
        for order in orders:
            order.result(WAIT)
    assert len(encoder.runs) > 100
    assert set(small) <= {text for run in encoder.runs[:6] for text in run}
    assert encoder.made_ready.index(small) <= 2
    assert ready_at_run[1] <= 2
    assert sorted(text for texts in encoder.made_ready for text in texts) == sorted([PLUG, *large, *small])


def test_a_small_order_of_anothers_last_text_waits_for_few_runs() -> None:
    encoder = Recorder()
    large = [words(16, n) for n in range(400)] + ["short"]
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            orders = [batcher.embed(large, soon()), batcher.embed(["short"], soon())]
        for order in orders:
            order.result(WAIT)
    assert "short" in {text for run in encoder.runs[:4] for text in run}
    assert sorted(text for texts in encoder.made_ready for text in texts) == sorted([PLUG, *large])


LONG = words(20_000)


def test_a_small_order_waits_for_few_of_many_long_texts() -> None:
    """They are made ready by parts."""
    encoder = Recorder()
    before: list[int] = []
    encoder.during = lambda texts: before.append(len(encoder.made_ready)) if "small" in texts else None
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            large = batcher.embed([f"{number} {LONG}" for number in range(60)], soon())
            small = batcher.embed(["small"], soon())
        large.result(WAIT)
        small.result(WAIT)
    assert sum(map(len, encoder.made_ready)) == 62
    assert before[0] < 10


def test_tokens_are_counted_by_parts_between_what_others_want() -> None:
    encoder = Recorder()
    texts = [f"{number} {LONG}" for number in range(60)]
    before: list[int] = []
    encoder.during = lambda texts: before.append(len(encoder.counted)) if "small" in texts else None
    with batching(encoder) as batcher:
        with busy(batcher, encoder):
            counts = batcher.count(texts, soon())
            small = batcher.embed(["small"], soon())
        small.result(WAIT)
        assert counts.result(WAIT) == [19_999] * 60
    assert [text for part in encoder.counted for text in part] == texts
    assert before[0] < 10


@given(st.lists(st.sampled_from([0, 1, 100, 150_000, 200_000, 300_000])))
def test_parts_cover_all_texts_in_order(lengths: list[int]) -> None:
    texts = ["x" * length for length in lengths * 3]
    parts = list(portions(texts))
    assert [text for part in parts for text in part] == texts
    assert all(len(part) == 1 or sum(map(len, part)) <= CHARS_AT_ONCE for part in parts if part)
    assert max(map(len, parts)) <= AT_ONCE


@pytest.mark.parametrize(("orders", "share"), [(1, 0.06), (24, 0.10)])
def test_padding_of_mixed_lengths(orders: int, share: float) -> None:
    encoder, rng = Recorder(), random.Random(1)
    texts = [words(int(5 * 50 ** rng.random()), n) for n in range(240)]
    with batching(encoder, run_tokens=512) as batcher:
        with busy(batcher, encoder):
            asked = [batcher.embed(texts[n::orders], soon()) for n in range(orders)]
        for order in asked:
            order.result(WAIT)
        figures = batcher.figures
    assert figures.padding <= share * figures.tokens


def test_all_workers_run() -> None:
    encoder, meeting = Recorder(), Barrier(4)
    encoder.during = lambda texts: meeting.wait(WAIT)
    with batching(encoder, workers=4) as batcher:
        batcher.embed([words(RUN_TOKENS, n) for n in range(8)], soon()).result(WAIT)
    assert len(encoder.runs) == 8


ORDERS = st.lists(
    st.tuples(
        st.lists(st.builds(words, st.integers(2, 90), st.integers(0, 3)), max_size=12),
        st.sampled_from(["stays", "stays", "goes", "is late"]),
    ),
    max_size=8,
)


@given(ORDERS, st.integers(0, 100))
def test_whatever_callers_do(orders: list[tuple[list[str], str]], room: int) -> None:
    """Texts of whoever stays are run once each, the others' never; everybody is answered; the figures add up."""
    encoder = Recorder()
    with batching(encoder, cache_texts=room) as batcher:
        with busy(batcher, encoder):
            asked = [batcher.embed(texts, past() if fate == "is late" else soon()) for texts, fate in orders]
            fates = list(zip(asked, orders, strict=True))
            gone = [future.cancel() for future, (_, fate) in fates if fate == "goes"]
            for future, (texts, fate) in fates:
                if fate == "is late":
                    check(future, texts, late=True)
        for future, (texts, fate) in fates:
            if fate == "stays":
                check(future, texts, late=False)
        assert batcher.embed(["the last"], soon()).result(WAIT)
        figures = batcher.figures
    assert all(gone) or [] in [texts for texts, _ in orders]
    wanted = {text for texts, fate in orders if fate == "stays" for text in texts} | {"the last"}
    assert sorted(encoder.texts) == sorted(wanted)
    for lengths in encoder.lengths:
        assert len(lengths) == 1 or max(lengths) * len(lengths) <= RUN_TOKENS
        assert max(lengths) - min(lengths) <= RUN_TOKENS // SLACK
    padding = sum(max(lengths) * len(lengths) - sum(lengths) for lengths in encoder.lengths)
    tokens = sum(map(sum, encoder.lengths))
    assert (figures.texts, figures.runs) == (len(wanted) + 1, len(encoder.runs))
    assert (figures.tokens, figures.padding, figures.truncated) == (tokens, padding, 0)
    assert (figures.waiting, figures.cached) == (0, min(room, len(wanted) + 1))
    assert min(figures.run_seconds, figures.queue_seconds) >= 0


def check(future: Future[Embedded], texts: list[str], *, late: bool) -> None:
    made = future.result(WAIT)
    assert (made.late, made.faults) == (frozenset(range(len(texts)) if late else ()), {})
    assert len(made.vectors) == len(made.readings) == len(texts)
    if texts and not late:
        np.testing.assert_array_equal(made.vectors, want(texts))


# The queue -----------------------------------------------------------------------------------------------------------


def test_past_the_queue_texts_are_refused() -> None:
    encoder = Recorder()
    with batching(encoder, queue_texts=4) as batcher:
        batcher.embed(["known"], soon()).result(WAIT)
        with busy(batcher, encoder):
            taken = [batcher.embed(["a", "b", "a"], soon()), batcher.embed(["c", "b"], soon())]
            with pytest.raises(Overloaded, match="4 texts wait") as refused:
                batcher.embed(["d"], soon())
            taken += [batcher.embed([], soon()), batcher.embed(["known", "a", "c"], soon())]
            assert batcher.figures.waiting == 4
        assert [len(order.result(WAIT).vectors) for order in taken] == [3, 2, 0, 3]
        assert batcher.figures.waiting == 0
    assert int(refused.value.headers["Retry-After"]) >= 1
    assert "d" not in encoder.texts


def test_a_large_order_is_taken_when_nothing_waits() -> None:
    encoder = Recorder()
    texts = [PLUG, *map(str, range(500))]
    with batching(encoder, queue_texts=4) as batcher:
        order = batcher.embed(texts, soon())
        assert encoder.held.wait(WAIT)
        joining = batcher.embed(["3", "4"], soon())
        with pytest.raises(Overloaded):
            batcher.embed(["3", "new"], soon())
        encoder.go.set()
        np.testing.assert_array_equal(order.result(WAIT).vectors, want(texts))
        np.testing.assert_array_equal(joining.result(WAIT).vectors, want(["3", "4"]))


# Threads -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 20, 1_000])
def test_the_same_vectors_from_many_threads(room: int) -> None:
    known = {text: row for text in (words(n, n % 7) for n in range(2, 90)) for row in want([text])}

    def ask(seed: int) -> None:
        texts = random.Random(seed).choices(list(known), k=20)
        made = batcher.embed(texts, soon()).result(WAIT)
        np.testing.assert_array_equal(made.vectors, [known[text] for text in texts])

    with batching(Recorder(), workers=3, cache_texts=room) as batcher, ThreadPoolExecutor(16) as threads:
        list(threads.map(ask, range(160)))
        assert batcher.figures.waiting == 0
        assert batcher.figures.cached <= room


def test_memory_is_given_back_when_there_is_nothing_to_do() -> None:
    with batching(encoder := Recorder(), workers=2) as batcher:
        batcher.embed(["a"], soon()).result(WAIT)
        assert encoder.rested.wait(WAIT)
        encoder.rested.clear()
        batcher.embed(["b"], soon()).result(WAIT)
        assert encoder.rested.wait(WAIT)
