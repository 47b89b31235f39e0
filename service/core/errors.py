"""What can be wrong with a request as a whole.

ServiceError
├── NotJsonBody        the body is no JSON
├── Unauthorized       no key, or a wrong one
├── UnknownHost        the Host header is not one of ours
├── NotFound           no such thing
├── SlowBody           the body did not arrive in time
├── TooLarge           more bytes than a limit allows
├── UnsupportedMedia   a content type or coding that is not read
├── Invalid            JSON of the wrong shape: every fault with its place
├── Overloaded         too much waits already
├── ModelUnavailable   no model that could make vectors
│   └── TextRefused    the model works, and does not take this text
└── Late               the deadline passed first
"""

from collections.abc import Mapping

from msgspec import Struct

MAX_FAULTS = 100
"""Faults of one body that are listed."""


class Fault(Struct, frozen=True):
    """One fault of a body: where, of what kind, and what would be right."""

    pointer: str
    code: str
    detail: str


class ServiceError(Exception):
    """A request that cannot be answered: a sentence for the caller, and what the answer's headers should say."""

    def __init__(self, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers or {}


class NotJsonBody(ServiceError):
    """The body is no JSON."""


class Unauthorized(ServiceError):
    """No key, or a wrong one."""


class UnknownHost(ServiceError):
    """The Host header is not one of ours."""


class NotFound(ServiceError):
    """No such thing."""


class SlowBody(ServiceError):
    """The body did not arrive in time."""


class TooLarge(ServiceError):
    """More bytes than a limit allows."""


class UnsupportedMedia(ServiceError):
    """A content type or coding that is not read."""


class Invalid(ServiceError):
    """JSON of the wrong shape."""

    def __init__(self, faults: list[Fault]) -> None:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        first = faults[0]
        super().__init__(f"{count} in the body; the first, at {first.pointer or 'the root'}: {first.detail}")
        self.faults = faults


class Overloaded(ServiceError):
    """Too much waits already."""


class ModelUnavailable(ServiceError):
    """No model that could make vectors, or none that answers."""


class TextRefused(ModelUnavailable):
    """The model takes texts, but not this one, now or later."""


class Late(ServiceError):
    """The deadline passed before the answer was there."""
