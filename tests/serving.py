"""Starts the service as its users do: a process of its own, on a free port of the loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

ROOT = Path(__file__).parent.parent


@dataclass
class Served:
    """A running service."""

    url: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> tuple[int, str]:
        """End it as an orchestrator does; its exit status and what it logged."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60), self.log.read_text()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(**environment: str) -> Iterator[Served]:
    """A service with settings of its own, given by the names of environment variables without their prefix."""
    port = free_port()
    own = {f"SCOREWRIGHT_{name}": value for name, value in environment.items()}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SCOREWRIGHT_")}
    command = [sys.executable, "-m", "service", "serve", "--port", str(port)]
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as errors:
            process = subprocess.Popen(command, cwd=ROOT, env=inherited | own, stderr=errors)
        running = Served(f"http://127.0.0.1:{port}", port, process, log)
        try:
            _await_ready(running)
            yield running
        finally:
            process.terminate()
            process.wait(timeout=60)


def _await_ready(running: Served) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if running.process.poll() is not None:
            raise RuntimeError(running.log.read_text())
        try:
            httpx.get(f"{running.url}/livez")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the service did not start")
