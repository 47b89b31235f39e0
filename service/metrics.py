"""Every Prometheus metric of the service."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from math import isinf
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from service import __version__
from service.core.counts import Counts
from service.core.errors import ModelUnavailable
from service.core.ports import Embedder

UNAVAILABLE = "judge_unavailable"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
BYTES = (256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)

Labelled = TypeVar("Labelled", Counter, Histogram)


EMBEDDING_COUNTERS = {
    "texts": "Texts that the model has read.",
    "tokens": "Tokens that the model has read.",
    "padding": "Tokens computed only because a longer text was in the run: tokens + padding is the work.",
    "truncated": "Texts that were too long for the model.",
    "runs": "Runs of the model.",
    "run_seconds": "Time in the model, summed over its threads.",
    "queue_seconds": "Time that texts waited for a run.",
    "cache_hits": "Texts answered by a vector that was kept.",
    "cache_misses": "Texts that no kept vector answered.",
}
JUDGE_COUNTERS = {
    "retries": "Calls that were tried again.",
    "throttled": "Answers that said it was too much.",
    "shared": "Questions answered by the call of an equal one.",
    "cache_hits": "Questions answered by a reply that was kept.",
    "input_tokens": "Tokens sent.",
    "output_tokens": "Tokens received.",
    "attempts": "Requests sent: one for each time that a call was tried, or asked in another form.",
    "seconds": "Time in tries of calls, summed.",
}
CALL_SECONDS = "From sending a call to its answer, each try by itself."
JUDGE_GAUGES = {
    "in_flight": "Calls under way.",
    "waiting": "Calls that wait for their turn.",
    "concurrency": "Calls that may be under way at once, as things are.",
}
EMBEDDING_GAUGES = {"waiting": "Texts that wait or are in a run.", "cached": "Vectors that are kept."}


class _EmbeddingCollector(Collector):
    """Reads the embedder's own figures when it is scraped."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def collect(self) -> Iterator[Metric]:
        figures = self._embedder.figures
        for name, text in EMBEDDING_COUNTERS.items():
            yield CounterMetricFamily(f"scorewright_embedding_{name}", text, value=getattr(figures, name))
        for name, text in EMBEDDING_GAUGES.items():
            yield GaugeMetricFamily(f"scorewright_embedding_{name}", text, value=getattr(figures, name))
        is_well = float(self._embedder.fault is None)
        yield GaugeMetricFamily("scorewright_embedding_up", "1 if the model answered when last asked.", value=is_well)
        info = GaugeMetricFamily(
            "scorewright_model_info", "The embedding model.", labels=["model", "fingerprint", "dimensions"]
        )
        with suppress(ModelUnavailable):
            model = self._embedder.model
            info.add_metric([model.id, model.fingerprint, str(model.dimensions)], 1)
        yield info


class _JudgeCollector(Collector):
    """Reads the judges' own figures when it is scraped."""

    def __init__(self, figures: Callable[[], Mapping[str, Any]]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        figures = self._figures()
        calls = _counter("calls", "Calls by what became of them; judge_unavailable by its cause.", "outcome", "cause")
        breaker = _gauge("breaker", "1 for the state it is in.", "state")
        seconds = HistogramMetricFamily("scorewright_judge_call_seconds", CALL_SECONDS, labels=["judge"])
        for judge, one in figures.items():
            breaker.add_metric([judge, one.breaker], 1)
            for (outcome, cause), count in _outcomes(one):
                calls.add_metric([judge, outcome, cause], count)
            seconds.add_metric([judge], *_cumulated(one))
        yield from (calls, breaker, seconds)
        for make, texts in ((_counter, JUDGE_COUNTERS), (_gauge, JUDGE_GAUGES)):
            for name, text in texts.items():
                family = make(name, text)
                for judge, one in figures.items():
                    family.add_metric([judge], getattr(one, name))
                yield family


def _outcomes(figures: Any) -> Iterator[tuple[tuple[str, str], int]]:
    """Counts by outcome and cause."""
    for outcome, count in figures.calls.items():
        if outcome != UNAVAILABLE:
            yield (outcome, ""), count
    for cause, count in figures.causes.items():
        yield (UNAVAILABLE, cause), count


def _cumulated(figures: Any) -> tuple[list[tuple[str, float]], float]:
    """Tries up to each bound, and the seconds of all."""
    counts = accumulate(figures.durations.get(bound, 0) for bound in figures.bounds)
    bounds = ["+Inf" if isinf(bound) else str(bound) for bound in figures.bounds]
    return list(zip(bounds, counts, strict=True)), figures.seconds


def _counter(name: str, text: str, *labels: str) -> CounterMetricFamily:
    return CounterMetricFamily(f"scorewright_judge_{name}", text, labels=["judge", *labels])


def _gauge(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"scorewright_judge_{name}", text, labels=["judge", *labels])


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
        self._unjudged = self._counter(
            "judge_unjudged",
            "Judgements for which a judge gave no verdict, by the reason of not_graded.",
            "judge",
            "reason",
        )
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

    def evaluated(self, counts: Counts) -> None:
        """Add what was evaluated for an answer."""
        for (kind, status), count in counts.evaluations.items():
            self._child(self._evaluations, kind, status).inc(count)
        for status, count in counts.items.items():
            self._child(self._items, status).inc(count)
        for kind, spent in counts.seconds.items():
            self._child(self._seconds, kind).inc(spent)
        self._deduplicated.inc(counts.deduplicated)
        for (judge, reason), count in counts.unjudged.items():
            self._child(self._unjudged, judge, reason).inc(count)

    def embedding(self, embedder: Embedder) -> None:
        """Publish what the embedder does."""
        self.registry.register(_EmbeddingCollector(embedder))

    def judging(self, figures: Callable[[], Mapping[str, Any]]) -> None:
        """Publish what the judges do, by their names."""
        self.registry.register(_JudgeCollector(figures))

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
