"""JSON Schema, drafts 4 to 2020-12: compiled once, nothing ever fetched, every check bounded."""

import re
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
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
from service.primitives.schemacost import MAX_BACKTRACKS, Extent, SchemaCost, measure, too_costly
from service.primitives.schemagraph import Node, build
from service.primitives.schemakeywords import check_depth

MAX_FAULTS = 20
MAX_MESSAGE = 300

MAX_KEPT = 96_000_000
"""Bytes that all compiled schemas kept for later calls may take together."""

# Enough for the automaton of an ordinary pattern to be quick; one that outgrows it is run in linear time without.
_AUTOMATON_BYTES = 16 * 1024
_PATTERN_BYTES = 10_000_000

# Measured: what a schema takes at worst, on top of the schemas and patterns in it.
_BYTES_A_SCHEMA = 10_000
_BYTES_A_BYTE = 50

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


_UNTOLD = SchemaFault("$", "", "The JSON does not fit the schema; together they are too large to tell where.", "")


class Schema:
    """A compiled schema; both of its questions raise RuleFault `limit_exceeded` or `patterntoo_costly`.

    `held` is about how many bytes it takes.
    """

    def __init__(self, engine: "_Engine", cost: SchemaCost, held: int) -> None:
        self._engine = engine
        self._cost = cost
        self.held = held

    def accepts(self, instance: Any) -> bool:
        """Whether a JSON value (as `decode` returns it) fits the schema."""
        extent, validator = self._checked(instance)
        if self._engine.backtracks:
            return not self._decided_errors(validator, instance, extent)
        return validator.is_valid(instance)

    def faults(self, instance: Any) -> list[SchemaFault]:
        """Why a JSON value does not fit: at most 20 faults in the order of their paths, none if it fits."""
        extent, validator = self._checked(instance)
        if not self._engine.backtracks and validator.is_valid(instance):
            return []
        errors = self._errors(validator, instance, extent)
        return [_UNTOLD] if errors is None else [_fault(error) for error in sorted(errors, key=_place)[:MAX_FAULTS]]

    def _checked(self, instance: Any) -> tuple[Extent, jsonschema_rs.Validator]:
        extent = measure(instance)
        self._cost.check(instance, extent)
        backtracks = self._cost.backtracks(extent) if self._engine.backtracks else MAX_BACKTRACKS[0]
        return extent, self._engine.validator(backtracks)

    def _errors(
        self, validator: jsonschema_rs.Validator, instance: Any, extent: Extent
    ) -> list[jsonschema_rs.ValidationError] | None:
        """Errors of a value that does not fit: all, else the first, else None where even that could take too long."""
        if self._engine.backtracks:
            return self._decided_errors(validator, instance, extent)
        if self._cost.explains(instance, extent):
            return list(validator.iter_errors(instance))
        if self._cost.branches or self._cost.recursive:
            return None
        try:
            validator.validate(instance)
        except jsonschema_rs.ValidationError as error:
            return [error]
        return None

    def _decided_errors(
        self, validator: jsonschema_rs.Validator, instance: Any, extent: Extent
    ) -> list[jsonschema_rs.ValidationError]:
        """A pattern that was given up counts as no match, so only the errors tell whether the verdict rests on one."""
        if not self._cost.explains(instance, extent):
            if validator.is_valid(instance):
                return []
            raise too_costly(f"are too many for JSON of {extent.values:,} values")
        errors = list(validator.iter_errors(instance))
        if any(isinstance(error.kind, _GIVEN_UP) for error in errors):
            limit = self._cost.backtracks(extent)
            raise too_costly(
                f"take more than {limit:,} steps back on a text, the most for {extent.characters:,} characters"
            )
        return errors


