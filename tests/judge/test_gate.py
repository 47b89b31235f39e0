import asyncio
from collections.abc import Hashable

from service.judge.gate import Gate


class Visit:
    """A visitor who stays until told to go."""

    def __init__(self, gate: Gate, group: Hashable, inside: list[Hashable]) -> None:
        self._gate, self._group, self._inside = gate, group, inside
        self._over = asyncio.Event()
        self.task = asyncio.create_task(self._stay())

    async def _stay(self) -> None:
        async with self._gate.slot(self._group):
            self._inside.append(self._group)
            await self._over.wait()

    async def go(self) -> None:
        self._over.set()
        await self.task


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_groups_take_turns() -> None:
    gate, inside = Gate(lambda: 1), list[Hashable]()
    visits = [Visit(gate, group, inside) for group in "aaaabbc"]
    for visit in [visits[0], visits[1], visits[4], visits[6], visits[2], visits[5], visits[3]]:
        await settle()
        await visit.go()
    assert "".join(map(str, inside)) == "aabcaba"
    assert (gate.inside, gate.waiting) == (0, 0)


async def test_the_limit_of_the_moment_counts() -> None:
    limit = 1
    gate, inside = Gate(lambda: limit), list[Hashable]()
    visits = [Visit(gate, "a", inside) for _ in range(6)]
    await settle()
    assert (gate.inside, gate.waiting) == (1, 5)
    limit = 3
    await visits[0].go()
    await settle()
    assert (gate.inside, gate.waiting) == (3, 2)
    limit = 1
    for visit in visits[1:3]:
        await visit.go()
    await settle()
    assert (gate.inside, gate.waiting) == (1, 2)
    for visit in visits[3:]:
        await visit.go()
    assert gate.inside == 0


async def test_who_gives_up_while_waiting_takes_no_place() -> None:
    gate, inside = Gate(lambda: 1), list[Hashable]()
    first, second, third = (Visit(gate, group, inside) for group in "abc")
    await settle()
    second.task.cancel()
    await first.go()
    await third.go()
    assert inside == ["a", "c"]
    assert (gate.inside, gate.waiting) == (0, 0)


async def test_who_gives_up_as_the_turn_comes_hands_it_on() -> None:
    gate, inside = Gate(lambda: 1), list[Hashable]()
    async with gate.slot("a"):
        second, third = (Visit(gate, group, inside) for group in "bc")
        await settle()
    second.task.cancel()  # the place is its own by now, but it has not been told
    await third.go()
    assert inside == ["c"]
    assert (gate.inside, gate.waiting) == (0, 0)
