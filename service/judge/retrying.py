"""How often a call is tried, and how long is waited before the next try."""

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from service.core.judging import Reply
from service.judge.faults import JudgeFault, Passing, Throttled
from service.judge.flight import Flight

TRIES = 4

_after_failure = wait_random_exponential(multiplier=0.5, max=8)
_after_refusal = wait_random_exponential(multiplier=0.25, max=10)


def up_to_tries(clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """For a function of a flight: again after Passing, TRIES times and not beyond the flight's deadline."""
    return AsyncRetrying(
        sleep=sleep,
        stop=lambda state: stop_after_attempt(TRIES)(state) or _is_too_late(state, clock),
        wait=_after_failure,
        retry=retry_if_exception_type(Passing),
        reraise=True,
    )


def until_deadline(clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """For a function of a flight: again after Throttled, no earlier than asked and not beyond the flight's deadline."""
    return AsyncRetrying(
        sleep=sleep,
        stop=lambda state: _is_too_late(state, clock),
        wait=_no_earlier_than_asked,
        retry=retry_if_exception_type(Throttled),
        reraise=True,
    )


async def retried(policy: AsyncRetrying, function: Callable[[Flight], Awaitable[Reply]], flight: Flight) -> Reply:
    """What comes of a function of a flight in the end.

    Leaves nothing that refers back to itself: what thousands of calls leave to the collector stops all threads for
    more than 100 ms.
    """
    retrying = policy.copy()  # calls under way at once would mix up their states
    try:
        reply: Reply = await retrying(function, flight)
    except JudgeFault as fault:
        raise fault.with_traceback(None) from fault.__cause__
    finally:
        retrying.iter_state.reset()
    return reply


def _is_too_late(state: RetryCallState, clock: Callable[[], float]) -> bool:
    deadline: float = state.args[0].deadline
    return clock() + state.upcoming_sleep >= deadline


def _no_earlier_than_asked(state: RetryCallState) -> float:
    fault = state.outcome.exception() if state.outcome else None
    return _after_refusal(state) + (fault.after if isinstance(fault, Throttled) else 0.0)
