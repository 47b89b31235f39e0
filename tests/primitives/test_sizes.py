"""Sizes that are known before anything is made."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from service.primitives.sizes import exceeds

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


@given(st.lists(JSON, max_size=5), st.integers(0, 200))
def test_it_is_near_the_length_of_the_json_text(values: list[Any], limit: int) -> None:
    length = len(json.dumps(values, ensure_ascii=False, separators=(",", ":")))
    if exceeds(values, limit):
        assert 4 * length > limit
    else:
        assert length <= 10 * limit + 20


def test_what_stands_in_many_places_counts_each_time() -> None:
    text = "x" * 1_000
    assert not exceeds([text] * 9, 10_000)
    assert exceeds([text] * 11, 10_000)
    assert exceeds([[text] * 11], 10_000)
