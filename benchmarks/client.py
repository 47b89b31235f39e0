"""A load client that takes little for itself: HTTP/1.1 over kept connections, prepared requests, whole answers."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.servers import Server

CONNECTIONS = 4
ANSWER_SECONDS = 60

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


def get(path: str) -> bytes:
    """A GET request, as it goes over the wire."""
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()


def post(path: str, body: bytes) -> bytes:
    """A POST request with a JSON body, as it goes over the wire."""
    kind = "content-type: application/json"
    return f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


class Connection:
    """A kept connection: one request after the other."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer. RuntimeError if its status is not 200, TimeoutError if it does not come."""
        async with asyncio.timeout(ANSWER_SECONDS):
            self._writer.write(request)
            await self._writer.drain()
            head = await self._reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{head.decode()}{body[:2000].decode()}")
        return body


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Connection]:
    """A connection, closed at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


def answer_of(server: Server, request: bytes) -> bytes:
    """The body of the answer to a single request."""

    async def ask() -> bytes:
        async with connected(server) as connection:
            return await connection.ask(request)

    return asyncio.run(ask())


def cpu_per_request(server: Server, request: bytes, count: int) -> float:
    """Microseconds of CPU the server takes for a request, over `count` of them from four connections without pause."""
    before = server.cpu_seconds()
    asyncio.run(_drive(server, request, count))
    return (server.cpu_seconds() - before) / count * 1e6


async def _drive(server: Server, request: bytes, count: int) -> None:
    turns = iter(range(count))

    async def keep_asking() -> None:
        async with connected(server) as connection:
            for _ in turns:
                await connection.ask(request)

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(keep_asking())
