"""JSON Schema, drafts 4 to 2020-12: compiled once, nothing ever fetched, every check bounded."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema
import jsonschema_rs
import msgspec
from jsonschema.exceptions import best_match
from jsonschema_rs import ValidationErrorKind
from referencing import Specification
from referencing import jsonschema as specifications

from service.primitives import RuleFault
from service.primitives.jsontext import dotted, pointer, render
from service.primitives.schemacost import Extent, SchemaCost, measure
from service.primitives.schemagraph import Node, build
from service.primitives.schemakeywords import check_depth

MAX_SCHEMA_BYTES = 64 * 1024
"""Length of a schema as JSON without white space."""

MAX_FAULTS = 20
MAX_MESSAGE = 300

MAX_BACKTRACKS = 100_000
"""Steps of one pattern on one text, where a pattern needs an engine that backtracks."""

MAX_BACKTRACKING_MATCHES = 500
"""Patterns times texts for such an engine."""

# Above this size jsonschema can take seconds over a schema that it refuses.
_MAX_EXPLAINED_SCHEMA = 8 * 1024


class _Draft(NamedTuple):
    specification: Specification[specifications.Schema]
    validator: type[Any]


_DRAFTS = {
    "json-schema.org/draft-04/schema": _Draft(specifications.DRAFT4, jsonschema.Draft4Validator),
    "json-schema.org/draft-06/schema": _Draft(specifications.DRAFT6, jsonschema.Draft6Validator),
    "json-schema.org/draft-07/schema": _Draft(specifications.DRAFT7, jsonschema.Draft7Validator),
    "json-schema.org/draft/2019-09/schema": _Draft(specifications.DRAFT201909, jsonschema.Draft201909Validator),
    "json-schema.org/draft/2020-12/schema": _Draft(specifications.DRAFT202012, jsonschema.Draft202012Validator),
}
_LATEST = "json-schema.org/draft/2020-12/schema"
_GIVEN_UP = (ValidationErrorKind.BacktrackLimitExceeded, ValidationErrorKind.RegexEngineFailure)


class SchemaFault(NamedTuple):
    """Where a value does not fit: JSONPath of the part, keyword, message, and JSON Pointer into the schema."""

    path: str
    keyword: str
    message: str
    schema_path: str


class Schema:
    """A compiled schema; both of its questions raise RuleFault `limit_exceeded` or `pattern_too_costly`."""

    def __init__(self, validator: jsonschema_rs.Validator, cost: SchemaCost, backtracks: bool) -> None:
        self._validator = validator
        self._cost = cost
        self._backtracks = backtracks

    def accepts(self, instance: Any) -> bool:
        """Whether a JSON value (as `decode` returns it) fits the schema."""
        return self._judge(instance, measure(instance))

    def faults(self, instance: Any) -> list[SchemaFault]:
        """Why a JSON value does not fit: at most 20 faults in the order of their paths, none if it fits."""
        extent = measure(instance)
        if self._judge(instance, extent):
            return []
        errors = self._errors(instance, extent)
        if errors is None:
            message = "The JSON does not fit the schema; together they are too large to tell where."
            return [SchemaFault("$", "", message, "")]
        return [_fault(error) for error in sorted(errors, key=_place)[:MAX_FAULTS]]

    def _judge(self, instance: Any, extent: Extent) -> bool:
        self._cost.check(extent)
        if self._backtracks and extent.texts * self._cost.cost.patterns > MAX_BACKTRACKING_MATCHES:
            raise _too_costly(f"are too many for JSON of {extent.texts:,} texts")
        if self._validator.is_valid(instance):
            return True
        if self._backtracks:
            self._raise_if_undecided(instance, extent)
        return False

    def _raise_if_undecided(self, instance: Any, extent: Extent) -> None:
        """A pattern that was given up counts as no match, so only the errors tell whether the verdict rests on one."""
        errors = self._errors(instance, extent)
        if errors is None:
            raise _too_costly("are too many for JSON of this size")
        if any(isinstance(error.kind, _GIVEN_UP) for error in errors):
            raise _too_costly(f"took more than {MAX_BACKTRACKS:,} steps on one text")

    def _errors(self, instance: Any, extent: Extent) -> list[jsonschema_rs.ValidationError] | None:
        """Errors of a value that does not fit: all, else the first, else None where even that could take too long."""
        if self._cost.explains(instance, extent):
            return list(self._validator.iter_errors(instance))
        if self._cost.branches or self._cost.recursive:
            return None
        try:
            self._validator.validate(instance)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return None


def compile_schema(schema: Any, *, formats: bool) -> Schema:
    """The schema ready for use, and kept for the next call with an equal one; `formats` says whether `format` counts.

    The draft is that of `$schema`, 2020-12 without one. A pattern is searched for, by a linear engine unless it needs
    look-around or back-references. RuleFault `invalid_schema` for a schema that its meta-schema refuses, an unknown
    `$schema`, a broken pattern, or a reference to anything outside the schema; `limit_exceeded` for one over 64 KiB or
    the depth of any JSON, or with too many schemas once its references are unrolled.
    """
    check_depth(schema)
    if not isinstance(schema, (dict, bool)):
        raise _invalid("it must be an object, true or false.")
    encoded = msgspec.json.encode(schema, order="sorted")
    if len(encoded) > MAX_SCHEMA_BYTES:
        raise RuleFault(
            "limit_exceeded", f"The schema is longer than {MAX_SCHEMA_BYTES:,} bytes; leave parts of it out."
        )
    compiled = _compiled(encoded, formats)
    if isinstance(compiled, RuleFault):
        raise RuleFault(compiled.code, compiled.detail)
    return compiled


@lru_cache(maxsize=256)
def _compiled(encoded: bytes, formats: bool) -> Schema | RuleFault:
    # From the sorted text, so that equal schemas report their errors in one order. Faults are kept as well.
    try:
        return _compile(msgspec.json.decode(encoded), formats)
    except RuleFault as fault:
        return fault


def _compile(schema: dict[str, Any] | bool, formats: bool) -> Schema:
    draft = _draft(schema)
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        raise _refused(schema, draft, error) from None
    cost = SchemaCost(build(schema, draft.specification) if isinstance(schema, dict) else Node({}))
    try:
        return Schema(_validator(schema, formats, jsonschema_rs.RegexOptions()), cost, backtracks=False)
    except jsonschema_rs.ValidationError:
        pass
    backtracking = jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_BACKTRACKS)
    try:
        return Schema(_validator(schema, formats, backtracking), cost, backtracks=True)
    except jsonschema_rs.ValidationError as error:
        raise _invalid_at(error.instance_path, error.message) from None


def _validator(
    schema: dict[str, Any] | bool,
    formats: bool,
    patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions,
) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema, validate_formats=formats, pattern_options=patterns, offline=True)


def _draft(schema: dict[str, Any] | bool) -> _Draft:
    name = schema.get("$schema", _LATEST) if isinstance(schema, dict) else _LATEST
    key = re.sub(r"^https?://", "", name).rstrip("#") if isinstance(name, str) else ""
    if key not in _DRAFTS:
        raise _invalid(f"its $schema must be http(s):// and one of {', '.join(_DRAFTS)}; or leave it out for the last.")
    return _DRAFTS[key]


def _refused(schema: dict[str, Any] | bool, draft: _Draft, error: jsonschema_rs.ValidationError) -> RuleFault:
    """The fault of a schema that its meta-schema refuses, as told by jsonschema, whose choice of error is clearest."""
    if len(render(schema)) <= _MAX_EXPLAINED_SCHEMA:
        clearest = best_match(draft.validator(draft.validator.META_SCHEMA).iter_errors(schema))
        if clearest is not None:
            return _invalid_at(clearest.absolute_path, clearest.message)
    return _invalid_at(error.instance_path, error.message)


def _fault(error: jsonschema_rs.ValidationError) -> SchemaFault:
    return SchemaFault(
        dotted(error.instance_path), error.kind.name, error.message[:MAX_MESSAGE], pointer(error.schema_path)
    )


def _place(error: jsonschema_rs.ValidationError) -> tuple[list[tuple[int, str]], str]:
    """Order of errors: by path, elements by index, then by keyword."""
    steps = [(step, "") if isinstance(step, int) else (-1, step) for step in error.instance_path]
    return steps, pointer(error.schema_path)


def _invalid_at(path: Iterable[str | int], message: str) -> RuleFault:
    return _invalid(f"at {dotted(path)}: {message[:MAX_MESSAGE]}.")


def _invalid(what: str) -> RuleFault:
    return RuleFault("invalid_schema", f"The schema is not valid: {what}")


def _too_costly(what: str) -> RuleFault:
    return RuleFault("pattern_too_costly", f"The patterns of the schema {what}; avoid look-around and back-references.")
