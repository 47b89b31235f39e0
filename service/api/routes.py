"""The route table: HTTP and the API's description both read it."""

import logging
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal

from litestar import Request, Response
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler
from litestar.types import Receive, Scope, Send
from msgspec import Struct

from service.api.edge import Exchange
from service.api.handlers import Call, Handlers
from service.api.problems import CLIENT_CLOSED, METHOD, Answer, answer_to, problem
from service.catalogue import Entry
from service.core import errors
from service.core.errors import ServiceError
from service.core.judging import JudgeInfo
from service.engine.batch import Batch, Results
from service.engine.clustering import Clusters, ClustersRequest
from service.engine.comparing import Similarity, SimilarityRequest
from service.engine.embeddings import EmbeddingList, EmbeddingsRequest, ModelList, ModelRow
from service.engine.lanes import Abandoned
from service.engine.stability.results import PromptMetricsResult
from service.engine.stability.wire import PromptMetrics
from service.engine.suites.results import SuiteResults
from service.engine.suites.wire import Suite
from service.engine.trying import PathTrial, Selection
from service.engine.validating import Validation


class Catalogue(Struct):
    """Every evaluator."""

    evaluators: list[Entry]


class JudgeList(Struct):
    """Every judge that a rule may name; no address, no key."""

    judges: list[JudgeInfo]


class Health(Struct):
    """`missing` names what is not there and how to bring it."""

    status: str
    missing: list[str] = []


class Route(Struct, frozen=True, kw_only=True):
    """One method and path: what comes in, what goes out, who answers, what can go wrong."""

    method: Literal["GET", "POST"]
    path: str
    summary: str
    handler: Callable[[Handlers, Call], Awaitable[Answer]]
    request: Any = None
    response: Any = None
    media_type: str = "application/json"
    problems: tuple[type[ServiceError], ...] = ()


BODY = (
    errors.NotJsonBody,
    errors.SlowBody,
    errors.TooLarge,
    errors.UnsupportedMedia,
    errors.Invalid,
    errors.Overloaded,
)

EMBEDDING = (*BODY, errors.ModelUnavailable)

ROUTES = (
    Route(
        method="POST",
        path="/v1/evaluations",
        summary="Evaluate items with rules",
        handler=Handlers.evaluate,
        request=Batch,
        response=Results,
        problems=BODY,
    ),
    Route(
        method="POST",
        path="/v1/evaluations/validate",
        summary="Check a batch and count its cost, without running it",
        handler=Handlers.validate,
        request=Batch,
        response=Validation,
        problems=tuple(kind for kind in BODY if kind is not errors.Invalid),
    ),
    Route(
        method="POST",
        path="/v1/suites",
        summary="Grade versions of a prompt on cases, and compare them",
        handler=Handlers.suite,
        request=Suite,
        response=SuiteResults,
        problems=BODY,
    ),
    Route(
        method="POST",
        path="/v1/prompt-metrics",
        summary="Measure how stable the responses to a prompt are",
        handler=Handlers.prompt_metrics,
        request=PromptMetrics,
        response=PromptMetricsResult,
        problems=BODY,
    ),
    Route(
        method="POST",
        path="/v1/embeddings",
        summary="Embed texts, as OpenAI's clients ask for it",
        handler=Handlers.embeddings,
        request=EmbeddingsRequest,
        response=EmbeddingList,
        problems=(*EMBEDDING, errors.NotFound),
    ),
    Route(
        method="GET",
        path="/v1/models",
        summary="The embedding model and its names",
        handler=Handlers.models,
        response=ModelList,
    ),
    Route(
        method="GET",
        path="/v1/models/{model}",
        summary="The embedding model under one of its names",
        handler=Handlers.model,
        response=ModelRow,
        problems=(errors.NotFound, errors.ModelUnavailable),
    ),
    Route(
        method="POST",
        path="/v1/similarity",
        summary="Cosines of pairs of texts",
        handler=Handlers.similarity,
        request=SimilarityRequest,
        response=Similarity,
        problems=EMBEDDING,
    ),
    Route(
        method="POST",
        path="/v1/clusters",
        summary="Group texts or vectors that are near each other",
        handler=Handlers.clusters,
        request=ClustersRequest,
        response=Clusters,
        problems=EMBEDDING,
    ),
    Route(
        method="POST",
        path="/v1/paths",
        summary="Try a JSONPath on a document",
        handler=Handlers.try_path,
        request=PathTrial,
        response=Selection,
        problems=BODY,
    ),
    Route(
        method="GET",
        path="/v1/evaluators",
        summary="The catalogue of evaluators",
        handler=Handlers.evaluators,
        response=Catalogue,
    ),
    Route(
        method="GET",
        path="/v1/evaluators/{type}",
        summary="One evaluator of the catalogue",
        handler=Handlers.evaluator,
        response=Entry,
        problems=(errors.NotFound,),
    ),
    Route(
        method="GET",
        path="/v1/judges",
        summary="The judges there are",
        handler=Handlers.judges,
        response=JudgeList,
    ),
    Route(
        method="GET",
        path="/v1/limits",
        summary="Every limit in force",
        handler=Handlers.limits,
        response=dict[str, Any],
    ),
    Route(method="GET", path="/livez", summary="Liveness", handler=Handlers.livez, response=Health),
    Route(method="GET", path="/readyz", summary="Readiness", handler=Handlers.readyz, response=Health),
    Route(
        method="GET",
        path="/metrics",
        summary="Metrics for Prometheus",
        handler=Handlers.metrics,
        response=str,
        media_type="text/plain",
    ),
    Route(
        method="GET",
        path="/openapi.json",
        summary="This description",
        handler=Handlers.openapi,
        response=dict[str, Any],
    ),
    Route(
        method="GET",
        path="/docs",
        summary="This description, for people",
        handler=Handlers.docs,
        response=str,
        media_type="text/html",
    ),
)

