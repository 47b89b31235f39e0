"""Every judge of the settings, over HTTP."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from service.core.judging import CALLER, JudgeInfo, NoReply, Prompt, Reply
from service.core.ports import Account
from service.judge.budget import Request
from service.judge.figures import JudgeFigures
from service.judge.flight import Seat
from service.judge.loop import Loop
from service.judge.settings import JudgeSettings

KEYLESS = "has no key here: the environment variable {}, which its api_key_env names, is not set"
STOPPING = "is asked nothing more: the service is stopping"

log = logging.getLogger("scorewright.judge")

if TYPE_CHECKING:
    from service.judge.desk import Desk


class Proxy:
    """Implements `core.ports.Judges` for judges behind HTTP.

    What is asked on one account shares what a request may spend. Tokens stand in the reply to the prompt that was
    sent: a reply that is shared or was kept has none. ValueError where a judge is named `caller`, or its key or address
    cannot be used.
    """

    def __init__(
        self,
        settings: Mapping[str, JudgeSettings],
        environ: Mapping[str, str],
        clock: Callable[[], float] = perf_counter,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if CALLER in settings:
            raise ValueError(f"no judge can be named {CALLER!r}: it stands for replies that callers fetch themselves")
        self._clock = clock
        self._lock = Lock()
        self._keyless = {
            name: KEYLESS.format(one.api_key_env)
            for name, one in settings.items()
            if one.api_key_env and not one.key(environ)
        }
        self._desks = {name: _desk(name, one, one.key(environ), clock, sleep) for name, one in settings.items()}
        infos = {name: replace(one.info(name), fault=self._keyless.get(name)) for name, one in settings.items()}
        self._known = MappingProxyType(infos | {CALLER: JudgeInfo(name=CALLER, kind="caller", model=None)})
        self._loop = Loop("judges")
        for name, said in sorted(self._keyless.items()):
            log.warning("the judge %s %s", name, said)

    @property
    def known(self) -> Mapping[str, JudgeInfo]:
        """Every judge by its name, `caller` among them."""
        return self._known

    @property
    def figures(self) -> dict[str, JudgeFigures]:
        """What each judge has been asked so far."""
        return {name: desk.figures for name, desk in self._desks.items()}

    def ask(
        self,
        judge: str,
        prompts: Sequence[Prompt],
        deadline: float,
        trace: Mapping[str, str],
        account: Account | None = None,
    ) -> Future[list[Reply | NoReply]]:
        """What a judge answers, in the order of the prompts. KeyError for `caller` and names that are not known."""
        desk = self._desks[judge]
        if judge in self._keyless:
            with self._lock:  # its desk is used by no loop
                return _settled(desk.keyless(self._keyless[judge], len(prompts)))
        request = Request.of(deadline, trace, account or Account())
        asked = self._loop.submit(lambda: self._answers(desk, tuple(prompts), request))
        return asked or _settled([desk.unavailable(STOPPING)] * len(prompts))

    def close(self) -> None:
        """Stop; whoever waits is told so."""
        self._loop.close(self._end)

    async def _answers(self, desk: "Desk", prompts: Sequence[Prompt], request: Request) -> list[Reply | NoReply]:
        left = request.deadline - self._clock()
        if left <= 0:
            desk.count_late(len(prompts))
        seats = [desk.seat(prompt, request) if left > 0 else Seat() for prompt in prompts]
        try:
            tasks = {seat.task for seat in seats if seat.task is not None}
            if tasks:
                await asyncio.wait(tasks, timeout=left)
            return [seat.answer() or self._stranded(desk, seat) for seat in seats]
        finally:
            for seat in seats:
                seat.leave()

    def _stranded(self, desk: "Desk", seat: Seat) -> NoReply:
        return desk.unavailable(STOPPING) if self._loop.is_closed else desk.late(seat)

    async def _end(self) -> None:
        for desk in self._desks.values():
            await desk.close()


def _desk(
    name: str,
    settings: JudgeSettings,
    key: str | None,
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]],
) -> "Desk":
    from service.judge.desk import Desk  # noqa: PLC0415 - many have no judge, and httpx takes 5 MB

    try:
        return Desk(name, settings, key, clock, sleep)
    except ValueError as exc:
        raise ValueError(f"{name}: {exc}") from None


def _settled(answers: list[Reply | NoReply]) -> Future[list[Reply | NoReply]]:
    future: Future[list[Reply | NoReply]] = Future()
    future.set_result(answers)
    return future
