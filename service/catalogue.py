"""Every evaluator there is: found by importing the scorers, and named by installed packages."""

import inspect
import pkgutil
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Annotated, Any, Union

import msgspec
from msgspec import Meta, Struct, structs

from service import scorers
from service.config import ConfigError
from service.core.evaluator import Evaluator, Example, Family, Spec

GROUP = "scorewright.evaluators"
"""The entry points by which installed packages name classes of their own."""


class PromptText(Struct, frozen=True):
    """What a judge is told, before anything is filled in: `{name}` stands for a text of the item, or for the schema."""

    name: str
    system: str
    user: str


class Entry(Struct, kw_only=True):
    """An evaluator as the catalogue shows it."""

    type: str
    purpose: str
    description: str
    family: Family
    graded: bool
    needs: Annotated[list[str], Meta(description="Parts of an item without which an evaluation is no_data.")]
    score_range: tuple[float, float]
    revision: int
    parameters: dict[str, Any]
    prompts: Annotated[list[PromptText], Meta(description="What judges are told; a change of it raises `revision`.")]
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
        needs=_needs(kind),
        score_range=(0.0, 1.0),
        revision=kind.spec.revision,
        parameters=parameters(kind),
        prompts=[PromptText(name, *one.template) for name, one in getattr(kind, "wordings", dict)().items()],
        examples=list(kind.spec.examples),
    )


def parameters(kind: type[Evaluator]) -> dict[str, Any]:
    """The JSON Schema of a rule of this type."""
    (_,), components = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = components.pop(kind.__name__)
    schema: dict[str, Any] = own | ({"$defs": components} if components else {})
    return schema


def _needs(kind: type[Evaluator]) -> list[str]:
    """The value under test, what it is compared with, and what a judge must see."""
    (tested,) = (field.default for field in structs.fields(kind) if field.name == "from_")
    compared = ["expected"] if "expected" in kind.__struct_fields__ else []
    return list(dict.fromkeys([tested, *getattr(kind, "shows", ()), *compared]))


def type_name(kind: type[Evaluator]) -> str:
    """The `type` of its rules on the wire."""
    return str(kind.__struct_config__.tag)


def refuse_faults() -> None:
    """Nothing where every installed class has joined. ConfigError names the packages of those that could not."""
    if _FAULTS:
        raise ConfigError("; ".join(_FAULTS))


def _find() -> tuple[dict[str, type[Evaluator]], list[str]]:
    """Ours and those of installed packages, by type; and why others could not join."""
    for module in pkgutil.walk_packages(scorers.__path__, f"{scorers.__name__}."):
        import_module(module.name)
    found = {type_name(kind): kind for kind in _leaves(Evaluator)}
    faults = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            kind = _loaded(point, found)
        except Exception as exc:
            package = point.dist.name if point.dist else "?"
            why = " ".join(str(exc).split()) or type(exc).__name__
            faults.append(f"{point.value} of the package {package} is no evaluator to use: {why}")
        else:
            found[type_name(kind)] = kind
    return found, faults


def _leaves(kind: type[Evaluator]) -> list[type[Evaluator]]:
    """Ours that no other of ours is derived from."""
    children = [child for child in kind.__subclasses__() if child.__module__.startswith(f"{scorers.__name__}.")]
    return [leaf for child in children for leaf in _leaves(child)] if children else [kind]


def _loaded(point: EntryPoint, found: Mapping[str, type[Evaluator]]) -> type[Evaluator]:
    kind = point.load()
    if not (isinstance(kind, type) and issubclass(kind, Evaluator) and isinstance(getattr(kind, "spec", None), Spec)):
        raise TypeError("it is no class derived from Evaluator that has a spec")
    taken = found.get(type_name(kind))
    if taken is not None:
        raise ValueError(f"the type {type_name(kind)} is taken by {taken.__module__}.{taken.__qualname__}")
    entry(kind)
    return kind


_FOUND, _FAULTS = _find()
EVALUATORS = tuple(sorted(_FOUND.values(), key=lambda kind: (kind.spec.family, type_name(kind))))
BY_TYPE = {type_name(kind): kind for kind in EVALUATORS}

if TYPE_CHECKING:
    Rule = Evaluator
else:
    Rule = Union[EVALUATORS]  # noqa: UP007 - made from a tuple
