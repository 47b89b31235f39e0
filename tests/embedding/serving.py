"""A real HTTP server on the loopback that answers as it is told."""

import base64
import json
import ssl
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, TypeVar

import pytest


@dataclass
class Asked:
    """A request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    json: Any


@dataclass
class Told:
    """What to answer. `body` may be made from the request; `chunks` go out one by one, without a length."""

    status: int = 200
    body: bytes | Callable[[Asked], bytes] = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterator[bytes] | None = None
    hang_up: bool = False
    hold: bool = False


def vector_of(text: str) -> list[float]:
    """What the server makes of a text: three numbers, not of length 1."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def data(vectors: Sequence[Any], indices: Sequence[Any] | None = None) -> bytes:
    rows = zip(indices if indices is not None else count(), vectors, strict=False)
    return json.dumps({"data": [{"index": index, "embedding": vector} for index, vector in rows]}).encode()


def base64_of(*numbers: float) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def echo(asked: Asked) -> bytes:
    """The right answer to any call, last vector first."""
    rows = [{"object": "embedding", "index": i, "embedding": vector_of(t)} for i, t in enumerate(asked.json["input"])]
    return json.dumps({"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 1}}).encode()


RIGHT = Told(body=echo)
LISTING = Told(body=b'{"object": "list", "data": [{"id": "first"}, {"id": "second"}]}')


class Server(ThreadingHTTPServer):
    """Answers embedding calls by `script`, then rightly; lists the models of `listing`.

    `arrived` is set by an embedding call; what is held is held until `released`.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Told] = []
        self.listing = LISTING
        self.asked: list[Asked] = []
        self.arrived = Event()
        self.released = Event()
        self._lock = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def embedded(self) -> list[list[str]]:
        """The texts of each embedding call that arrived."""
        return [asked.json["input"] for asked in self.asked if asked.path.endswith("/embeddings")]

    def answer(self, asked: Asked) -> Told:
        with self._lock:
            self.asked.append(asked)
            if asked.path.endswith("/models"):
                return self.listing
            self.arrived.set()
            return self.script.pop(0) if self.script else RIGHT


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def log_message(self, *_: Any) -> None:
        pass

    def _serve(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, body)
        told = self.server.answer(asked)
        if told.hold:
            self.server.released.wait()
        if told.hang_up or told.hold:
            self.close_connection = True
            return
        try:
            self._send(told, asked)
        except OSError:
            self.close_connection = True

    def _send(self, told: Told, asked: Asked) -> None:
        body = told.body(asked) if callable(told.body) else told.body
        self.send_response(told.status)
        for name, value in told.headers.items():
            self.send_header(name, value)
        if told.chunks is None:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in told.chunks:
            self.wfile.write(chunk)


S = TypeVar("S", bound=Server)


@contextmanager
def running(server: S, tls: ssl.SSLContext | None) -> Iterator[S]:
    """A server in a thread, gone when the block ends."""
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server of its own for one test, gone when the block ends."""
    with running(Server(), tls) as server:
        yield server


def certified(folder: Path) -> ssl.SSLContext:
    """TLS with a certificate that nobody vouches for."""
    made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=a"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    try:
        subprocess.run(["openssl", *made, *names], cwd=folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl to make a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


class Choosy(Server):
    """Refuses calls with a text that it `refuses`, and `says` why."""

    def __init__(self) -> None:
        super().__init__()
        self.status = 413
        self.refuses: Callable[[str], bool] = lambda text: "bad" in text
        self.says: Callable[[Asked], Any] = lambda asked: {"error": f"{len(asked.json['input'])} of them too long"}

    def answer(self, asked: Asked) -> Told:
        told = super().answer(asked)
        if told is RIGHT and any(map(self.refuses, asked.json["input"])):
            return Told(self.status, json.dumps(self.says(asked)).encode())
        return told
