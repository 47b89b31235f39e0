import asyncio

import pytest

from service.judge.breaker import FAILURES, PATIENCE, PAUSE, SPAN, Breaker
from service.judge.faults import Down, JudgeFault, LeftAlone, Passing, Refused, Throttled


class Watch:
    """A breaker, and the clock by which it goes."""

    def __init__(self) -> None:
        self.now = 100.0
        self.breaker = Breaker("default", lambda: self.now)
        self.calls = 0

    async def call(self, fault: JudgeFault | None = None, until: asyncio.Event | None = None) -> None:
        async with self.breaker.watching():
            self.calls += 1
            if until is not None:
                await until.wait()
            if fault is not None:
                raise fault

    async def hang(self, times: int, seconds: float) -> None:
        """Calls that are given up after so many seconds."""
        for _ in range(times):
            call = asyncio.create_task(self.call(until=asyncio.Event()))
            await asyncio.sleep(0)
            self.now += seconds
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    async def fail(self, times: int, over: float, fault: JudgeFault | None = None) -> None:
        for _ in range(times):
            with pytest.raises(JudgeFault):
                await self.call(fault or Passing("failed"))
            self.now += over / times

    async def opened(self) -> "Watch":
        await self.fail(FAILURES * 2, SPAN * 3)
        assert self.breaker.state == "open"
        return self


STAYS = {
    "too few": (FAILURES - 1, SPAN * 9, None),
    "too fast": (FAILURES * 9, SPAN / 2, None),
    "refusals of prompts": (FAILURES * 9, SPAN * 9, Refused("refused")),
    "too much to do": (FAILURES * 9, SPAN * 9, Throttled("is overloaded")),
}


@pytest.mark.parametrize(("times", "over", "fault"), STAYS.values(), ids=STAYS)
async def test_it_stays_closed(times: int, over: float, fault: JudgeFault | None) -> None:
    watch = Watch()
    await watch.fail(times, over, fault)
    assert watch.breaker.state == "closed"


async def test_an_answer_in_between_keeps_it_closed() -> None:
    watch = Watch()
    for _ in range(5):
        await watch.fail(FAILURES - 1, SPAN)
        await watch.call()
    assert watch.breaker.state == "closed"


@pytest.mark.parametrize("fault", [Passing("failed"), Down("knows no key")])
async def test_it_opens_and_nothing_is_called(fault: JudgeFault) -> None:
    watch = Watch()
    await watch.fail(FAILURES, SPAN * 2, fault)
    await watch.fail(1, 0, fault)
    assert watch.breaker.state == "open"
    calls = watch.calls
    with pytest.raises(LeftAlone, match="left alone"):
        await watch.call()
    assert watch.calls == calls


async def test_after_a_pause_one_tries_and_the_others_wait_for_it() -> None:
    watch = await Watch().opened()
    watch.now += PAUSE
    calls, over = watch.calls, asyncio.Event()
    tries = [asyncio.create_task(watch.call(until=over)) for _ in range(3)]
    await asyncio.sleep(0)
    assert (watch.breaker.state, watch.calls) == ("half_open", calls + 1)
    over.set()
    await asyncio.gather(*tries)
    assert (watch.breaker.state, watch.calls) == ("closed", calls + 3)


async def test_a_trial_that_fails_begins_another_pause() -> None:
    watch = await Watch().opened()
    watch.now += PAUSE
    over = asyncio.Event()
    tries = [asyncio.create_task(watch.call(Passing("failed"), over)) for _ in range(3)]
    await asyncio.sleep(0)
    over.set()
    ends = await asyncio.gather(*tries, return_exceptions=True)
    assert [type(end) for end in ends] == [Passing, LeftAlone, LeftAlone]
    assert watch.breaker.state == "open"


async def test_a_trial_that_is_given_up_leaves_the_next_to_try() -> None:
    watch = await Watch().opened()
    watch.now += PAUSE
    first = asyncio.create_task(watch.call(until=asyncio.Event()))
    await asyncio.sleep(0)
    second = asyncio.create_task(watch.call())
    first.cancel()
    await second
    assert watch.breaker.state == "closed"


async def test_calls_that_hang_until_they_are_given_up_are_failures() -> None:
    watch = Watch()
    await watch.hang(FAILURES, PATIENCE)
    assert watch.breaker.state == "open"
    with pytest.raises(LeftAlone, match="had not answered when it was given up"):
        await watch.call()


async def test_a_call_that_had_little_time_says_nothing() -> None:
    watch = Watch()
    await watch.hang(FAILURES * 9, PATIENCE / 2)
    assert watch.breaker.state == "closed"


async def test_a_trial_that_hangs_begins_another_pause() -> None:
    watch = await Watch().opened()
    watch.now += PAUSE
    await watch.hang(1, PATIENCE)
    assert watch.breaker.state == "open"
    with pytest.raises(LeftAlone):
        await watch.call()


async def test_patience_is_no_longer_than_a_call_may_last() -> None:
    watch = Watch()
    watch.breaker = Breaker("default", lambda: watch.now, patience=1.0)
    await watch.hang(FAILURES, 1.0)
    assert watch.breaker.state == "open"
