"""What each route does."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from service import catalogue
from service.api.body import Bodies
from service.api.codec import decode, encode
from service.api.edge import Exchange
from service.api.limits import in_force
from service.api.problems import Answer
from service.config import Limits, Settings
from service.core.errors import Invalid, NotFound
from service.engine.batch import Batch
from service.engine.clustering import ClustersRequest, clustering
from service.engine.comparing import SimilarityRequest, comparing
from service.engine.embeddings import EmbeddingsRequest, embedding, model_named, models
from service.engine.evaluating import evaluating, is_light
from service.engine.lanes import LARGE_BYTES, Lane, Steps, drain
from service.engine.run import Outside
from service.engine.stability.answering import measuring
from service.engine.stability.wire import PromptMetrics
from service.engine.suites.answering import answering as suite_answer
from service.engine.suites.wire import Suite
from service.engine.trying import PathTrial, trying
from service.engine.validating import refused, validating
from service.engine.writing import Answered
from service.metrics import Metrics
from service.primitives.pointer import nearest
from service.primitives.text import cut

T = TypeVar("T")

Act: TypeAlias = Callable[[T, Limits, Outside, float, int, int], Steps[Answered]]
"""A request acted on: when it arrived, the bytes of its body, and the surrogates that were replaced in it follow."""

JSON = [(b"content-type", b"application/json")]
TEXT = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8")]
HTML = [
    (b"content-type", b"text/html; charset=utf-8"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
]


class Call(Struct):
    """One request as a handler sees it."""

    exchange: Exchange
    receive: Callable[[], Awaitable[Any]]
    path: str
    parameters: dict[str, Any]


class Handlers:
    """The handlers, with what they share."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        lane: Lane,
        outside: Outside,
        described: tuple[bytes, bytes],
    ) -> None:
        """`described` is the API for machines and for people."""
        self._settings = settings
        self._limits = settings.limits
        self._embedder = outside.embedder
        self._judges = outside.judges
        self._bodies = Bodies(settings.limits)
        self._metrics = metrics
        self._lane = lane
        self._document, self._page = described
        entries = [catalogue.entry(kind) for kind in catalogue.EVALUATORS]
        self._entries = {entry.type: encode(entry) for entry in entries}
        self._catalogue = encode({"evaluators": entries})

    async def evaluate(self, call: Call) -> Answer:
        """Items x evaluators."""
        async with self._bodies.json(call.exchange.headers, call.receive) as body:
            call.exchange.bytes_in = len(body)
            return self._counted(await self._evaluated(body, call), call)

    async def suite(self, call: Call) -> Answer:
        """Versions x cases x repeats."""
        return await self._counting(call, Suite, suite_answer)

    async def prompt_metrics(self, call: Call) -> Answer:
        """How stable the responses to a prompt are."""
        return await self._counting(call, PromptMetrics, measuring)

    async def validate(self, call: Call) -> Answer:
        """The same body, nothing run."""
        async with self._bodies.json(call.exchange.headers, call.receive) as body:
            call.exchange.bytes_in = len(body)
            return await self._in_lane(self._validation(body, call.exchange.started), call)

    async def try_path(self, call: Call) -> Answer:
        """A JSONPath on a document."""
        return await self._stepped(call, PathTrial, lambda trial: trying(trial, self._limits))

    async def embeddings(self, call: Call) -> Answer:
        """Vectors of texts."""
        own = self._settings.embedding
        return await self._stepped(
            call,
            EmbeddingsRequest,
            lambda request: embedding(request, self._embedder, own, self._limits, call.exchange.started),
        )

    async def models(self, call: Call) -> Answer:  # noqa: ARG002
        """The embedding model."""
        return Answer(200, encode(models(self._embedder, self._settings.embedding)), JSON)

    async def model(self, call: Call) -> Answer:
        """The embedding model by one of its names."""
        name = call.parameters["model"].removeprefix("/")
        return Answer(200, encode(model_named(name, self._embedder, self._settings.embedding)), JSON)

    async def similarity(self, call: Call) -> Answer:
        """Cosines of pairs of texts."""
        return await self._stepped(
            call,
            SimilarityRequest,
            lambda request: comparing(request, self._embedder, self._limits, call.exchange.started),
        )

    async def clusters(self, call: Call) -> Answer:
        """Groups of texts or vectors."""
        return await self._stepped(
            call,
            ClustersRequest,
            lambda request: clustering(request, self._embedder, self._limits, call.exchange.started),
        )

    async def evaluators(self, call: Call) -> Answer:  # noqa: ARG002
        """The catalogue."""
        return Answer(200, self._catalogue, JSON)

    async def evaluator(self, call: Call) -> Answer:
        """One row of the catalogue."""
        name = call.parameters["type"]
        if name not in self._entries:
            hint = nearest(name, self._entries) or f": known are {', '.join(self._entries)}"
            raise NotFound(f"There is no evaluator {cut(name, 100)!r}{hint}")
        return Answer(200, self._entries[name], JSON)

    async def judges(self, call: Call) -> Answer:  # noqa: ARG002
        """The judges there are."""
        return Answer(200, encode({"judges": list(self._judges.known.values())}), JSON)

    async def limits(self, call: Call) -> Answer:  # noqa: ARG002
        """Every limit in force."""
        return Answer(200, encode(in_force(self._limits)), JSON)

    async def livez(self, call: Call) -> Answer:  # noqa: ARG002
        """The process answers."""
        return Answer(200, b'{"status":"alive"}', JSON)

    async def readyz(self, call: Call) -> Answer:  # noqa: ARG002
        """Rules can run; what else is missing, and how to bring it."""
        if fault := self._embedder.fault:
            status = 503 if self._settings.require_model else 200
            state = "waiting" if self._settings.require_model else "ready"
            return Answer(status, encode({"status": state, "missing": [f"model: {fault.detail}"]}), JSON)
        return Answer(200, b'{"status":"ready","missing":[]}', JSON)

    async def metrics(self, call: Call) -> Answer:  # noqa: ARG002
        """Prometheus."""
        self._metrics.waiting.set(self._lane.waiting)
        return Answer(200, await asyncio.to_thread(self._metrics.exposition), TEXT)

    async def openapi(self, call: Call) -> Answer:  # noqa: ARG002
        """This API, as OpenAPI 3.1."""
        return Answer(200, self._document, JSON)

    async def docs(self, call: Call) -> Answer:  # noqa: ARG002
        """This API, for people."""
        return Answer(200, self._page, HTML)

    def _counted(self, answered: Answered, call: Call) -> Answer:
        """The answer, once it is counted what was evaluated for it."""
        if answered.counts is not None:
            self._metrics.evaluated(answered.counts)
        call.exchange.facts = answered.facts
        timing = f"run;dur={answered.seconds * 1000:.1f}".encode()
        return Answer(200, answered.body, [*JSON, (b"server-timing", timing)])

    async def _evaluated(self, body: bytes, call: Call) -> Answered:
        if len(body) > LARGE_BYTES:
            return await self._in_lane(self._decoded(body, Batch, evaluating, call), call)
        batch, replaced = decode(body, Batch, self._limits.json_depth)
        steps = evaluating(batch, self._limits, self._outside(call), call.exchange.started, len(body), replaced)
        return drain(steps) if is_light(batch, body) else await self._in_lane(steps, call)

    def _outside(self, call: Call) -> Outside:
        trace = {"x-request-id": call.exchange.id.decode()}
        if parent := call.exchange.headers.get(b"traceparent"):
            trace["traceparent"] = parent.decode("latin-1")[:200]
        return Outside(self._embedder, self._judges, trace)

    def _validation(self, body: bytes, arrived: float) -> Steps[Answer]:
        try:
            batch, _ = decode(body, Batch, self._limits.json_depth)
        except Invalid as exc:
            return Answer(200, encode(refused(exc.faults)), JSON)
        yield None
        return Answer(
            200, encode((yield from validating(batch, self._limits, self._judges.known, arrived, len(body)))), JSON
        )

    async def _counting(self, call: Call, kind: type[T], act: Act[T]) -> Answer:
        """Read a body of some kind, act on it in the lane, and count what was evaluated."""
        async with self._bodies.json(call.exchange.headers, call.receive) as body:
            call.exchange.bytes_in = len(body)
            return self._counted(await self._in_lane(self._decoded(body, kind, act, call), call), call)

    def _decoded(
        self,
        body: bytes,
        kind: type[T],
        act: Act[T],
        call: Call,
    ) -> Steps[Answered]:
        request, replaced = decode(body, kind, self._limits.json_depth)
        yield None
        arrived = call.exchange.started
        return (yield from act(request, self._limits, self._outside(call), arrived, len(body), replaced))

    async def _stepped(self, call: Call, kind: type[T], act: Callable[[T], Steps[Any]]) -> Answer:
        """Read a body of some kind and act on it, in the lane."""
        async with self._bodies.json(call.exchange.headers, call.receive) as body:
            call.exchange.bytes_in = len(body)
            return await self._in_lane(self._acted(body, kind, act), call)

    def _acted(self, body: bytes, kind: type[T], act: Callable[[T], Steps[Any]]) -> Steps[Answer]:
        request, _ = decode(body, kind, self._limits.json_depth)
        yield None
        result = yield from act(request)
        return Answer(200, result if isinstance(result, bytes) else encode(result), JSON)

    async def _in_lane(self, steps: Steps[T], call: Call) -> T:
        return await self._lane.run(steps, call.receive, call.exchange.bytes_in)
