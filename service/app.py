"""The composition root: settings in, an ASGI application out."""

import ctypes
import gc
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from litestar import Litestar, Request, Response
from litestar.exceptions import HTTPException

from service import catalogue
from service.api.document import document
from service.api.edge import App, Edge
from service.api.handlers import Handlers
from service.api.page import page
from service.api.problems import INTERNAL, KINDS, METHOD, problem
from service.api.routes import ROUTES, handlers_of, not_allowed, respond
from service.config import Settings
from service.core.errors import NotFound
from service.embedding.choosing import embedder_of
from service.engine.lanes import Lane
from service.engine.run import Outside
from service.judge.choosing import judges_of
from service.metrics import Metrics
from service.primitives.pointer import nearest
from service.primitives.text import cut

LIBC = ctypes.CDLL(None)
M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -8, -3, -1
"""Of glibc's malloc.h."""


def build(settings: Settings) -> App:
    """The service, complete. ConfigError where the settings or an installed evaluator keep it from starting."""
    catalogue.refuse_faults()
    embedder = embedder_of(settings)
    judges = judges_of(settings.judges, os.environ)
    described = document()
    metrics = Metrics()
    lane = Lane(settings.limits.waiting_requests)
    shown = page(described, [catalogue.entry(kind) for kind in catalogue.EVALUATORS])
    handlers = Handlers(settings, metrics, lane, Outside(embedder, judges), (msgspec.json.encode(described), shown))
    metrics.embedding(embedder)
    metrics.judging(lambda: judges.figures)

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        yield
        lane.stop()
        embedder.close()
        judges.close()

    routed = Litestar(
        handlers_of(ROUTES, handlers),
        lifespan=[lifespan],
        exception_handlers={HTTPException: _unrouted},
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
    )
    return Edge(routed, settings, metrics)


def prepare() -> None:
    """Set the allocator up, before there are threads: few arenas, and large answers given back when they are sent."""
    if hasattr(LIBC, "mallopt"):
        for option, value in ((M_ARENA_MAX, 2), (M_MMAP_THRESHOLD, 1 << 20), (M_TRIM_THRESHOLD, 1 << 20)):
            LIBC.mallopt(option, value)


def tune() -> None:
    """Set the process up for this work: rare collections, and short turns for the scoring thread."""
    gc.collect()
    gc.freeze()
    if hasattr(LIBC, "malloc_trim"):
        LIBC.malloc_trim(0)  # loading a model leaves megabytes behind
    gc.set_threshold(50_000, 50, 100)
    sys.setswitchinterval(0.0005)


def _unrouted(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """No such path, or not with this method. Browsers at the front door are shown in."""
    path, method = request.scope["path"], request.scope["method"]
    if (method, path) == ("GET", "/") and "text/html" in request.headers.get("accept", "").lower():
        return Response(b"", status_code=307, headers={"location": "/docs", "vary": "accept"})
    if error.status_code == METHOD.status:
        answer = not_allowed(method, path, (error.headers or {}).get("allow", "").split(", "))
    elif error.status_code == KINDS[NotFound].status:
        hint = nearest(path, {route.path for route in ROUTES}) or "; /docs lists what there is"
        answer = problem(KINDS[NotFound], f"Nothing is served at {cut(path, 200)}{hint}", path)
    else:
        answer = problem(INTERNAL, "The request could not be routed", path)
    return respond(answer)
