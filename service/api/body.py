"""Bodies of requests: read whole, in time, inflated, and never more of them than a limit allows."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import zstandard

from service.config import Limits
from service.core.errors import NotJsonBody, Overloaded, SlowBody, TooLarge, UnsupportedMedia
from service.engine.lanes import Abandoned

INFLATE_INLINE_BYTES = 4 * 1024
MAX_WINDOW_BYTES = 8 * 1024 * 1024
MAX_MEMBERS = 64
CODINGS = "gzip, zstd, identity"

Receive = Callable[[], Awaitable[Any]]
Headers = dict[bytes, bytes]


class Bodies:
    """Reads bodies, and counts what is held of them at once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0

    def json(self, headers: Headers, receive: Receive) -> "_Body":
        """The body of a request that must be JSON, for a block at whose end it no longer counts as held.

        UnsupportedMedia, TooLarge, SlowBody, Overloaded or NotJsonBody where it cannot be had; Abandoned where the
        client has gone.
        """
        return _Body(self, headers, receive)

    async def read(self, headers: Headers, receive: Receive, holding: "_Holding") -> bytes:
        """The body, inflated; what is held of it is counted."""
        _require_json(headers.get(b"content-type", b""))
        coding = _coding(headers)
        wire = await self._read(headers, receive, holding)
        if coding == b"identity":
            return wire
        body = await self._inflated(wire, coding)
        holding.add(len(body) - len(wire))
        return body

    async def _read(self, headers: Headers, receive: Receive, holding: "_Holding") -> bytes:
        announced = headers.get(b"content-length", b"")
        if announced.isdigit() and int(announced) > self._limits.body_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await self._gather(receive, holding)
        except TimeoutError:
            allowed = f"{self._limits.body_seconds:g} s (body_seconds at /v1/limits)"
            raise SlowBody(f"The body did not arrive within {allowed}", {"Connection": "close"}) from None

    async def _gather(self, receive: Receive, holding: "_Holding") -> bytes:
        chunks = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Abandoned
            chunk = message.get("body", b"")
            size += len(chunk)
            if size > self._limits.body_bytes:
                raise self._too_large()
            holding.add(len(chunk))
            chunks.append(chunk)
            if not message.get("more_body"):
                return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _inflated(self, wire: bytes, coding: bytes) -> bytes:
        limit = self._limits.body_bytes
        if len(wire) <= INFLATE_INLINE_BYTES:
            body = inflate(wire, coding, limit)
        else:
            body = await asyncio.to_thread(inflate, wire, coding, limit)
        if body is None:
            raise self._too_large()
        return body

    def hold(self, size: int) -> None:
        """Count bytes that are held from now on; Overloaded if that is more than all requests together may."""
        if self._held + size > self._limits.body_bytes_in_flight:
            allowed = f"{self._limits.body_bytes_in_flight:,} bytes (body_bytes_in_flight at /v1/limits)"
            raise Overloaded(f"The bodies in work are over {allowed}", {"Retry-After": "1"})
        self._held += size

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is over the limit of {self._limits.body_bytes:,} bytes (body_bytes at /v1/limits)")


class _Body:
    """A body while it is in use; a class, since a generator would take three times as long to enter and leave."""

    def __init__(self, bodies: Bodies, headers: Headers, receive: Receive) -> None:
        self._bodies = bodies
        self._headers = headers
        self._receive = receive
        self._holding = _Holding(bodies)

    async def __aenter__(self) -> bytes:
        try:
            return await self._bodies.read(self._headers, self._receive, self._holding)
        except BaseException:
            self._holding.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._holding.release()


class _Holding:
    """What one request holds of the bytes that all may hold together."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._size = 0

    def add(self, size: int) -> None:
        self._bodies.hold(size)
        self._size += size

    def release(self) -> None:
        self._bodies.hold(-self._size)


def inflate(wire: bytes, coding: bytes, limit: int) -> bytes | None:
    """The body behind a coding, None if it is over `limit` bytes. NotJsonBody if it is not so coded."""
    try:
        return _gunzip(wire, limit) if coding == b"gzip" else _unzstd(wire, limit)
    except (zlib.error, zstandard.ZstdError) as exc:
        raise NotJsonBody(f"The body is not {coding.decode()}, as Content-Encoding says: {exc}") from None


def _gunzip(wire: bytes, limit: int) -> bytes | None:
    parts: list[bytes] = []
    left = limit
    while wire and len(parts) < MAX_MEMBERS:
        member = zlib.decompressobj(wbits=31)
        parts.append(member.decompress(wire, left + 1))
        left -= len(parts[-1])
        if left < 0:
            return None
        if not member.eof:
            raise zlib.error("it is cut short")
        wire = member.unused_data
    if wire:
        raise zlib.error(f"it has more than {MAX_MEMBERS} members")
    return b"".join(parts)


def _unzstd(wire: bytes, limit: int) -> bytes | None:
    # A decompressor is not safe to share between threads; max_output_size is ignored for frames that state their size.
    reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(wire, read_across_frames=True)
    body = reader.read(limit + 1)
    return None if len(body) > limit else body


def _require_json(content_type: bytes) -> None:
    kind = content_type.partition(b";")[0].strip().lower()
    if kind != b"application/json" and not (kind.startswith(b"application/") and kind.endswith(b"+json")):
        sent = content_type.decode("latin-1")[:100] or "nothing"
        raise UnsupportedMedia(f"Content-Type says {sent}: send application/json", {"Accept-Post": "application/json"})


def _coding(headers: Headers) -> bytes:
    coding = headers.get(b"content-encoding", b"identity").strip().lower() or b"identity"
    if coding not in (b"gzip", b"zstd", b"identity"):
        sent = coding.decode("latin-1")[:100]
        raise UnsupportedMedia(f"Content-Encoding {sent} is not read: send {CODINGS}", {"Accept-Encoding": CODINGS})
    return coding
