import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.ports import Matrix
from service.embedding.encoder import Encoder
from service.embedding.hashing import HashingEncoder

ENCODER = HashingEncoder()
TEXTS = st.text(st.characters(), max_size=60)


def embed(*texts: str, encoder: Encoder = ENCODER) -> Matrix:
    return encoder.run(encoder.prepare(texts))


def cosine(one: str, other: str) -> float:
    first, second = embed(one, other)
    return float(first @ second)


@given(st.lists(TEXTS, max_size=8), st.integers(2, 100))
def test_rows_have_length_1(texts: list[str], dimensions: int) -> None:
    got = embed(*texts, encoder=HashingEncoder(dimensions))
    assert got.shape == (len(texts), dimensions)
    assert got.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1, atol=1e-6)


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_a_vector_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    np.testing.assert_array_equal(embed(*texts), np.concatenate([embed(text) for text in texts]))


@given(TEXTS)
def test_white_space_and_case_do_not_count(text: str) -> None:
    np.testing.assert_array_equal(*embed(text, f" \t{'  '.join(text.split())}\n"))
    np.testing.assert_array_equal(*embed("A Plain Text", "a plain text"))


@given(TEXTS, st.integers(2, 12))
def test_truncation_is_told_and_past_it_nothing_counts(text: str, max_tokens: int) -> None:
    encoder = HashingEncoder(max_tokens=max_tokens)
    (one,) = encoder.prepare([text])
    words = text.split()
    assert one.tokens == len(words) + 2
    assert one.read == one.length == min(one.tokens, max_tokens)
    assert encoder.count([text]) == [len(words)]
    np.testing.assert_array_equal(*embed(text, " ".join(words[: max_tokens - 2]), encoder=encoder))


@pytest.mark.parametrize(
    ("near", "one", "far"),
    [
        ("the cat sat on a mat", "the cat sat on the mat", "quarterly revenue grew by 4 %"),
        ("colours of the sea", "colour of the sea", "a list of numbers"),
        ("Canberra is the capital", "The capital is Canberra", "boil the eggs for six minutes"),
    ],
)
def test_texts_that_share_spelling_are_near(near: str, one: str, far: str) -> None:
    assert cosine(one, near) > 0.7
    assert cosine(one, far) < 0.4


def test_the_model_says_what_it_is() -> None:
    model = HashingEncoder(8, 16).model
    assert (model.id, model.dimensions, model.max_tokens, model.batch_invariant) == ("hashing-8", 8, 16, True)
    prints = {HashingEncoder(*sizes).model.fingerprint for sizes in ((8, 16), (8, 17), (9, 16))}
    assert len(prints) == 3


@pytest.mark.parametrize("sizes", [(1, 256), (64, 1)])
def test_sizes_that_cannot_work_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        HashingEncoder(*sizes)


def test_another_process_makes_the_same_vectors() -> None:
    code = (
        "from service.embedding.hashing import HashingEncoder as H; e = H();"
        "print(e.run(e.prepare(['Größe', ''])).tobytes().hex())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": "7"}
    )
    assert told.stdout.strip() == embed("Größe", "").tobytes().hex()
