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

import httpx

ROOT = Path(__file__).parent.parent


@dataclass
class Served:
    """A running service."""

    url: str
    port: int
    process: subprocess.Popen[str]

    def stop(self) -> tuple[int, str]:
        """End it as an orchestrator does; its exit status and what it logged."""
        self.process.send_signal(signal.SIGTERM)
        _, logged = self.process.communicate(timeout=60)
        return self.process.returncode, logged


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
    process = subprocess.Popen(
        [sys.executable, "-m", "service", "serve", "--port", str(port)],
        cwd=ROOT,
        env=inherited | own,
        stderr=subprocess.PIPE,
        text=True,
    )
    running = Served(f"http://127.0.0.1:{port}", port, process)
    try:
        _await_ready(running)
        yield running
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=60)


def _await_ready(running: Served) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        if running.process.poll() is not None:
            raise RuntimeError(running.process.communicate()[1])
        try:
            httpx.get(f"{running.url}/livez")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the service did not start")
