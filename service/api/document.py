"""The API's description, OpenAPI 3.1, made from the route table and the Structs."""

from typing import Any

import msgspec

from service import __version__
from service.api.problems import KINDS, Problem
from service.api.routes import PARAMETERS, ROUTES, Route
from service.catalogue import EVALUATORS, type_name
from service.core.errors import ServiceError, Unauthorized, UnknownHost
from service.engine.batch import Batch
from service.engine.clustering import ClustersRequest
from service.engine.embeddings import EmbeddingsRequest
from service.engine.stability.wire import PromptMetrics
from service.engine.suites.wire import Suite
from service.engine.validating import Validation

EVERYWHERE: tuple[type[ServiceError], ...] = (Unauthorized, UnknownHost)

ANY_BATCH = {
    "description": "Meant to be a Batch, as in /v1/evaluations; of any other JSON the answer says what is wrong."
}

TOLD = (Batch, EmbeddingsRequest, ClustersRequest, Suite, PromptMetrics)
"""Bodies of which more is told than their types say."""

TEXTS = [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]

_PARAMETERS = {
    "type": {"type": "string", "enum": [type_name(kind) for kind in EVALUATORS]},
    "model": {"type": "string", "description": "`default`, the model's id, or an alias."},
}

DESCRIPTION = """\
Post LLM outputs with the rules to judge them by; get evaluations back. Nothing is kept between requests.

Wrong and "could not judge" are different things here: only `passed` and `failed` carry a score; every other status says
why there is none. Faults of a request are problem documents (RFC 9457) with every fault and its place in the body."""


def document() -> dict[str, Any]:
    """The whole document; equal for equal code."""
    types = [kind for route in ROUTES for kind in (route.request, route.response) if kind is not None]
    schemas, components = msgspec.json.schema_components([*types, Problem], ref_template="#/components/schemas/{name}")
    by_type = dict(zip([*map(id, types), id(Problem)], schemas, strict=True))
    # A class of ours has another name here where a package brings one of the same name.
    own = {kind: components[by_type[id(kind)]["$ref"].rpartition("/")[2]] for kind in TOLD}
    _describe_batch(own[Batch])
    own[EmbeddingsRequest]["properties"]["input"] |= {"anyOf": TEXTS}
    own[ClustersRequest]["oneOf"] = [{"required": ["texts"]}, {"required": ["embeddings"]}]
    version = own[Suite]["properties"]["versions"]["items"]["$ref"].rpartition("/")[2]
    components[version]["oneOf"] = [{"required": ["outputs"]}, {"required": ["prompt"]}]
    _describe_metrics(own[PromptMetrics])
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Scorewright",
            "version": __version__,
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"key": []}],
        "paths": _paths(by_type),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "Where keys are set."}},
        },
    }


def _paths(schemas: dict[int, Any]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return paths


def _operation(route: Route, schemas: dict[int, Any]) -> dict[str, Any]:
    answer = {"description": "Done", "content": {route.media_type: {"schema": schemas[id(route.response)]}}}
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__,
        "summary": route.summary,
        "responses": {"200": answer} | _problems(route, schemas[id(Problem)]),
    }
    if route.request is not None:
        schema = ANY_BATCH if route.response is Validation else schemas[id(route.request)]
        content = {"schema": schema}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    operation |= _parameters(route)
    return operation


def _parameters(route: Route) -> dict[str, Any]:
    names = [name for name in PARAMETERS if f"{{{name}}}" in route.path]
    told = [{"name": name, "in": "path", "required": True, "schema": _PARAMETERS[name]} for name in names]
    return {"parameters": told} if told else {}


def _problems(route: Route, schema: Any) -> dict[str, Any]:
    kinds = sorted({*route.problems, *EVERYWHERE}, key=lambda kind: KINDS[kind].status)
    return {
        str(KINDS[kind].status): {
            "description": KINDS[kind].title,
            "content": {"application/problem+json": {"schema": schema}},
        }
        for kind in kinds
    }


def _describe_batch(schema: dict[str, Any]) -> None:
    """What the Struct cannot say: there must be a rule somewhere."""
    some = {"minItems": 1}
    shared = {"required": ["evaluators"], "properties": {"evaluators": some}}
    schema["anyOf"] = [shared, {"properties": {"items": {"contains": shared}}}]


def _describe_metrics(schema: dict[str, Any]) -> None:
    """Every query has a response, or somebody is to write them."""
    some = {"required": ["responses"], "properties": {"responses": {"minItems": 1}}}
    written = {"required": ["generate"], "properties": {"generate": {"type": "object"}}}
    schema["anyOf"] = [written, {"properties": {"queries": {"items": some}}}]
