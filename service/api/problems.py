"""The one place that knows HTTP statuses: what went wrong, as problem documents (RFC 9457)."""

import msgspec
from msgspec import UNSET, Struct, UnsetType

from service.core import errors
from service.core.errors import Fault, Invalid, ServiceError

MEDIA_TYPE = b"application/problem+json"


class Kind(Struct, frozen=True):
    """How one kind of error is told: HTTP status, name of the kind, title."""

    status: int
    name: str
    title: str


class OpenAIError(Struct):
    """The same as OpenAI's clients read it."""

    message: str
    type: str
    param: str | None
    code: str


class Problem(Struct, omit_defaults=True):
    """A problem document; `errors` lists every fault found in the body, at most 100."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[Fault] = []
    error: OpenAIError | UnsetType = UNSET


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
    errors.Late: Kind(503, "deadline_exceeded", "The deadline passed first"),
}
METHOD = Kind(405, "method_not_allowed", "The method is not allowed here")
CLIENT_CLOSED = 499
"""For logs and metrics: nobody is there to be answered."""

OPENAI_PATHS = ("/v1/embeddings", "/v1/models")
"""Where clients of OpenAI's call, there or below: problems carry an `error` that they can read."""

BUSY = frozenset({429, 503})
RETRY_AFTER = ("Retry-After", "5")

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
    kind = next(KINDS[base] for base in type(error).__mro__ if base in KINDS)
    told = dict([RETRY_AFTER] if kind.status in BUSY else []) | dict(error.headers)
    return problem(kind, error.detail, path, faults, [(name.encode(), value.encode()) for name, value in told.items()])


def problem(
    kind: Kind, detail: str, path: str, faults: list[Fault] | None = None, headers: list[Header] | None = None
) -> Answer:
    """A problem document as an answer."""
    document = Problem(f"urn:scorewright:problem:{kind.name}", kind.title, kind.status, detail, path, faults or [])
    if path.startswith(OPENAI_PATHS):
        document.error = _for_openai(kind, detail, faults or [])
    return Answer(kind.status, msgspec.json.encode(document), [(b"content-type", MEDIA_TYPE), *(headers or [])])


def _for_openai(kind: Kind, detail: str, faults: list[Fault]) -> OpenAIError:
    blame = "server_error" if kind.status >= 500 else "invalid_request_error"
    param = faults[0].pointer.strip("/").replace("/", ".") if faults else None
    code = "model_not_found" if kind is KINDS[errors.NotFound] else kind.name
    return OpenAIError(detail, blame, param, code)
