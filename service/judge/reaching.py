"""Why a server is not reached, told without its address."""

import socket
import ssl
from collections.abc import Iterator

import httpx

from service.judge.faults import Passing
from service.judge.settings import JudgeSettings

UNREACHED: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLCertVerificationError, ": the certificate of its server is not one that is trusted here"),
    (ssl.SSLError, ": its server does not speak TLS as https in its base_url has it"),
    (socket.gaierror, ": nobody knows the name of the host in its base_url (DNS)"),
    (
        ConnectionRefusedError,
        ": the connection is refused, so that its server does not run, or not where its base_url says",
    ),
)


def late(settings: JudgeSettings) -> Passing:
    """What is wrong with a judge that took longer than a call may last."""
    return Passing(f"did not answer within {settings.timeout_s:g} s (timeout_s)", cause="timeout")


def unreached(exc: httpx.TransportError, settings: JudgeSettings) -> Passing:
    """What is wrong where a call did not come to an answer."""
    if isinstance(exc, httpx.ConnectTimeout):
        return Passing(
            f"cannot be reached: no connection within {settings.connect_s:g} s (connect_s)", cause="unreachable"
        )
    if isinstance(exc, httpx.ProxyError):
        return Passing("cannot be reached: its proxy does not let the service through", cause="unreachable")
    if isinstance(exc, httpx.ConnectError):
        behind = list(_behind(exc))
        why = next((told for kind, told in UNREACHED if any(isinstance(one, kind) for one in behind)), "")
        return Passing(f"cannot be reached{why}", cause="unreachable")
    if isinstance(exc, httpx.TimeoutException):
        return late(settings)
    return Passing("broke off the connection", cause="disconnected")


def _behind(exc: BaseException) -> Iterator[BaseException]:
    """An exception, those that led to it, and those of groups among them."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [exc]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__]
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else []
