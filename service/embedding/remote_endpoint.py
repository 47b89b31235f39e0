"""Where an embedding server is, and how far it is trusted."""

from typing import Annotated

from msgspec import Meta, Struct

from service.primitives.servers import HEADER_VALUE, address_fault

Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]


class Endpoint(Struct, frozen=True, kw_only=True):
    """An OpenAI-compatible embedding server, and how much of it is waited for and read.

    ValueError where the address or the key cannot be used; the message never repeats a key.
    """

    url: str
    """What `/embeddings` follows, such as `http://localhost:8080/v1`."""
    model: str | None = None
    """None takes the first that the server lists, or `default` where it lists none."""
    key: str | None = None
    connect_seconds: Seconds = 2.0
    read_seconds: Seconds = 10.0
    """The longest silence while an answer is awaited or read."""
    total_seconds: Seconds = 20.0
    """All tries of one call and the waits between them."""
    tries: Positive = 3
    texts_per_call: Positive = 32
    tau: float | None = None
    """What is recommended for the model."""
    proxy: str | None = None
    """An HTTP proxy in front of the server; those that the environment names do not count."""

    def __post_init__(self) -> None:
        _require_address("address of the embedding server (SCOREWRIGHT_EMBEDDER_URL)", self.url)
        if self.proxy is not None:
            _require_address(
                "proxy of the embedding server (SCOREWRIGHT_EMBEDDING__PROXY)", self.proxy, may_log_in=True
            )
        if self.key is not None and not HEADER_VALUE.fullmatch(self.key):
            raise ValueError(
                "The key of the embedding server (SCOREWRIGHT_EMBEDDER_API_KEY) has characters no header may have"
            )

    def __repr__(self) -> str:
        return f"Endpoint(url={self.url!r}, model={self.model!r})"

    def sent_headers(self) -> dict[str, str]:
        """The headers of every call, the key among them."""
        own = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        bearer = {"Authorization": f"Bearer {self.key}"} if self.key is not None else {}
        return own | bearer


def _require_address(what: str, address: str, *, may_log_in: bool = False) -> None:
    if fault := address_fault(address, may_log_in=may_log_in):
        raise ValueError(f"The {what} {fault}")
