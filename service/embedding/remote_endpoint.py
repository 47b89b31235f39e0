"""Where an embedding server is, and how far it is trusted."""

import re
from collections.abc import Mapping
from typing import Annotated

import httpx
from msgspec import Meta, Struct

from service.primitives.servers import address_fault

Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")


class Endpoint(Struct, frozen=True, kw_only=True):
    """An OpenAI-compatible embedding server, and how much of it is waited for and read.

    ValueError where the address or a header cannot be used; the message never repeats a key.
    """

    url: str
    """What `/embeddings` follows, such as `http://localhost:8080/v1`."""
    model: str | None = None
    """None takes the first that the server lists, or `default` where it lists none."""
    key: str | None = None
    headers: Mapping[str, str] = {}
    connect_seconds: Seconds = 2.0
    read_seconds: Seconds = 10.0
    """The longest silence while an answer is awaited or read."""
    total_seconds: Seconds = 20.0
    """All tries of one call and the waits between them."""
    tries: Positive = 3
    texts_per_call: Positive = 32
    tau: float | None = None
    """What is recommended for the model."""
    reply_bytes: Positive = 8 * 1024 * 1024
    pause_seconds: Annotated[float, Meta(ge=0)] = 5.0
    """How long nobody asks again for the model after the server failed to tell."""
    proxy: str | None = None
    trust_env: bool = False
    """Whether proxies and certificate authorities named by the environment count."""

    def __post_init__(self) -> None:
        _require_address("address of the embedding server (SCOREWRIGHT_EMBEDDER_URL)", self.url)
        if self.proxy is not None:
            _require_address(
                "proxy of the embedding server (SCOREWRIGHT_EMBEDDING__PROXY)", self.proxy, may_log_in=True
            )
        if self.key is not None and not _HEADER_VALUE.fullmatch(self.key):
            raise ValueError(
                "The key of the embedding server (SCOREWRIGHT_EMBEDDER_API_KEY) has characters no header may have"
            )
        for name, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
                raise ValueError(f"The header {name[:40]!a} for the embedding server has characters no header may have")

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, model={self.model!r})"

    def sent_headers(self) -> dict[str, str]:
        """The headers of every call, the key among them."""
        own = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        bearer = {"Authorization": f"Bearer {self.key}"} if self.key is not None else {}
        return own | bearer | dict(self.headers)


def _require_address(what: str, address: str, *, may_log_in: bool = False) -> None:
    fault = address_fault(address, may_log_in=may_log_in)
    try:
        httpx.URL(address)
    except httpx.InvalidURL:
        fault = fault or "is no URL"
    if fault is not None:
        raise ValueError(f"The {what} {fault}")
