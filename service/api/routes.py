"""The route table: HTTP and the API's description both read it."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from service.api.handlers import Call, Handlers
from service.api.problems import CLIENT_CLOSED, Answer, answer_to
from service.catalogue import Entry
from service.core import errors
from service.core.errors import ServiceError
from service.engine.batch import Batch, Results
from service.engine.lanes import Abandoned
from service.engine.trying import PathTrial, Selection
from service.engine.validating import Validation


class Catalogue(Struct):
    """Every evaluator."""

    evaluators: list[Entry]


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

log = logging.getLogger("scorewright.failures")


def handler_of(route: Route, handlers: Handlers) -> HTTPRouteHandler:
    """The route as the router takes it: raw bytes in, raw bytes out."""

    async def endpoint(request: Request[Any, Any, Any]) -> Response[bytes]:
        call = Call(request.scope["exchange"], request.receive, request.scope["path"], request.path_params)  # type: ignore[typeddict-item]
        return respond(await _answer(route, handlers, call))

    path = route.path.replace("}", ":str}")
    return HTTPRouteHandler(path, http_method=route.method, name=f"{route.method} {route.path}")(endpoint)


async def _answer(route: Route, handlers: Handlers, call: Call) -> Answer:
    try:
        return await route.handler(handlers, call)
    except ServiceError as error:
        return answer_to(error, call.path)
    except Abandoned:
        return Answer(CLIENT_CLOSED, b"", [])
    except Exception as error:
        log.exception("request %s failed", call.exchange.id.decode())
        return answer_to(error, call.path)


def respond(answer: Answer) -> Response[bytes]:
    """An answer as the router sends it."""
    headers = {name.decode(): value.decode("latin-1") for name, value in answer.headers}
    return Response(answer.body, status_code=answer.status, headers=headers, media_type=headers.get("content-type"))
