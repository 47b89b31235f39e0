"""What is said of tables of settings that do not fit."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from service.primitives.fitting import Misfit, fields_of, fitted, from_text, is_table, takes_list


class Inner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    size: Annotated[int, Meta(ge=1, le=9)] = 1
    share: Annotated[float, Meta(gt=0)] | None = None


class Outer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    mode: Literal["fast", "thorough"]
    names: tuple[str, ...] | None = None
    is_on: bool = True
    inner: Inner = Inner()
    headers: Mapping[str, str] = {}
    tables: dict[str, dict[str, Any]] = {}

    def __post_init__(self) -> None:
        if self.is_on and self.names == ():
            raise ValueError("names are needed")


MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "mode is missing; one of 'fast', 'thorough' is wanted"),
    "near a choice": ({"mode": "fats"}, "mode: 'fats' is none of 'fast', 'thorough': did you mean 'fast'?"),
    "no choice": ({"mode": 1}, "mode: one of 'fast', 'thorough' is wanted"),
    "near a name": ({"mode": "fast", "name": ()}, "name: there is no such key; did you mean 'names'?"),
    "no name": ({"mode": "fast", "zzz": 1},
                "zzz: there is no such key; known are mode, names, is_on, inner, headers, tables"),
    "a hint": ({"mode": "fast", "old": 1}, "old: there is no such key; it went away"),
    "a text for a truth": ({"mode": "fast", "is_on": "true"}, "is_on: true or false is wanted, not a text"),
    "a number for a truth": ({"mode": "fast", "is_on": 1}, "is_on: true or false is wanted, not a whole number"),
    "a text for a list": ({"mode": "fast", "names": "a"}, "names: a list is wanted, not a text"),
    "a number in a list": ({"mode": "fast", "names": ["a", 1]}, "names[1]: a text is wanted, not a whole number"),
    "a text for a table": ({"mode": "fast", "inner": "a"}, "inner: a table is wanted, not a text"),
    "a name of a table": ({"mode": "fast", "inner": {"sizes": 1}},
                          "inner.sizes: there is no such key; did you mean 'size'?"),
    "a text for a number": ({"mode": "fast", "inner": {"size": "5"}},
                            "inner.size: a whole number is wanted, not a text"),
    "a fraction": ({"mode": "fast", "inner": {"size": 1.5}}, "inner.size: a whole number is wanted, not a number"),
    "too little": ({"mode": "fast", "inner": {"size": 0}}, "inner.size: a whole number >= 1 is wanted"),
    "too much": ({"mode": "fast", "inner": {"size": 10}}, "inner.size: a whole number <= 9 is wanted"),
    "nothing left": ({"mode": "fast", "inner": {"share": 0}}, "inner.share: a number > 0.0 is wanted"),
    "under any name": ({"mode": "fast", "headers": {"a": "b", "c": 1}}, "headers.c: a text is wanted, not a whole number"),
    "no table": ({"mode": "fast", "tables": {"a": {}, "kind": "b"}}, "tables.kind: a table is wanted, not a text"),
    "as a whole": ({"mode": "fast", "names": []}, "names are needed"),
}  # fmt: skip


@pytest.mark.parametrize(("table", "said"), MISFITS.values(), ids=MISFITS)
def test_the_key_is_named_and_what_it_wants(table: dict[str, Any], said: str) -> None:
    with pytest.raises(Misfit) as caught:
        fitted(table, Outer, {"old": "it went away"})
    assert str(caught.value) == said


def test_a_hint_on_what_is_missing() -> None:
    with pytest.raises(Misfit, match=r"^mode is missing; say how$"):
        fitted({}, Outer, {"mode": "say how"})


def test_what_fits() -> None:
    assert fitted({"mode": "fast", "inner": {"share": 1}}, Outer) == Outer(mode="fast", inner=Inner(share=1.0))


TEXTS = {
    "5": (Annotated[int, Meta(ge=1)], 5),
    "0.5": (float, 0.5),
    "TRUE": (bool, True),
    "0": (bool, False),
    "null": (str | None, "null"),
    "fast": (Literal["fast"], "fast"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_as_what_is_meant(text: str) -> None:
    kind, value = TEXTS[text]
    assert from_text(text, kind) == value


UNREAD = {
    "many": (int, "a whole number is wanted"),
    "0": (Annotated[int, Meta(ge=1)], "a whole number >= 1 is wanted"),
    "yes": (bool, "true or false is wanted"),
    "fats": (Literal["fast"], "'fats' is none of 'fast': did you mean 'fast'?"),
}


@pytest.mark.parametrize("text", UNREAD)
def test_texts_that_cannot_be_read(text: str) -> None:
    kind, said = UNREAD[text]
    with pytest.raises(Misfit) as caught:
        from_text(text, kind)
    assert str(caught.value) == said


def test_types() -> None:
    fields = fields_of(Outer)
    assert [name for name, kind in fields.items() if is_table(kind)] == ["inner"]
    assert [name for name, kind in fields.items() if takes_list(kind)] == ["names"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*fields_of(Inner), "a"]), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*fields_of(Outer), "a"]), values))
def test_any_table_fits_or_is_told_where_not(table: dict[str, Any]) -> None:
    try:
        assert isinstance(fitted(table, Outer), Outer)
    except Misfit as misfit:
        assert any(str(misfit).startswith(name) for name in (*table, "mode"))  # noqa: PT017
        assert "`" not in str(misfit).replace(repr(table.get("mode")), "")  # noqa: PT017
