"""Every evaluator there is, found by importing the scorers."""

import inspect
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any, Union

import msgspec
from msgspec import Struct

from service import scorers
from service.core.evaluator import Evaluator, Example, Family


def _find() -> tuple[type[Evaluator], ...]:
    for module in pkgutil.walk_packages(scorers.__path__, f"{scorers.__name__}."):
        import_module(module.name)
    return tuple(sorted(_leaves(Evaluator), key=lambda kind: (kind.spec.family, type_name(kind))))


def _leaves(kind: type[Evaluator]) -> list[type[Evaluator]]:
    children = kind.__subclasses__()
    return [leaf for child in children for leaf in _leaves(child)] if children else [kind]


def type_name(kind: type[Evaluator]) -> str:
    """The `type` of its rules on the wire."""
    return str(kind.__struct_config__.tag)


EVALUATORS = _find()
BY_TYPE: dict[str, type[Evaluator]] = {type_name(kind): kind for kind in EVALUATORS}

if TYPE_CHECKING:
    Rule = Evaluator
else:
    Rule = Union[EVALUATORS]  # noqa: UP007 - made from a tuple


class Entry(Struct, kw_only=True):
    """An evaluator as the catalogue shows it."""

    type: str
    purpose: str
    description: str
    family: Family
    graded: bool
    needs: list[str]
    score_range: tuple[float, float]
    revision: int
    parameters: dict[str, Any]
    examples: list[Example]


def entry(kind: type[Evaluator]) -> Entry:
    """The catalogue's row of an evaluator: everything in it is derived from the class."""
    purpose, _, description = inspect.cleandoc(kind.__doc__ or "").partition("\n")
    return Entry(
        type=type_name(kind),
        purpose=purpose,
        description=description.strip(),
        family=kind.spec.family,
        graded=kind.spec.graded,
        needs=["output", "expected"] if "expected" in kind.__struct_fields__ else ["output"],
        score_range=(0.0, 1.0),
        revision=kind.spec.revision,
        parameters=parameters(kind),
        examples=list(kind.spec.examples),
    )


def parameters(kind: type[Evaluator]) -> dict[str, Any]:
    """The JSON Schema of a rule of this type."""
    (_,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = components.pop(kind.__name__)
    schema: dict[str, Any] = own | ({"$defs": components} if components else {})
    return schema
