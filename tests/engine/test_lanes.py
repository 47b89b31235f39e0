"""The scoring thread."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Event

import pytest

from service.core.errors import Overloaded
from service.engine.lanes import LARGE_BYTES, SMALL_BYTES, Abandoned, Lane, Steps, all_awaited, drain


@pytest.fixture
def lane() -> Iterator[Lane]:
    lane = Lane(capacity=3)
    yield lane
    lane.stop()


async def never() -> None:
    await asyncio.Event().wait()


def counting(order: list[str], name: str, steps: int) -> Steps[str]:
    for _ in range(steps):
        order.append(name)
        yield
    return name


async def test_every_request_has_its_turn(lane: Lane) -> None:
    order: list[str] = []
    answers = await asyncio.gather(*(lane.run(counting(order, name, 50), never) for name in "ab"))
    assert answers == ["a", "b"]
    assert order.index("b") < 50, "b waited for the whole of a"


async def test_a_failure_reaches_its_caller_and_nobody_else(lane: Lane) -> None:
    def failing() -> Steps[str]:
        yield
        raise ZeroDivisionError

    failed, fine = await asyncio.gather(
        lane.run(failing(), never), lane.run(counting([], "fine", 5), never), return_exceptions=True
    )
    assert isinstance(failed, ZeroDivisionError)
    assert fine == "fine"


async def test_work_whose_caller_has_left_is_dropped(lane: Lane) -> None:
    left = asyncio.Event()
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless() -> Steps[str]:
        try:
            while True:
                loop.call_soon_threadsafe(left.set)
                yield
        finally:
            loop.call_soon_threadsafe(closed.set)

    with pytest.raises(Abandoned):
        await lane.run(endless(), left.wait)
    await asyncio.wait_for(closed.wait(), 10)


async def test_past_its_capacity_it_refuses(lane: Lane) -> None:
    gate = asyncio.Event()

    def waiting() -> Steps[str]:
        while not gate.is_set():
            yield
        return "done"

    held = [asyncio.ensure_future(lane.run(waiting(), never)) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded) as caught:
        await lane.run(waiting(), never)
    assert caught.value.headers == {"Retry-After": "1"}
    gate.set()
    assert await asyncio.gather(*held) == ["done"] * 3
    assert await lane.run(counting([], "again", 1), never) == "again"


class Held:
    """Work that keeps the thread waiting until `gate` is open, and is then busy until it is `done`."""

    def __init__(self) -> None:
        self.begun = self.turns = 0
        self.gate = Event()
        self.done = False

    def work(self) -> Steps[str]:
        self.begun += 1
        self.gate.wait()
        while not self.done:
            self.turns += 1
            yield
        return "done"

    def let_go(self) -> None:
        self.done = True
        self.gate.set()


@pytest.fixture
def held(lane: Lane) -> Iterator[Held]:
    held = Held()
    yield held
    held.let_go()


async def reaches(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("bodies", "load"),
    [
        ([LARGE_BYTES] * 3, 3),
        ([100 * LARGE_BYTES] * 3, 3),
        ([LARGE_BYTES // 2] * 6, 3),
        ([SMALL_BYTES] * 48, 3),
        ([1] * 48, 3),
        ([LARGE_BYTES, LARGE_BYTES, LARGE_BYTES // 2, *[1] * 8], 3),
        ([LARGE_BYTES, LARGE_BYTES // 4], 1.25),
        ([LARGE_BYTES, LARGE_BYTES, 1], 2.0625),
    ],
)
async def test_requests_count_by_their_bodies(lane: Lane, held: Held, bodies: list[int], load: float) -> None:
    running = [asyncio.ensure_future(lane.run(held.work(), never, size)) for size in bodies]
    await asyncio.sleep(0)
    assert lane.waiting == load
    if load > 2:
        with pytest.raises(Overloaded):
            await lane.run(held.work(), never, LARGE_BYTES if load < 3 else 1)
    held.let_go()
    assert set(await asyncio.gather(*running)) == {"done"}
    await reaches(lambda: lane.waiting == 0)


async def test_no_more_have_begun_than_may_be_large(lane: Lane, held: Held) -> None:
    running = [asyncio.ensure_future(lane.run(held.work(), never, 1)) for _ in range(40)]
    await asyncio.sleep(0)
    held.gate.set()
    await reaches(lambda: held.turns > 1000)
    assert held.begun == 3
    held.let_go()
    assert await asyncio.gather(*running) == ["done"] * 40


async def test_a_small_body_that_is_much_work_comes_to_count_as_large(lane: Lane, held: Held) -> None:
    running = [asyncio.ensure_future(lane.run(held.work(), never, 1)) for _ in range(3)]
    held.gate.set()
    await reaches(lambda: lane.waiting == 3)
    with pytest.raises(Overloaded):
        await lane.run(held.work(), never, 1)
    held.let_go()
    assert await asyncio.gather(*running) == ["done"] * 3
    await reaches(lambda: lane.waiting == 0)


async def test_who_leaves_in_line_never_begins_and_is_no_load(lane: Lane, held: Held) -> None:
    held.gate.set()
    running = [asyncio.ensure_future(lane.run(held.work(), never, 1)) for _ in range(3)]
    await reaches(lambda: held.begun == 3)
    load = lane.waiting
    order: list[str] = []
    left = asyncio.Event()
    left.set()
    for _ in range(30):
        with pytest.raises(Abandoned):
            await lane.run(counting(order, "left", 1), left.wait, 1)
        assert lane.waiting == load
    held.let_go()
    assert await asyncio.gather(*running) == ["done"] * 3
    await reaches(lambda: lane.waiting == 0)
    assert order == []


async def test_work_that_cannot_be_closed_takes_nobody_down(lane: Lane) -> None:
    begun, left = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def clinging() -> Steps[str]:
        try:
            while True:
                loop.call_soon_threadsafe(begun.set)
                yield
        finally:
            raise ZeroDivisionError

    dropped = asyncio.ensure_future(lane.run(clinging(), left.wait))
    await begun.wait()
    left.set()
    with pytest.raises(Abandoned):
        await dropped
    assert await lane.run(counting([], "fine", 5), never) == "fine"


def test_futures_are_cancelled_where_what_is_done_meanwhile_fails() -> None:
    def failing() -> Steps[None]:
        yield
        raise ZeroDivisionError

    future: Future[None] = Future()
    with pytest.raises(ZeroDivisionError):
        drain(all_awaited([future], failing()))
    assert future.cancelled()
