"""What servers say, and where they are: the parts of HTTP that every client of one reads alike."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit


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
    """What keeps a server from being called at an address, as what follows its name; None if nothing does.

    It repeats nothing of the address, which may hold a password. One that `may_log_in`, as a proxy's may, has a name
    and a password of its own.
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
    if not may_log_in and (url.username is not None or url.query or url.fragment):
        return "takes no password, query or fragment: a key has a setting of its own"
    return None
