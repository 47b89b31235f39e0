"""One caller's answer, whatever becomes of the texts."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import Late, ModelUnavailable
from service.core.ports import Reading
from service.embedding.cache import Made
from service.embedding.orders import Order, Tally

DOWN = ModelUnavailable("It is down")


def made(text: str) -> Made:
    return Made(np.full(3, ord(text), dtype=np.float32), Reading(ord(text), 2))


@given(st.lists(st.sampled_from("abcdef")), st.dictionaries(st.sampled_from("abcdefg"), st.booleans()), st.booleans())
def test_each_place_has_one_answer(texts: list[str], told: dict[str, bool], ended: bool) -> None:
    order = Order(texts, perf_counter() + 60)
    for text, has_vector in told.items():
        order.take(text, made(text)) if has_vector else order.refuse(text, DOWN)
        order.take(text, made("z"))  # whatever comes second changes nothing
        order.refuse(text, ModelUnavailable("It is down again"))
    open_places = {place for place, text in enumerate(texts) if text not in told}
    assert order.is_complete == (not open_places)
    assert set(order.waiting) == {texts[place] for place in open_places}
    order.end(DOWN) if ended else order.settle()
    answer = order.future.result()
    refused = {place for place, text in enumerate(texts) if told.get(text) is False}
    assert answer.late == (frozenset() if ended else open_places)
    assert answer.faults == dict.fromkeys(refused | open_places if ended else refused, DOWN)
    for text, row, reading in zip(texts, answer.vectors, answer.readings, strict=True):
        assert (reading.tokens, set(row)) == ((ord(text), {ord(text)}) if told.get(text) else (0, {0.0} & set(row)))


@pytest.mark.parametrize("request_", [Order(["a"], 0), Tally(["a"], 0)])
def test_over_when_the_time_is_up(request_: Order | Tally) -> None:
    assert request_.is_over
    request_.deadline = perf_counter() + 60
    assert not request_.is_over
    assert request_.future.cancel()
    assert request_.is_over


def test_a_caller_that_has_gone_hears_nothing() -> None:
    order, tally = Order(["a"], 0), Tally(["a"], 0)
    for one in (order, tally):
        assert one.future.cancel()
        one.settle()
        one.end(DOWN)
        assert one.future.cancelled()
    tally.answer([1])


def test_the_first_answer_stands() -> None:
    order, tally = Order(["a"], 0), Tally(["a"], 0)
    for one in (order, tally):
        one.settle()
        one.end(DOWN)
    tally.answer([1])
    assert order.future.result().late == {0}
    assert isinstance(tally.future.exception(), Late)
