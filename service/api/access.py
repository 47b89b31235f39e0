"""Who may ask: the Host header, and the API key."""

from hmac import compare_digest

from service.config import Settings
from service.core.errors import Unauthorized, UnknownHost

OPEN_PATHS = frozenset({"/", "/livez", "/readyz", "/docs", "/openapi.json"})


class Access:
    """The rules of access of one application."""

    def __init__(self, settings: Settings) -> None:
        hosts = settings.hosts()
        self._hosts = None if hosts is None else {host.lower().encode() for host in hosts}
        self._keys = [key.encode() for key in settings.api_keys]

    def check(self, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        """Raise UnknownHost or Unauthorized."""
        if self._hosts is not None:
            hosts = [_hostname(value) for name, value in headers if name == b"host"]
            if len(hosts) != 1 or hosts[0] not in self._hosts:
                raise UnknownHost("The Host header is none of the names served here (SCOREWRIGHT_ALLOWED_HOSTS)")
        if self._keys and path not in OPEN_PATHS and not self._is_known(dict(headers).get(b"authorization", b"")):
            raise Unauthorized(
                "Send a key that is served here: Authorization: Bearer ...", {"WWW-Authenticate": "Bearer"}
            )

    def _is_known(self, authorization: bytes) -> bool:
        scheme, _, key = authorization.partition(b" ")
        # Every key is compared, so that the time taken does not tell which one was near.
        matches = [compare_digest(key.strip(), known) for known in self._keys]
        return scheme.lower() == b"bearer" and any(matches)


def _hostname(host: bytes) -> bytes:
    """The host without its port; an IPv6 address keeps its brackets."""
    host = host.strip().lower()
    if host.startswith(b"["):
        return host.partition(b"]")[0] + b"]"
    return host.partition(b":")[0]
