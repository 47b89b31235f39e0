"""The parts of a case, as texts that a judge can be shown."""

from typing import Any

from msgspec import UNSET

from service.core.asking import Ungraded
from service.core.case import Case
from service.primitives.jsontext import as_text
from service.scorers.judged.wording import Texts

_MISSING = {
    "input": "The item has no input, and the judge has to see it",
    "expected": "The item has no expected value, and the judge has to see it",
    "context": "The item has no context to judge by",
}


def unnamed(value: Any) -> Any:
    """What a list of {name, value} objects stands for: the one value, or an object of values by name.

    The last of equal names counts; anything else is itself.
    """
    if not isinstance(value, list) or not value or not all(map(_is_named, value)):
        return value
    return value[0]["value"] if len(value) == 1 else {one["name"]: one["value"] for one in value}


def given(case: Case) -> dict[str, str | list[str]]:
    """The texts of a case by the names of its parts, for those that are there and not null."""
    parts = {"input": unnamed(case.input), "expected": case.expected}
    texts: dict[str, str | list[str]] = {
        name: as_text(part) for name, part in parts.items() if part is not UNSET and part is not None
    }
    return texts if case.context is UNSET or case.context is None else texts | {"context": passages(case.context)}


def under_test(value: Any) -> str:
    """The value under test as a text; Ungraded where it is a named null."""
    value = unnamed(value)
    if value is None:
        raise Ungraded("no_data", "null_value", "The value is null: there is nothing to judge")
    return as_text(value)


def needed(texts: Texts, *names: str) -> None:
    """Ungraded if one of these is not among the texts."""
    for name in names:
        if name not in texts:
            raise Ungraded("no_data", f"missing_{name}", _MISSING[name])


def needed_context(texts: Texts) -> None:
    """Ungraded if there is no context, or none with a word in it."""
    if not any(passage.strip() for passage in texts.get("context", ())):
        raise Ungraded("no_data", "missing_context", _MISSING["context"])


def criteria(case: Case) -> Any:
    """The criteria in the metadata of a case, None where it has none or only blanks."""
    found = case.metadata.get("criteria") if isinstance(case.metadata, dict) else None
    return None if isinstance(found, str) and not found.strip() else found


def passages(context: Any) -> list[str]:
    """A context as a list of texts."""
    return [as_text(one) for one in context] if isinstance(context, list) else [as_text(context)]


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"name", "value"} and isinstance(value["name"], str)
