"""What requests have spent on a judge."""

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple

from msgspec import Struct

from service.core.judging import Prompt, Reply
from service.judge.faults import OverBudget

CHARACTERS_PER_TOKEN = 4


class Request(NamedTuple):
    """Whose prompts they are, and until when they are waited for."""

    deadline: float
    trace: frozenset[tuple[str, str]] = frozenset()
    account: Hashable = None

    @classmethod
    def of(cls, deadline: float, trace: Mapping[str, str], account: Hashable) -> "Request":
        """The request that asks."""
        return cls(deadline, frozenset(trace.items()), account)

    @property
    def payer(self) -> Hashable:
        """Who pays: requests of one account together."""
        return (self.deadline, self.trace) if self.account is None else self.account


class Spent(Struct):
    """Calls that were made, and tokens that they took or are about to, by those who ask until `deadline` at most."""

    calls: int = 0
    tokens: int = 0
    deadline: float = 0.0


class Budgets:
    """The accounts under way with one judge."""

    def __init__(self, max_calls: int | None, max_tokens: int | None, clock: Callable[[], float]) -> None:
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._clock = clock
        self._spent: dict[Hashable, Spent] = {}

    def __len__(self) -> int:
        return len(self._spent)

    def take_call(self, request: Request) -> None:
        """Count a call. OverBudget where the request may make no more."""
        spent = self._account(request)
        if self._max_calls is not None and spent.calls >= self._max_calls:
            raise OverBudget(f"may be called {self._max_calls:,} times by one request")
        spent.calls += 1

    def reserve(self, request: Request, tokens: int) -> None:
        """Count tokens that a call is going to take. OverBudget where the request may not spend so many."""
        spent = self._account(request)
        if self._max_tokens is not None and spent.tokens + tokens > self._max_tokens:
            raise OverBudget(f"may take {self._max_tokens:,} tokens of one request")
        spent.tokens += tokens

    def settle(self, request: Request, reserved: int, taken: int) -> None:
        """Count what a call took in place of what was reserved for it."""
        if request.payer in self._spent:
            self._spent[request.payer].tokens += taken - reserved

    def _account(self, request: Request) -> Spent:
        spent = self._spent.get(request.payer)
        if spent is None:
            now = self._clock()
            self._spent = {payer: one for payer, one in self._spent.items() if one.deadline > now}
            spent = self._spent[request.payer] = Spent()
        spent.deadline = max(spent.deadline, request.deadline)
        return spent


def expected_tokens(prompt: Prompt) -> int:
    """Tokens that a prompt has, by a rule of thumb."""
    return sum(len(one.content) for one in prompt.messages) // CHARACTERS_PER_TOKEN + 1


def tokens_taken(prompt: Prompt, reply: Reply) -> int:
    """Tokens that a reply took; by a rule of thumb where the judge does not say, lest it be free."""
    return reply.input_tokens + reply.output_tokens or (
        expected_tokens(prompt) + len(reply.text or str(reply.fields)) // CHARACTERS_PER_TOKEN
    )
