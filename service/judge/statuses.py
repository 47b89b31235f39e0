"""What the status of an answer means."""

from collections.abc import Mapping
from datetime import UTC, datetime

from service.judge.faults import Cause, Down, JudgeFault, Passing, Refused, Throttled
from service.judge.wires.reading import fields_of, object_at
from service.primitives.servers import retry_after

FORM_STATUSES = (400, 404, 422, 501)
"""With these a server may say that it does not know the form in which it was asked."""
FILTERED = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation")
SPENT = ("insufficient_quota", "billing_hard_limit_reached")

PAUSES = ("retry-after", "llm_provider-retry-after")
"""Headers that ask for a pause; the second is how litellm's proxy hands on what its provider said."""

PASSING = {
    408: "took too long to be asked (status 408)",
    425: "was asked too early (status 425)",
    500: "failed (status 500)",
    502: "is not reached by what stands before it (status 502)",
    503: "is not ready (status 503)",
    504: "did not answer what stands before it in time (status 504)",
}
DOWN = {
    401: "does not accept the service's key (status 401): see the variable that its api_key_env names",
    402: "wants to be paid first (status 402)",
    403: "does not accept the service's key (status 403): see the variable that its api_key_env names",
    404: "knows no such model or no such path (status 404): see its model and its base_url",
    501: "cannot do what it is asked (status 501)",
}
DOWN_CAUSES: dict[int, Cause] = {401: "unauthorized", 402: "no_quota", 403: "unauthorized"}
NO_KEY = "wants a key (status {}), and its settings name none: no api_key_env is set"
KEY_STATUSES = (401, 403)
REFUSED = {
    400: "refused the call (status 400): the model, a parameter or the prompt does not suit it",
    413: "refused the prompt (status 413): it is too long",
    422: "refused the prompt (status 422)",
}


def fault_of(status: int, headers: Mapping[str, str], body: bytes, *, was_key_sent: bool = True) -> JudgeFault | None:
    """What is wrong with an answer, by its status and its content type; None where it may be read."""
    if 200 <= status < 300:
        return None if _is_json(headers) else Passing("did not answer with JSON")
    if status == 429 and _code(body) in SPENT:
        return Down("has no quota left (status 429)", status, cause="no_quota")
    pauses = [retry_after(headers[name], datetime.now(UTC)) for name in PAUSES if name in headers]
    if status in (429, 529) or (status == 503 and pauses):
        return Throttled(f"is overloaded (status {status})", status, max(pauses, default=0.0))
    if 300 <= status < 400:
        return Down(f"redirects to another address (status {status}), and nobody follows", status)
    if status in KEY_STATUSES and not was_key_sent:
        return Down(NO_KEY.format(status), status, cause="unauthorized")
    if status in REFUSED:
        return Refused(REFUSED[status], status)
    if status in PASSING or (status >= 500 and status not in DOWN):
        cause: Cause = "timeout" if status == 408 else "server_error"
        return Passing(PASSING.get(status, f"failed (status {status})"), status, cause=cause)
    return Down(DOWN.get(status, f"answered with status {status}"), status, cause=DOWN_CAUSES.get(status))


def is_filtered(status: int, body: bytes) -> bool:
    """Whether a filter before the model kept the prompt from it, which some servers tell with a status of 400."""
    return status == 400 and _code(body) in FILTERED


def _is_json(headers: Mapping[str, str]) -> bool:
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    return media in ("", "application/json") or media.endswith("+json")


def _code(body: bytes) -> str:
    """The error's code, in lower case."""
    error = object_at(fields_of(body.decode(errors="replace")), "error")
    inner = object_at(error, "innererror")
    return str(inner.get("code") or error.get("code") or error.get("type") or "").lower()