PARAMETERS = {"type": "str", "model": "path"}
"""Parameters of paths, and what the router takes for them; the ids of models have slashes."""

log = logging.getLogger("scorewright.failures")


def handlers_of(routes: Iterable[Route], handlers: Handlers) -> list[ASGIRouteHandler | HTTPRouteHandler]:
    """The routes as the router takes them, one handler a path: raw messages in, raw messages out."""
    by_path: defaultdict[str, dict[str, Route]] = defaultdict(dict)
    for route in routes:
        by_path[route.path][route.method] = route
    return [_handler_of(path, by_method, handlers) for path, by_method in by_path.items()]


def _handler_of(path: str, routes: Mapping[str, Route], handlers: Handlers) -> ASGIRouteHandler | HTTPRouteHandler:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        exchange: Exchange = scope["exchange"]  # type: ignore[typeddict-item]
        await exchange.answer(await _answer(routes, handlers, exchange, scope, receive))

    async def parametrised(request: Request[Any, Any, Any]) -> Response[bytes]:
        exchange: Exchange = request.scope["exchange"]  # type: ignore[typeddict-item]
        return respond(await _answer(routes, handlers, exchange, request.scope, request.receive))

    if "{" not in path:
        return ASGIRouteHandler(path, name=path, copy_scope=False)(endpoint)
    # The router fails on an ASGI handler with path parameters.
    typed = re.sub(r"{(\w+)}", lambda found: f"{{{found[1]}:{PARAMETERS[found[1]]}}}", path)
    return HTTPRouteHandler(typed, name=path, http_method=[route.method for route in routes.values()])(parametrised)


async def _answer(
    routes: Mapping[str, Route], handlers: Handlers, exchange: Exchange, scope: Any, receive: Receive
) -> Answer:
    path, method = scope["path"], scope["method"]
    if method not in routes:
        return not_allowed(method, path, routes)
    try:
        return await routes[method].handler(handlers, Call(exchange, receive, path, scope["path_params"]))
    except ServiceError as error:
        return answer_to(error, path)
    except Abandoned:
        return Answer(CLIENT_CLOSED, b"", [])
    except Exception as error:
        log.exception("request %s failed", exchange.id.decode())
        return answer_to(error, path)


def not_allowed(method: str, path: str, allowed: Iterable[str]) -> Answer:
    """The answer to a method that a path does not have."""
    listed = ", ".join(allowed)
    return problem(METHOD, f"{method} is not allowed here, only {listed}", path, headers=[(b"allow", listed.encode())])


def respond(answer: Answer) -> Response[bytes]:
    """An answer as the router sends it."""
    headers = {name.decode(): value.decode("latin-1") for name, value in answer.headers}
    return Response(answer.body, status_code=answer.status, headers=headers, media_type=headers.get("content-type"))
