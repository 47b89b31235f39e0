"""One judge: what is on its way to it, and what comes back."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from msgspec import structs

from service.core.judging import NoReply, Prompt, Reply
from service.judge.breaker import PATIENCE, Breaker
from service.judge.budget import Budgets, Request, expected_tokens, tokens_taken
from service.judge.complaints import Complaints
from service.judge.endpoint import Endpoint
from service.judge.faults import JudgeFault, OverBudget, Throttled
from service.judge.figures import JudgeFigures
from service.judge.flight import Flight, Seat
from service.judge.gate import Gate
from service.judge.kept import Kept, identity
from service.judge.pace import Pace
from service.judge.retrying import retried, until_deadline, up_to_tries
from service.judge.settings import JudgeSettings
from service.primitives.replies import ReplyFault, read_object

log = logging.getLogger("scorewright.judge")

COOLING = 0.1
"""Seconds for which a slot stays empty after a refusal."""

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class Desk:
    """Takes prompts for one judge. Belongs to one event loop, but for `figures`."""

    def __init__(self, name: str, settings: JudgeSettings, key: str | None, clock: Clock, sleep: Sleep) -> None:
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._endpoint = Endpoint(settings, key)
        self._pace = Pace(settings.max_concurrency, clock)
        self._gate = Gate(lambda: self._pace.limit)
        self._breaker = Breaker(name, clock, min(settings.timeout_s, PATIENCE))
        self._complaints = Complaints(name, clock)
        self._budgets = Budgets(settings.max_calls, settings.max_tokens)
        self._keeps = settings.cache
        self._kept = Kept()
        self._flights: dict[bytes, Flight] = {}
        self._failing = up_to_tries(clock, sleep)
        self._throttled = until_deadline(clock, sleep)
        self._counts = JudgeFigures()

    @property
    def figures(self) -> JudgeFigures:
        """What has been done so far; safe to read from any thread."""
        return structs.replace(
            self._counts,
            calls=dict(self._counts.calls),
            causes=dict(self._counts.causes),
            durations=dict(self._counts.durations),
            attempts=self._endpoint.sent,
            waiting=self._gate.waiting,
            concurrency=self._pace.limit,
            breaker=self._breaker.state,
        )

    def seat(self, prompt: Prompt, request: Request) -> Seat:
        """A seat for a prompt: on the flight of an equal one, on its own, or with an answer in hand."""
        try:
            digest = identity(prompt)
        except (ValueError, TypeError, RecursionError):
            self._counts.count_fault("refused")
            return Seat(answer=self.unavailable("cannot be sent the prompt, which is no JSON"))
        kept = self._kept.get(digest)
        if kept is not None:
            self._counts.cache_hits += 1
            return Seat(answer=kept, is_shared=True)
        known = self._flights.get(digest)
        if known is not None and not known.is_dropped:
            self._counts.shared += 1
            known.board(request)
            return Seat(known, request, is_shared=True)
        return self._first(prompt, request, digest)

    def count_late(self, prompts: int) -> None:
        """Count prompts whose deadline had passed when they came."""
        for _ in range(prompts):
            self._counts.count("deadline_exceeded")

    def keyless(self, said: str, prompts: int) -> list[Reply | NoReply]:
        """What to say to prompts of a judge that has no key, and is asked nothing."""
        self._counts.count_fault("no_key", prompts)
        return [self.unavailable(said)] * prompts

    def late(self, seat: Seat) -> NoReply:
        """What to say where nothing came of a seat in time."""
        flight = seat.flight
        if flight is None or not flight.is_sent:
            return NoReply("deadline_exceeded", f"The judge {self._name} was not asked before the deadline")
        said = "had not answered when the deadline passed"
        said += f"; tried before, it {flight.last_said}" if flight.last_said else ""
        return NoReply("deadline_exceeded", f"The judge {self._name} {said}", is_sent=True)

    async def close(self) -> None:
        """Drop every flight and every connection."""
        tasks = [flight.task for flight in self._flights.values() if flight.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._endpoint.close()

    def unavailable(self, said: str) -> NoReply:
        """Why the judge did not answer, in a sentence that names it."""
        return NoReply("judge_unavailable", f"The judge {self._name} {said}")

    def _first(self, prompt: Prompt, request: Request, digest: bytes) -> Seat:
        try:
            self._budgets.take_call(request)
        except OverBudget as fault:
            self._counts.count(fault.reason)
            return Seat(answer=self._told(fault))
        flight = self._flights[digest] = Flight(prompt, request)
        flight.board(request)
        flight.task = asyncio.create_task(self._fly(flight, digest))
        flight.task.add_done_callback(lambda _: self._landed(flight, digest))
        return Seat(flight, request)

    def _landed(self, flight: Flight, digest: bytes) -> None:
        if self._flights.get(digest) is flight:
            del self._flights[digest]
        if flight.task is not None and flight.task.cancelled():
            self._counts.count("deadline_exceeded" if self._clock() >= flight.deadline else "cancelled")

    async def _fly(self, flight: Flight, digest: bytes) -> Reply | NoReply:
        """What comes of a flight, whatever happens."""
        try:
            reply = await retried(self._throttled, self._with_slot, flight)
        except JudgeFault as fault:
            self._count(fault)
            return structs.replace(self._told(fault), is_sent=flight.is_sent)
        except Exception as fault:
            # Its text may hold a prompt or a key.
            log.error("the judge %s could not be asked: %s", self._name, type(fault).__name__)
            self._counts.count_fault("internal")
            return self.unavailable("could not be asked, by a fault of the service")
        self._counts.count(reply.stop)
        if self._keeps and _fits(flight.prompt, reply):
            self._kept.put(digest, reply)
        return reply

    async def _with_slot(self, flight: Flight) -> Reply:
        """A reply after a few tries, in one slot: while a judge fails, those who wait are not sent after.

        Nor are they at once when it refuses: they would walk into the same refusal.
        """
        async with self._gate.slot(flight.request):
            try:
                reply = await retried(self._failing, self._try, flight)
            except Throttled:
                await self._sleep(COOLING)
                raise
            return reply

    async def _try(self, flight: Flight) -> Reply:
        async with self._endpoint.turn(flight.prompt):
            await self._rest(flight)
            return await self._paid(flight)

    async def _rest(self, flight: Flight) -> None:
        """Sit out the judge's pause."""
        pause = self._pace.pause
        if pause > flight.deadline - self._clock():
            raise Throttled("is overloaded, and asks for more time than the deadline leaves", after=pause)
        if pause:
            await self._sleep(pause)

    async def _paid(self, flight: Flight) -> Reply:
        """The reply of one try, on a request's account."""
        reserved = expected_tokens(flight.prompt)
        payer = self._payer(flight, reserved)
        taken = 0
        try:
            async with self._breaker.watching():
                reply = await self._sent(flight)
            taken = tokens_taken(flight.prompt, reply)
        finally:
            self._budgets.settle(payer, reserved, taken)
        return reply

    def _payer(self, flight: Flight, tokens: int) -> Request:
        """The first of those who wait that has tokens left, now reserved. OverBudget where none has."""
        *others, last = flight.aboard
        for request in others:
            with suppress(OverBudget):
                self._budgets.reserve(request, tokens)
                return request
        self._budgets.reserve(last, tokens)
        return last

    async def _sent(self, flight: Flight) -> Reply:
        self._counts.retries += flight.is_sent
        self._counts.in_flight += 1
        flight.is_sent = True
        started = self._clock()
        try:
            reply = await self._endpoint.ask(flight.prompt, dict(flight.request.trace))
        except JudgeFault as fault:
            log.debug("the judge %s %s (%s)", self._name, fault.said, type(fault.__cause__).__name__)
            self._complaints.tell(fault)
            flight.last_said = fault.said
            if isinstance(fault, Throttled):
                self._counts.throttled += 1
                self._pace.refused(fault.after)
            raise
        finally:
            self._counts.in_flight -= 1
            self._counts.count_try(self._clock() - started)
        self._pace.answered()
        self._counts.input_tokens += reply.input_tokens
        self._counts.output_tokens += reply.output_tokens
        return reply

    def _count(self, fault: JudgeFault) -> None:
        if fault.reason == "judge_unavailable":
            self._counts.count_fault(fault.cause)
        else:
            self._counts.count(fault.reason)

    def _told(self, fault: JudgeFault) -> NoReply:
        return NoReply(fault.reason, f"The judge {self._name} {fault.said}")


def _fits(prompt: Prompt, reply: Reply) -> bool:
    """Whether a reply has the shape that was asked for; kept, one that has not would be given for ever."""
    if not prompt.schema:
        return True
    try:
        read_object(reply.text, reply.fields, prompt.schema)
    except ReplyFault:
        return False
    return True
