"""The one place that knows HTTP statuses: what went wrong, as problem documents (RFC 9457)."""

import msgspec
from msgspec import Struct

from service.core import errors
from service.core.errors import Fault, Invalid, ServiceError

MEDIA_TYPE = b"application/problem+json"


class Kind(Struct, frozen=True):
    """How one kind of error is told: HTTP status, name of the kind, title."""

    status: int
    name: str
    title: str


class Problem(Struct, omit_defaults=True):
    """A problem document; `errors` lists every fault found in the body, at most 100."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[Fault] = []


KINDS: dict[type[ServiceError], Kind] = {
    errors.NotJsonBody: Kind(400, "not_json", "The body is not JSON"),
    errors.Unauthorized: Kind(401, "unauthorized", "A valid API key is needed"),
    errors.NotFound: Kind(404, "not_found", "No such resource"),
    errors.SlowBody: Kind(408, "slow_body", "The body did not arrive in time"),
    errors.TooLarge: Kind(413, "too_large", "Over a size limit"),
    errors.UnsupportedMedia: Kind(415, "unsupported_media", "This media type or coding is not read"),
    errors.UnknownHost: Kind(421, "unknown_host", "This host is not served"),
    errors.Invalid: Kind(422, "invalid", "The body does not have the right shape"),
    errors.Overloaded: Kind(429, "overloaded", "Too many requests are waiting"),
    errors.ModelUnavailable: Kind(503, "model_unavailable", "No model answers"),
    errors.Late: Kind(504, "deadline_exceeded", "The deadline passed first"),
}
METHOD = Kind(405, "method_not_allowed", "The method is not allowed here")
CLIENT_CLOSED = 499
"""For logs and metrics: nobody is there to be answered."""

INTERNAL = Kind(500, "internal", "A fault of the service")

Header = tuple[bytes, bytes]


class Answer(Struct):
    """A response that is ready to be sent."""

    status: int
    body: bytes
    headers: list[Header]


def answer_to(error: Exception, path: str) -> Answer:
    """The problem document for an error; what is not a ServiceError is a fault of ours and tells nothing."""
    if not isinstance(error, ServiceError):
        return problem(INTERNAL, "Something failed that should not have; the log of the service says what", path)
    faults = error.faults if isinstance(error, Invalid) else []
    headers = [(name.encode(), str(value).encode()) for name, value in error.headers.items()]
    return problem(KINDS[type(error)], error.detail, path, faults, headers)


def problem(
    kind: Kind, detail: str, path: str, faults: list[Fault] | None = None, headers: list[Header] | None = None
) -> Answer:
    """A problem document as an answer."""
    document = Problem(f"urn:scorewright:problem:{kind.name}", kind.title, kind.status, detail, path, faults or [])
    return Answer(kind.status, msgspec.json.encode(document), [(b"content-type", MEDIA_TYPE), *(headers or [])])
