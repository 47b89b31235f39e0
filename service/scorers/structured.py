"""Rules on JSON, as it stands or inside a text."""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from service.core.case import Case
from service.core.evaluator import Evaluator, Example, Spec, Tester, Verdict
from service.primitives.extraction import Mode, extract
from service.primitives.jsontext import NotJson, decode, decode_or_unset, is_json, kind_of, render
from service.primitives.keyshape import check_keys, shape_faults
from service.primitives.schema import Schema, compile_schema
from service.primitives.schemakeywords import require_all
from service.primitives.text import cut, shown

Extract = Annotated[
    Literal["whole", "fences", "anywhere"],
    Meta(description="Where in a text JSON may stand: all of it; Markdown code blocks too; inside prose too."),
]
JsonSchemaParameter = Annotated[
    dict[str, Any] | bool, Meta(description="A JSON Schema, draft 4 to 2020-12.", extra={"limit": "schema_bytes"})
]


class ValidJson(Evaluator, frozen=True):
    """The text is JSON that fits `schema`; without a schema, an object or array unless `allow_scalars`.

    Strict RFC 8259, never repaired: no trailing comma, single quotes, comments, NaN. A value that is not a text counts
    as parsed already. `format` is not asserted (json_schema does). `expected` is never used.
    """

    spec = Spec(
        family="json",
        echoes=True,
        judges_null=True,
        heavy=True,
        examples=(
            Example(case=Case(output='{"ok": true}'), status="passed"),
            Example(case=Case(output="{'ok': True}"), status="failed"),
            Example(params={"allow_scalars": True}, case=Case(output="42"), status="passed"),
        ),
    )

    schema: JsonSchemaParameter | UnsetType = UNSET
    extract: Extract = "whole"
    allow_scalars: Annotated[bool, Meta(description="A number, text, boolean or null is enough.")] = False

    def validate(self, expected: Any) -> None:
        if self.schema is not UNSET:
            compile_schema(self.schema, formats=False)

    def judge(self, value: Any, expected: Any) -> Verdict:
        return _judge_json(value, self.extract, self._judge_found)

    def tester(self, expected: Any) -> Tester | None:
        if self.schema is not UNSET or self.extract != "whole":
            return None
        return is_json if self.allow_scalars else lambda text: self._is_enough(decode_or_unset(text))

    def _judge_found(self, found: Any, source: str) -> Verdict:
        if self.schema is not UNSET:
            return _fits(compile_schema(self.schema, formats=False), found, source)
        if self._is_enough(found):
            fact = f"text is valid JSON: {kind_of(found)}"
            return Verdict(score=1.0, fact=fact, actual=found, expected=None, details={"source": source})
        fact = f"JSON, but {kind_of(found)} where an object or array is asked for"
        return Verdict(score=0.0, fact=fact, actual=found, expected=None, details={"code": "scalar", "source": source})

    def _is_enough(self, found: Any) -> bool:
        return self.allow_scalars or isinstance(found, dict | list)


class JsonSchema(Evaluator, frozen=True):
    """The JSON in the text fits `schema`.

    JSON is taken from Markdown code blocks first. Nothing outside the schema is ever fetched: a remote reference is
    error/invalid_schema. `details.faults` lists up to 20 places that do not fit. `actual` is the JSON found.
    """

    spec = Spec(
        family="json",
        echoes=True,
        judges_null=True,
        heavy=True,
        examples=(
            Example(
                params={"schema": {"type": "object", "required": ["name"]}},
                case=Case(output='Here you go:\n```json\n{"name": "Ann"}\n```'),
                status="passed",
            ),
            Example(
                params={"schema": {"properties": {"age": {"type": "integer"}}}, "all_properties_required": True},
                case=Case(output="{}"),
                status="failed",
            ),
        ),
    )

    schema: JsonSchemaParameter
    extract: Extract = "fences"
    all_properties_required: Annotated[bool, Meta(description="Every name in `properties` must be there.")] = False
    check_formats: Annotated[bool, Meta(description="`format` is asserted.")] = True

    def validate(self, expected: Any) -> None:
        self._compiled()

    def judge(self, value: Any, expected: Any) -> Verdict:
        return _judge_json(value, self.extract, self._judge_found)

    def _judge_found(self, found: Any, source: str) -> Verdict:
        return _fits(self._compiled(), found, source)

    def _compiled(self) -> Schema:
        schema = _with_all_required(render(self.schema)) if self.all_properties_required else self.schema
        return compile_schema(schema, formats=self.check_formats)


class JsonKeys(Evaluator, frozen=True):
    """The JSON in the text is an object that has every key of `keys`, each of the type named.

    `keys` maps a key to a type name (string, number, integer, boolean, object, array, null, any) or to the keys of a
    nested object. Other keys are fine. With `check` set to `keys` types are not looked at.
    """

    spec = Spec(
        family="json",
        echoes=True,
        judges_null=True,
        heavy=True,
        examples=(
            Example(
                params={"keys": {"name": "string", "age": "number"}},
                case=Case(output='{"name": "Ann", "age": 31}'),
                status="passed",
            ),
            Example(
                params={"keys": {"user": {"name": "string"}}}, case=Case(output={"user": {"name": 7}}), status="failed"
            ),
        ),
    )

    keys: Annotated[
        dict[str, Any], Meta(description="Key -> type name, or nested keys.", extra={"limit": "schema_bytes"})
    ]
    check: Annotated[Literal["types", "keys"], Meta(description="keys: it is enough that they exist.")] = "types"
    extract: Extract = "fences"

    def validate(self, expected: Any) -> None:
        check_keys(self.keys)

    def judge(self, value: Any, expected: Any) -> Verdict:
        return _judge_json(value, self.extract, self._judge_found)

    def _judge_found(self, found: Any, source: str) -> Verdict:
        faults = shape_faults(found, self.keys, self.check)
        if not faults:
            fact = f"all {len(self.keys)} keys are there"
            return Verdict(score=1.0, fact=fact, actual=found, expected=self.keys, details={"source": source})
        details = {"code": "keys", "faults": faults[:20], "source": source}
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return Verdict(score=0.0, fact=faults[0] + more, actual=found, expected=self.keys, details=details)


@lru_cache(maxsize=256)
def _with_all_required(schema: str) -> Any:
    return require_all(decode(schema))


def _judge_json(value: Any, mode: Mode, judge: Callable[[Any, str], Verdict]) -> Verdict:
    """The verdict on the JSON in a text, or on a value that is no text as it is."""
    if not isinstance(value, str):
        return judge(value, "value")
    try:
        found = extract(value, mode)
    except NotJson as exc:
        fact = f"no JSON: {exc.detail}"
        return Verdict(score=0.0, fact=fact, actual=None, expected=None, details={"code": exc.code})
    return judge(*found)


def _fits(schema: Schema, found: Any, source: str) -> Verdict:
    faults = schema.faults(found)
    if not faults:
        fact = f"JSON fits the schema: {kind_of(found)}"
        return Verdict(score=1.0, fact=fact, actual=found, expected=None, details={"source": source})
    listed = [{"path": fault.path, "keyword": fault.keyword, "message": fault.message} for fault in faults]
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    fact = f"JSON does not fit the schema at {shown(faults[0].path)}: {cut(faults[0].message, 300)}{more}"
    details = {"code": "schema", "faults": listed, "source": source}
    return Verdict(score=0.0, fact=fact, actual=found, expected=None, details=details)
