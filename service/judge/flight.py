"""A prompt on its way to a judge."""

import asyncio

from msgspec import structs

from service.core.judging import NoReply, Prompt, Reply
from service.judge.budget import Request


class Flight:
    """One call, whoever waits for it; dropped when nobody does any more. Belongs to one event loop."""

    def __init__(self, prompt: Prompt, request: Request) -> None:
        self.prompt = prompt
        self.aboard: list[Request] = []
        """Who waits for it, and may pay for it."""
        self.request = request
        """Whose turn it takes, and whose headers travel on."""
        self.deadline = request.deadline
        """When the last of those who wait gives up."""
        self.is_sent = False
        self.last_said: str | None = None
        """How it failed last: of the fault itself, frames would lead back here, and only the collector end that."""
        self.task: asyncio.Task[Reply | NoReply] | None = None

    @property
    def is_dropped(self) -> bool:
        """Whether nobody waits for it any more."""
        return not self.aboard

    def board(self, request: Request) -> None:
        """Wait for it."""
        self.aboard.append(request)
        self.deadline = max(self.deadline, request.deadline)

    def leave(self, request: Request) -> None:
        """Wait no more."""
        self.aboard.remove(request)
        if self.is_dropped and self.task is not None:
            self.task.cancel()


class Seat:
    """What one prompt of an ask waits for: a flight, its own or another's, or an answer that is there already."""

    def __init__(
        self,
        flight: Flight | None = None,
        request: Request | None = None,
        *,
        answer: Reply | NoReply | None = None,
        is_shared: bool = False,
    ) -> None:
        self._flight = flight
        self._request = request
        self._answer = answer
        self._is_shared = is_shared

    @property
    def task(self) -> asyncio.Task[Reply | NoReply] | None:
        """What is waited for, if anything."""
        return self._flight.task if self._flight is not None and self._answer is None else None

    @property
    def flight(self) -> Flight | None:
        """The flight, if there is one."""
        return self._flight

    def answer(self) -> Reply | NoReply | None:
        """What came of it; None where nothing did. Tokens stand in the reply to the prompt that was sent, and there
        alone.
        """
        answer = self._answer
        if self.task is not None and self.task.done() and not self.task.cancelled():
            answer = self.task.result()
        if self._is_shared and isinstance(answer, Reply):
            return structs.replace(answer, input_tokens=0, output_tokens=0)
        return answer

    def leave(self) -> None:
        """Wait no more."""
        if self._flight is not None and self._request is not None:
            self._flight.leave(self._request)