class _Engine:
    """Validators of one schema: for patterns in linear time or, if `backtracks`, with as many steps as a value allows.

    Of the latter only that for the last value is kept. jsonschema_rs.ValidationError for a pattern it does not take.
    """

    def __init__(self, schema: dict[str, Any] | bool, formats: bool, *, backtracks: bool) -> None:
        self.backtracks = backtracks
        self._schema = schema
        self._formats = formats
        self._current = self._compiled(MAX_BACKTRACKS[0])

    def validator(self, limit: int) -> jsonschema_rs.Validator:
        """The validator whose patterns give up after so many steps back."""
        current = self._current
        if current[0] != limit:
            current = self._current = self._compiled(limit)
        return current[1]

    def _compiled(self, backtracks: int) -> tuple[int, jsonschema_rs.Validator]:
        sizes = {"size_limit": _PATTERN_BYTES, "dfa_size_limit": _AUTOMATON_BYTES}
        patterns = (
            jsonschema_rs.FancyRegexOptions(backtrack_limit=backtracks, **sizes)
            if self.backtracks
            else jsonschema_rs.RegexOptions(**sizes)
        )
        validator = jsonschema_rs.validator_for(
            self._schema, validate_formats=self._formats, pattern_options=patterns, offline=True
        )
        return backtracks, validator


def compile_schema(schema: Any, *, formats: bool) -> Schema:
    """The schema ready for use, and kept for the next call with an equal one; `formats` says whether `format` counts.

    The draft is that of `$schema`, 2020-12 without one. A pattern is searched for, by a linear engine unless it needs
    look-around or back-references. RuleFault `invalid_schema` for a schema that its meta-schema refuses, an unknown
    `$schema`, a broken pattern, or a reference to anything outside the schema; `limit_exceeded` for one over the depth
    of any JSON, or with too many schemas once its references are unrolled; `patterntoo_costly` for too many patterns.
    """
    check_depth(schema)
    if not isinstance(schema, (dict, bool)):
        raise _invalid("it must be an object, true or false.")
    encoded = msgspec.json.encode(schema, order="sorted")
    compiled = _kept.get((encoded, formats))
    if compiled is None:
        # From the sorted text, so that equal schemas report their errors in one order. Faults are kept as well.
        try:
            compiled = _compile(msgspec.json.decode(encoded), formats, len(encoded))
        except RuleFault as fault:
            compiled = RuleFault(fault.code, fault.detail)  # without what its traceback holds
        _kept.put((encoded, formats), compiled)
    if isinstance(compiled, RuleFault):
        raise RuleFault(compiled.code, compiled.detail)
    return compiled


class _Kept:
    """What came of the schemas used last, as many as take no more than MAX_KEPT bytes."""

    def __init__(self) -> None:
        self._schemas: OrderedDict[tuple[bytes, bool], Schema | RuleFault] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def get(self, key: tuple[bytes, bool]) -> Schema | RuleFault | None:
        with self._lock:
            found = self._schemas.get(key)
            if found is not None:
                self._schemas.move_to_end(key)
            return found

    def put(self, key: tuple[bytes, bool], compiled: Schema | RuleFault) -> None:
        with self._lock:
            if key not in self._schemas:
                self._schemas[key] = compiled
                self._held += _held(key[0], compiled)
            while self._held > MAX_KEPT:
                (dropped, _), fell = self._schemas.popitem(last=False)
                self._held -= _held(dropped, fell)


_kept = _Kept()


def _held(encoded: bytes, compiled: Schema | RuleFault) -> int:
    return compiled.held if isinstance(compiled, Schema) else 1_000 + len(encoded)


def _compile(schema: dict[str, Any] | bool, formats: bool, length: int) -> Schema:
    draft = _draft(schema)
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        raise _refused(schema, draft, error) from None
    root, held = build(schema, draft.specification) if isinstance(schema, dict) else (Node({}), 0)
    cost = SchemaCost(root)
    held += _BYTES_A_SCHEMA + _BYTES_A_BYTE * length
    try:
        return Schema(_Engine(schema, formats, backtracks=False), cost, held)
    except jsonschema_rs.ValidationError:
        pass
    try:
        return Schema(_Engine(schema, formats, backtracks=True), cost, held)
    except jsonschema_rs.ValidationError as error:
        raise _invalid_at(error.instance_path, error.message) from None


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
