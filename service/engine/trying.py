"""POST /v1/paths: a JSONPath tried on a document."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from service.config import Limits
from service.core.errors import Fault, Invalid, TooLarge
from service.core.evaluator import Dialect
from service.engine.lanes import Steps
from service.primitives import RuleFault
from service.primitives.jsonpath import compile_path
from service.primitives.sizes import exceeds


class PathTrial(Struct, kw_only=True, forbid_unknown_fields=True):
    """A path and the document to try it on; a text as document is a value like any other."""

    path: Annotated[str, Meta(min_length=1, description="A JSONPath.")]
    document: Annotated[Any, Meta(description="Any JSON.")]
    dialect: Dialect = "jayway"


class Selection(Struct):
    """What the path selects, and where: RFC 9535 normalized paths."""

    values: list[Any]
    locations: list[str]


def trying(trial: PathTrial, limits: Limits) -> Steps[Selection]:
    """Select; Invalid where the path is no path or costs too much."""
    yield None
    try:
        if len(trial.path) > limits.path_chars:
            allowed = f"{limits.path_chars:,} characters (path_chars at /v1/limits)"
            raise RuleFault("limit_exceeded", f"The path is over the limit of {allowed}")
        nodes = compile_path(trial.path, trial.dialect).nodes(trial.document)
    except RuleFault as fault:
        raise Invalid([Fault("/path", fault.code, fault.detail)]) from None
    if exceeds([value for _, value in nodes], limits.response_bytes):
        allowed = f"{limits.response_bytes:,} bytes (response_bytes at /v1/limits)"
        raise TooLarge(f"The answer would be over the limit of {allowed}: select less")
    return Selection([value for _, value in nodes], [location for location, _ in nodes])
