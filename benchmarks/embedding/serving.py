"""The service with settings of its own, as a process on one core."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from benchmarks.embedding.contestant import SETTINGS
from benchmarks.machine import SERVER_CORE
from benchmarks.servers import ROOT, START_SECONDS, STOP_SECONDS, Server
from service.config import PREFIX


@contextmanager
def scorewright(settings: Mapping[str, str]) -> Iterator[Server]:
    """It is ready. RuntimeError if it does not start."""
    port = _free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with subprocess.Popen(
        [sys.executable, "-m", "service", "serve", "--port", str(port)],
        cwd=ROOT,
        env=environment | SETTINGS | dict(settings),
        stderr=subprocess.DEVNULL,
    ) as process:
        os.sched_setaffinity(process.pid, {SERVER_CORE})  # before it has threads
        try:
            _await_listening(process, port)
            yield Server(port, process.pid)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


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
