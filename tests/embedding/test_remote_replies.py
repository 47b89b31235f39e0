import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.embedding.remote_replies import RemoteFault, first_model, vectors
from tests.embedding.serving import base64_of, data

WRONG = {
    "too few": (data([[1, 2, 3]]), "1 vectors for 2 texts"),
    "too many": (data([[1, 2, 3]] * 3), "3 vectors for 2 texts"),
    "none": (b"{}", "0 vectors for 2 texts"),
    "equal indices": (data([[1, 2, 3]] * 2, [1, 1]), "which text"),
    "indices from 1": (data([[1, 2, 3]] * 2, [1, 2]), "which text"),
    "negative index": (data([[1, 2, 3]] * 2, [-1, 0]), "which text"),
    "index is true": (data([[1, 2, 3]] * 2, [True, 0]), "Expected `int`, got `bool`"),
    "no index": (b'{"data": [{"embedding": [1, 2, 3]}, {"embedding": [1, 2, 3]}]}', "missing required field `index`"),
    "unequal lengths": (data([[1, 2, 3], [1, 2]]), "2 to 3 dimensions in one answer"),
    "empty": (data([[], []]), "empty"),
    "null": (data([[1, 2, None], [1, 2, 3]]), "Expected `float`, got `null`"),
    "numbers as texts": (data([[1, 2, "3"], [1, 2, 3]]), "Expected `float`, got `str`"),
    "nested": (data([[[1, 2, 3]], [1, 2, 3]]), "Expected `float`, got `array`"),
    "NaN": (data([[1, 2, float("nan")], [1, 2, 3]]), "no JSON"),
    "Infinity": (data([[1, 2, float("inf")], [1, 2, 3]]), "no JSON"),
    "beyond a double": (data([[1, 2, 3]] * 2).replace(b"3", b"3e999"), "out of range"),
    "zero": (data([[1, 2, 3], [0, 0, 0]]), "zero vector"),
    "base64 of NaN": (data([base64_of(1, 2, float("nan")), [1, 2, 3]]), "not finite"),
    "base64 of Infinity": (data([base64_of(1, 2, float("-inf")), [1, 2, 3]]), "not finite"),
    "base64 cut short": (data([base64_of(1, 2, 3)[:-3] + "A==", [1, 2, 3]]), "four bytes"),
    "no base64": (data(["not base64", [1, 2, 3]]), "four bytes"),
    "base64 of another alphabet": (data(["é" * 16, [1, 2, 3]]), "four bytes"),
    "no JSON": (b"<html>busy</html>", "no JSON"),
    "nothing": (b"", "no JSON"),
    "no UTF-8": (b'{"data": "\xff"}', "JSON|shape"),
    "endless nesting": (b'{"data": [], "error": ' + b"[" * 100_000, "no JSON"),
    "a list": (b"[]", "wrong shape"),
    "an error under 200": (b'{"error": {"message": "at 10.0.0.7"}}', "an error in place of vectors"),
    "an error beside vectors": (data([[1, 2, 3]] * 2)[:-1] + b', "error": "partly"}', "an error in place of vectors"),
}


@pytest.mark.parametrize(("body", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_no_vector(body: bytes, sentence: str) -> None:
    with pytest.raises(RemoteFault, match=sentence) as caught:
        vectors(body, 2)
    assert "10.0.0.7" not in str(caught.value)


RIGHT_ROWS = {
    "numbers": [3, 0, 4],
    "base64": base64_of(3, 0, 4),
    "huge": [3e300, 0, 4e300],
    "tiny": [3e-320, 0, 4e-320],
}


@pytest.mark.parametrize("row", RIGHT_ROWS.values(), ids=RIGHT_ROWS)
def test_numbers_are_read_however_they_are_written(row: object) -> None:
    np.testing.assert_allclose(
        vectors(data([row]), 1), [[0.6, 0, 0.8]], atol=1e-3 if row == [3e-320, 0, 4e-320] else 1e-7
    )


NAMES = st.sampled_from(["data", "index", "embedding", "error", "id"])
LEAVES = st.none() | st.booleans() | st.integers(-1, 1) | st.floats() | st.text(max_size=4)
VALUES = st.recursive(LEAVES, lambda part: st.lists(part) | st.dictionaries(NAMES, part))


@given(st.binary() | VALUES.map(msgspec.json.encode))
def test_any_body_is_vectors_or_a_fault(body: bytes) -> None:
    first_model(body)
    try:
        got = vectors(body, 1)
    except RemoteFault:
        return
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1, atol=1e-6)


@given(st.permutations(range(5)), st.integers(0, 31))
def test_the_order_of_an_answer_does_not_count(order: list[int], coded: int) -> None:
    rows = [[float(number + 1), 1.0, -2.0] for number in range(5)]
    sent = [base64_of(*rows[n]) if coded >> n & 1 else rows[n] for n in order]
    np.testing.assert_array_equal(vectors(data(sent, order), 5), vectors(data(rows), 5))
