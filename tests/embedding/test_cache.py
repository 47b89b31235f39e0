"""What is kept, for how long, and how little else it keeps alive."""

import weakref
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.ports import Reading
from service.embedding.cache import Cache, Made

TEXTS = "abc\ud800\udc00"


def made(number: int) -> Made:
    return Made(np.full(4, number, dtype=np.float32), Reading(number, number))


@given(
    st.integers(0, 3),
    st.lists(st.tuples(st.sampled_from(["get", "put"]), st.sampled_from(TEXTS))),
)
def test_the_ones_used_last_are_kept(capacity: int, steps: list[tuple[str, str]]) -> None:
    cache, model = Cache(capacity), OrderedDict[str, int]()
    for number, (step, text) in enumerate(steps):
        if step == "put":
            cache.put(text, made(number))
            model[text] = number
        elif text in model:
            kept = cache.get(text)
            assert kept is not None
            assert kept.reading.tokens == model[text]
            np.testing.assert_array_equal(kept.vector, model[text])
        else:
            assert cache.get(text) is None
        if text in model:
            model.move_to_end(text)
        while len(model) > capacity:
            model.popitem(last=False)
        assert len(cache) == len(model)
    assert {text for text in TEXTS if cache.get(text)} == model.keys()


@pytest.mark.parametrize(
    "texts",
    [("", "\0"), ("a", "a "), ("é", "e\u0301"), ("\ud800", "\udc00", "\ufffd", "?"), ("\U00010000", "\ud800\udc00")],
    ids=ascii,
)
def test_other_texts_are_other_texts(texts: tuple[str, ...]) -> None:
    cache = Cache(10)
    for number, text in enumerate(texts):
        cache.put(text, made(number))
    kept = [cache.get(text) for text in texts]
    assert [one.reading.tokens for one in kept if one is not None] == list(range(len(texts)))


def test_a_run_is_not_kept_for_one_of_its_rows() -> None:
    run = np.ones((100, 4), dtype=np.float32)
    alive, cache = weakref.ref(run), Cache(10)
    cache.put("a", Made(run[3], Reading(3, 3)))
    run[:] = 0
    del run
    assert alive() is None
    kept = cache.get("a")
    assert kept is not None
    np.testing.assert_array_equal(kept.vector, np.ones(4))
