"""Every Prometheus metric of the service."""

from collections.abc import Mapping
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from service import __version__
from service.core.outcome import Status

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
BYTES = (256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)

Labelled = TypeVar("Labelled", Counter, Histogram)


class Metrics:
    """The metrics of one application, in a registry of its own."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._children: dict[tuple[Counter | Histogram, tuple[str, ...]], Counter | Histogram] = {}
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._requests = self._counter("requests", "Requests answered.", "method", "route", "code")
        self._latency = self._histogram(
            "request_seconds", "From the first byte in to the last byte out.", SECONDS, "route"
        )
        self._bytes_in = self._histogram(
            "request_body_bytes", "Bodies as they are read, after inflating.", BYTES, "route"
        )
        self._bytes_out = self._histogram("response_body_bytes", "Bodies of answers.", BYTES, "route")
        self._evaluations = self._counter("evaluations", "Evaluations returned.", "type", "status")
        self._seconds = self._counter("evaluation_seconds", "Time spent judging.", "type")
        self._items = self._counter("items", "Items returned.", "status")
        self._deduplicated = self._counter("deduplicated", "Evaluations that an equal one in the request answered.")
        self.in_flight = self._gauge("requests_in_flight", "Requests being answered.")
        self.waiting = self._gauge("queue_requests", "Large requests in work or waiting for the scoring thread.")
        self._gauge("build_info", "The version that is running.", "version").labels(__version__).set(1)

    def request(self, method: str, route: str, code: int, seconds: float, bytes_in: int, bytes_out: int) -> None:
        """Count a request that has been answered."""
        self._child(self._requests, method, route, str(code)).inc()
        self._child(self._latency, route).observe(seconds)
        self._child(self._bytes_in, route).observe(bytes_in)
        self._child(self._bytes_out, route).observe(bytes_out)

    def batch(
        self,
        evaluations: Mapping[tuple[str, Status], int],
        items: Mapping[Status, int],
        seconds: Mapping[str, float],
        deduplicated: int,
    ) -> None:
        """Add the tallies of a batch: evaluations by (type, status), items by status, seconds by type."""
        for (kind, status), count in evaluations.items():
            self._child(self._evaluations, kind, status).inc(count)
        for status, count in items.items():
            self._child(self._items, status).inc(count)
        for kind, spent in seconds.items():
            self._child(self._seconds, kind).inc(spent)
        self._deduplicated.inc(deduplicated)

    def _child(self, parent: Labelled, *labels: str) -> Labelled:
        """A metric under its labels: looking it up in the library takes longer than counting."""
        key = parent, labels
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = parent.labels(*labels)
        return child  # type: ignore[return-value]

    def exposition(self) -> bytes:
        """The text that Prometheus scrapes."""
        return generate_latest(self.registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"scorewright_{name}", text, labels, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"scorewright_{name}", text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"scorewright_{name}", text, labels, registry=self.registry, buckets=buckets)
