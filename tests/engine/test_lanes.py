"""The scoring thread."""

import asyncio
from collections.abc import Iterator

import pytest

from service.core.errors import Overloaded
from service.engine.lanes import Abandoned, Lane, Steps


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
