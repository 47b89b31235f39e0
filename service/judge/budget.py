"""What requests have spent on a judge."""

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from msgspec import Struct

from service.core.judging import Prompt, Reply
from service.core.ports import Account
from service.judge.faults import OverBudget

CHARACTERS_PER_TOKEN = 4


class Request(NamedTuple):
    """Whose prompts they are, and until when they are waited for."""

    deadline: float
    trace: frozenset[tuple[str, str]]
    account: Account

    @classmethod
    def of(cls, deadline: float, trace: Mapping[str, str], account: Account) -> "Request":
        """The request that asks."""
        return cls(deadline, frozenset(trace.items()), account)


class Spent(Struct):
    """Calls that were made on an account, and tokens that they took or are about to."""

    calls: int = 0
    tokens: int = 0


class Budgets:
    """The accounts under way with one judge."""

    def __init__(self, max_calls: int | None, max_tokens: int | None) -> None:
        self._max_calls = max_calls
        self._max_tokens = max_tokens
        self._spent: WeakKeyDictionary[Account, Spent] = WeakKeyDictionary()

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
        self._account(request).tokens += taken - reserved

    def _account(self, request: Request) -> Spent:
        return self._spent.setdefault(request.account, Spent())


def expected_tokens(prompt: Prompt) -> int:
    """Tokens that a prompt has, by a rule of thumb."""
    return sum(len(one.content) for one in prompt.messages) // CHARACTERS_PER_TOKEN + 1


def tokens_taken(prompt: Prompt, reply: Reply) -> int:
    """Tokens that a reply took; by a rule of thumb where the judge does not say, lest it be free."""
    return reply.input_tokens + reply.output_tokens or (
        expected_tokens(prompt) + len(reply.text or str(reply.fields)) // CHARACTERS_PER_TOKEN
    )
