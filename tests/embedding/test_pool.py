"""Runs of like length, and turns."""

import gc
import weakref

from hypothesis import given
from hypothesis import strategies as st

from service.embedding.encoder import Prepared
from service.embedding.orders import Order
from service.embedding.pool import SLACK, Entry, Pool
from tests.embedding.recording import soon

RUN_TOKENS = 128


def order() -> Order:
    return Order([], soon())


def entry(length: int, *orders: Order) -> Entry:
    one = Entry(str(length), orders[0])
    one.orders += orders[1:]
    return one


def add(pool: Pool, one: Entry) -> None:
    pool.add(one, Prepared(one.text, (), int(one.text), int(one.text), int(one.text)))


def lengths(entries: list[Entry]) -> list[int]:
    return [one.key[0] for one in entries]


LENGTHS = st.lists(st.integers(1, 200), min_size=1, max_size=30)


@given(st.lists(LENGTHS, min_size=1, max_size=6), st.data())
def test_runs_and_turns(callers: list[list[int]], data: st.DataObject) -> None:
    """Everything runs once, within bounds; who waits has a turn, the longest first, after at most one of each other."""
    pool = Pool(RUN_TOKENS)
    orders = [order() for _ in callers]
    waiting = [entry(length, owner) for owner, wanted in zip(orders, callers, strict=True) for length in wanted]
    for one in data.draw(st.permutations(waiting)):
        add(pool, one)
    for one in data.draw(st.lists(st.sampled_from(waiting), max_size=5)):
        pool.join(one, data.draw(st.sampled_from(orders)))
    passed = dict.fromkeys(orders, 0)
    left = list(waiting)
    while len(pool):
        longest = {owner: max((one.key[0] for one in left if owner in one.orders), default=0) for owner in orders}
        run = pool.take()
        assert run
        assert len(run) == 1 or max(lengths(run)) * len(run) <= RUN_TOKENS
        assert max(lengths(run)) - min(lengths(run)) <= RUN_TOKENS // SLACK
        assert max(lengths(run)) in longest.values()
        left = [one for one in left if one not in run]
        served = {owner for one in run for owner in one.orders}
        for owner in orders:
            has_more = any(owner in one.orders for one in left)
            passed[owner] = passed[owner] + 1 if has_more and owner not in served else 0
            assert passed[owner] < len(orders)
        assert len(pool) == len(left)
    assert not left


def test_neighbours_fill_a_run() -> None:
    """Those of equal length first, then the next shorter ones until there are enough for a run of its own."""
    pool, mine, others = Pool(RUN_TOKENS), order(), order()
    add(pool, entry(16, mine))
    for length in (2, 9, 10, 12, 13, 14, 15, 16, 16, 40):
        add(pool, entry(length, others))
    assert [lengths(pool.take()) for _ in range(6)] == [[16, 16, 16], [40], [14, 15], [12, 13], [9, 10], [2]]
    assert not len(pool)


def test_what_has_run_is_forgotten() -> None:
    pool, mine, others = Pool(RUN_TOKENS), order(), order()
    for _ in range(8):
        add(pool, entry(16, mine))
        add(pool, entry(16, others))
    while len(pool):
        pool.take()
    alive = [weakref.ref(mine), weakref.ref(others)]
    del mine, others
    gc.collect()
    assert [ref() for ref in alive] == [None, None]


def test_a_running_text_may_be_joined() -> None:
    pool, mine, other = Pool(RUN_TOKENS), order(), order()
    one = entry(16, mine)
    add(pool, one)
    assert pool.take() == [one]
    pool.join(one, other)
    assert one.orders == [mine, other]
    assert not len(pool)
    add(pool, entry(8, other))
    assert lengths(pool.take()) == [8]
