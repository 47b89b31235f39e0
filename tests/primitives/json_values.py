"""Strategies for JSON values."""

from typing import Any

from hypothesis import strategies as st

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**30, max_value=10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=4), VALUES, max_size=4)

HOSTILE_TEXTS = st.text(max_size=60) | st.text(alphabet='{}[]"\\`~:,0eE-+. \n\ttrufalsnj', max_size=80)
"""Any text, and texts that look much like JSON or Markdown."""


def nested(depth: int, leaf: Any, key: str | None = None) -> Any:
    """A leaf inside `depth` arrays, or objects with one key."""
    value = leaf
    for _ in range(depth):
        value = [value] if key is None else {key: value}
    return value


def reordered(value: Any) -> Any:
    """The same value with the keys of every object in reverse."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(element) for element in value] if isinstance(value, list) else value
