"""Servers to measure: each a process of its own, on a free port of the loopback and on a core of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.machine import SERVER_CORE, cpu_seconds, pin

ROOT = Path(__file__).parent.parent
START_SECONDS = 60
STOP_SECONDS = 30


class Server(NamedTuple):
    """A running server."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """CPU time it has taken since it started."""
        return cpu_seconds(self.pid)


@contextmanager
def scorewright(settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[Server]:
    """The service as its users start it, with its default settings but for those in the environment given."""
    port = _free_port()
    with _serving(port, ["service", "serve", "--port", str(port)], SERVER_CORE, settings) as server:
        yield server


@contextmanager
def peer(name: str, *options: str) -> Iterator[Server]:
    """A module of `benchmarks.peers`, run as a program."""
    with program(f"benchmarks.peers.{name}", *options) as server:
        yield server


@contextmanager
def program(module: str, *options: str, core: int = SERVER_CORE) -> Iterator[Server]:
    """A module run as a program, which serves on the port that its first argument names."""
    port = _free_port()
    with _serving(port, [module, str(port), *options], core, {}) as server:
        yield server


@contextmanager
def _serving(port: int, command: list[str], core: int, settings: Mapping[str, str]) -> Iterator[Server]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCOREWRIGHT_")}
    process = subprocess.Popen(
        [sys.executable, "-m", *command], cwd=ROOT, env={**environment, **settings}, stderr=subprocess.DEVNULL
    )
    try:
        _await_listening(process, port)
        pin(process.pid, core)
        yield Server(port, process.pid)
    finally:
        _stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_listening(process: subprocess.Popen[bytes], port: int) -> None:
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the server did not start; run it by hand: {process.args!r}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
