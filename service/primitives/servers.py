"""What servers say, and where they are: the parts of HTTP that every client of one reads alike."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""How a header may be called."""
HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
"""What a header may hold."""
HIDDEN = "[hidden]"
"""What stands where a secret was."""
SECRET_LENGTH = 12
"""Keys and headers shorter than this are words such as `none`, which an answer may well hold."""

_VISIBLE = re.compile("[!-~]+")


def retry_after(header: str, now: datetime) -> float:
    """Seconds that a Retry-After header asks for at `now`, given in seconds or as a date; 0 where it makes no sense."""
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", header):
        return float(header)
    try:
        when = parsedate_to_datetime(header)
        return max((when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def address_fault(address: str, *, may_log_in: bool = False) -> str | None:
    """What is wrong with a server's address, as the end of a sentence that begins with its name; None if nothing is.

    It repeats nothing of the address, which may hold a password. With `may_log_in`, as for a proxy, the address may
    have a user name and a password.
    """
    try:
        url = urlsplit(address)
    except ValueError:
        return "is no URL"
    if url.scheme not in ("http", "https") or not url.hostname:
        return "must begin with http:// or https:// and a host"
    try:
        port = url.port
    except ValueError:
        port = 0
    if port == 0:
        return "is no URL: after the host and a colon stands a port from 1 to 65535, or nothing"
    has_more = "?" in address or "#" in address  # empty ones too: a path that is put behind them would be theirs
    if may_log_in and has_more:
        return "takes no query or fragment"
    if not may_log_in and (has_more or url.username is not None):
        return "takes no password, query or fragment: a key has a setting of its own"
    return None if _VISIBLE.fullmatch(address) and _is_taken(address) else "is no URL"


class Veil:
    """Hides secrets in the JSON that a server answers; what is shorter than SECRET_LENGTH is none."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = [_spelled(secret) for secret in secrets if len(secret) >= SECRET_LENGTH]

    def over(self, body: bytes) -> bytes:
        """The body with HIDDEN for each secret, however it is spelled."""
        for secret in self._secrets:
            body = secret.sub(HIDDEN.encode(), body)
        return body


def _spelled(secret: str) -> re.Pattern[bytes]:
    """A secret as JSON may spell it, in a text of a text too: any sign with backslashes before it, or by its code."""
    signs = "".join(map(_spelled_sign, re.findall(r"\\+|[^\\]", secret)))
    return re.compile(rf"(?<!\\){signs}".encode())


def _spelled_sign(sign: str) -> str:
    return r"\\++" if sign[0] == "\\" else rf"\\*+(?:{re.escape(sign)}|(?<=\\)u(?i:{ord(sign):04x}))"


def _is_taken(address: str) -> bool:
    """Whether the client takes it too, which does not take 1.2.3.999."""
    import httpx  # noqa: PLC0415 - few have a server, and httpx takes 5 MB

    try:
        httpx.URL(address)
    except httpx.InvalidURL:
        return False
    return True
