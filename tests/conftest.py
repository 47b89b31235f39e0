"""Hypothesis profile, and the real service over a real socket."""

import os
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import HealthCheck, settings

from tests.counts import COUNTS
from tests.serving import Served, served

settings.register_profile(
    "house",
    deadline=None,
    max_examples=100,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in COUNTS:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def service() -> Iterator[Served]:
    """One running service, with the default settings, for every test that does not need its own."""
    with served() as running:
        yield running


@pytest.fixture(scope="session")
def client(service: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, timeout=60) as session:
        yield session
