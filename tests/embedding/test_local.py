"""Vectors of a model in a directory, against an independent reading of what the directory says."""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.core.errors import ModelUnavailable
from service.embedding import skeleton
from service.embedding.layout import Options
from service.embedding.local import LocalEncoder, load, load_default
from service.embedding.pooling import unit
from service.embedding.session import Session
from tests.counts import COUNTS
from tests.embedding import tiny
from tests.embedding.encoding import TEXTS, alone, vectors
from tests.model import FETCHED, require_model

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "embeddings.jsonl"

SEED = 7


def token_vectors(directory: Path, encoder: LocalEncoder, texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """(tokens, width) of each text, run by itself."""
    config = json.loads((directory / "config.json").read_text())
    graph = skeleton.build(config, directory / "model.safetensors", "last_hidden_state")
    session = Session(graph, "tiny", weights=directory)
    return [session.run([text.ids], len(text.ids))[0].astype(np.float64) for text in encoder.prepare(texts)]


POOLED: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "cls": lambda rows: rows[0],
    "mean": lambda rows: np.array([sum(column) / len(rows) for column in rows.T]),
    "max": lambda rows: np.array([max(column) for column in rows.T]),
    "mean_sqrt_len": lambda rows: np.array([sum(column) / len(rows) ** 0.5 for column in rows.T]),
    "weightedmean": lambda rows: np.average(rows, axis=0, weights=range(1, len(rows) + 1)),
    "lasttoken": lambda rows: rows[-1],
}
ACTIVATED: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "Tanh": np.tanh,
    "Identity": lambda x: x,
    "ReLU": lambda x: x * (x > 0),
}


def expected(rows: NDArray[np.float64], pooling: str, dense: tuple[int, str] | None, size: int | None) -> Any:
    vector = POOLED[pooling](rows)
    if dense:
        rng = np.random.default_rng(SEED + 1)
        weight, bias = rng.normal(0, 0.3, (dense[0], len(vector))), rng.normal(0, 0.3, dense[0])
        vector = ACTIVATED[dense[1]](weight @ vector + bias)
    return vector[:size] / np.linalg.norm(vector[:size])


@pytest.mark.parametrize("size", [None, 8])
@pytest.mark.parametrize("dense", [None, (24, "Tanh"), (48, "Identity"), (24, "ReLU")], ids=str)
@pytest.mark.parametrize("pooling", POOLED)
def test_pooling_dense_and_size(tmp_path: Path, pooling: str, dense: tuple[int, str] | None, size: int | None) -> None:
    directory = tiny.make(tmp_path / "tiny", pooling=pooling, dense=dense, truncate_dim=size, seed=SEED)
    encoder = load(directory)
    rows = token_vectors(directory, encoder, TEXTS)
    want = np.vstack([expected(text, pooling, dense, size) for text in rows])
    assert encoder.model.dimensions == want.shape[1] == (size or (dense or (32,))[0])
    np.testing.assert_allclose(vectors(encoder, TEXTS), want, atol=2e-6)
    np.testing.assert_allclose(alone(encoder, TEXTS), want, atol=2e-6)
    assert encoder.model.batch_invariant


def test_several_poolings_are_joined(tmp_path: Path) -> None:
    directory = tiny.make(tmp_path / "tiny")
    (directory / "1_Pooling" / "config.json").write_text('{"pooling_mode": ["cls", "max"]}')
    encoder = load(directory)
    rows = token_vectors(directory, encoder, TEXTS)
    joined = [np.concatenate([POOLED["cls"](text), POOLED["max"](text)]) for text in rows]
    np.testing.assert_allclose(
        vectors(encoder, TEXTS), [vector / np.linalg.norm(vector) for vector in joined], atol=2e-6
    )


def test_the_model(tmp_path: Path) -> None:
    encoder = load(tiny.make(tmp_path / "tiny"), Options(id="mine", max_tokens=16))
    model = encoder.model
    assert (model.id, model.dimensions, model.max_tokens, model.sizes) == ("mine", 32, 16, ())
    assert [(text.tokens, text.read) for text in encoder.prepare(["the cat", "the " * 30])] == [(4, 4), (32, 16)]
    assert encoder.count(["the cat", ""]) == [2, 0]
    assert vectors(encoder, []).shape == (0, 32)


def test_the_prompt_is_read(tmp_path: Path) -> None:
    plain = load(tiny.make(tmp_path / "plain"))
    prompted = load(tiny.make(tmp_path / "prompted", prompts={"sts": "the answer: "}, default_prompt="sts"))
    np.testing.assert_array_equal(vectors(prompted, ["yes"]), vectors(plain, ["the answer: yes"]))


HOSTILE = {
    "empty": "",
    "NUL": "\0",
    "a lone surrogate": "\ud800",
    "a long word": "x" * 5_000,
    "513 tokens": "the " * 511,
    "a megabyte": "the cat " * 125_000,
    "white space": " \n\t" * 1_000,
    "emoji": "👩‍👩‍👧‍👦" * 100,
    "special tokens": "[PAD] [PAD] [CLS]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_every_text_has_a_vector(tmp_path: Path, text: str) -> None:
    encoder = load(tiny.make(tmp_path / "tiny", max_seq_length=None))
    made = vectors(encoder, ["yes", text])
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(made, alone(encoder, ["yes", text]), atol=1e-6)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> LocalEncoder:
    return load(tiny.make(tmp_path_factory.mktemp("local") / "tiny"))


@given(st.lists(st.text(st.sampled_from("the cat no. x"), max_size=60), min_size=1, max_size=8), st.randoms())
def test_neighbours_and_order_do_not_matter(shared: LocalEncoder, texts: list[str], random: Any) -> None:
    made = dict(zip(texts, vectors(shared, texts), strict=True))
    random.shuffle(texts)
    for text, vector in zip(texts, vectors(shared, texts), strict=True):
        np.testing.assert_allclose(vector, made[text], atol=1e-6)


def test_many_threads_at_once(shared: LocalEncoder) -> None:
    want = vectors(shared, TEXTS)
    with ThreadPoolExecutor(8) as threads:
        for made in threads.map(lambda _: vectors(shared, TEXTS), range(64)):
            np.testing.assert_array_equal(made, want)


def test_a_closed_encoder_says_so(tmp_path: Path) -> None:
    encoder = load(tiny.make(tmp_path / "tiny"))
    encoder.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        vectors(encoder, ["yes"])


FINGERPRINTS: dict[str, dict[str, Any]] = {
    "other weights": {"seed": 8},
    "another pooling": {"pooling": "cls"},
    "a dense layer": {"dense": (32, "Tanh")},
    "a prompt": {"prompts": {"sts": "x: "}, "default_prompt": "sts"},
    "a length": {"max_seq_length": 32},
    "a size": {"truncate_dim": 16},
    "other heads": {"heads": 4},
}


@pytest.mark.parametrize("options", FINGERPRINTS.values(), ids=FINGERPRINTS)
def test_fingerprints(tmp_path: Path, options: dict[str, Any]) -> None:
    one, same = load(tiny.make(tmp_path / "one")), load(tiny.make(tmp_path / "same"))
    other = load(tiny.make(tmp_path / "other", **options))
    assert one.model.fingerprint == same.model.fingerprint != other.model.fingerprint


def test_another_tokenizer_is_another_fingerprint(tmp_path: Path) -> None:
    directory = tiny.make(tmp_path / "tiny")
    before = load(directory).model.fingerprint
    file = directory / "tokenizer.json"
    file.write_text(file.read_text().replace('"lowercase": true', '"lowercase": false'))
    assert load(directory).model.fingerprint != before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (Options(dimensions=33), "has 32 dimensions, fewer than the 33 asked for"),
        (Options(providers=("NoSuchProvider",)), "onnxruntime has no NoSuchProvider here"),
        (Options(max_tokens=2), "leave no room"),
    ],
)
def test_impossible_settings(tmp_path: Path, options: Options, sentence: str) -> None:
    with pytest.raises(ModelUnavailable, match=sentence):
        load(tiny.make(tmp_path / "tiny"), options)


@pytest.mark.parametrize("row", [[0.0, 0.0], [1e-13, 0], [np.nan, 1], [np.inf, 1]])
def test_no_direction_is_made_up(row: list[float]) -> None:
    with pytest.raises(ModelUnavailable, match="zero or not finite"):
        unit(np.array([[1, 0], row], dtype=np.float32))


def test_the_default_wants_its_own_files(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="scorewright model fetch"):
        load_default(tiny.make(tmp_path / "tiny"))


# The default model itself --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def default() -> LocalEncoder:
    require_model()
    return load_default(FETCHED)


def test_the_reference(default: LocalEncoder) -> None:
    if not REFERENCE.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{REFERENCE} is absent")
        pytest.skip("the reference cases are absent")
    rows = [json.loads(line) for line in REFERENCE.read_text().splitlines()]
    texts, pairs = [row for row in rows if "text" in row], [row for row in rows if "a" in row]
    texts.sort(key=lambda row: len(row["text"]))
    made = np.vstack([vectors(default, [row["text"] for row in texts[at : at + 4]]) for at in range(0, len(texts), 4)])
    np.testing.assert_allclose(made[:, :8], [row["embedding_first8"] for row in texts], atol=2e-5)
    np.testing.assert_allclose(made, alone(default, [row["text"] for row in texts]), atol=1e-6)
    left, right = (vectors(default, [row[side] for row in pairs]) for side in "ab")
    np.testing.assert_allclose((left * right).sum(axis=1), [row["cosine"] for row in pairs], atol=2e-5)
    COUNTS.append(f"embedding reference: {len(texts)} vectors, {len(pairs)} cosines")
    assert (len(texts), len(pairs)) == (60, 40)


def test_what_the_default_is(default: LocalEncoder) -> None:
    model = default.model
    assert (model.id, model.dimensions, model.max_tokens) == ("sentence-transformers/all-MiniLM-L6-v2", 384, 256)
    assert model.batch_invariant
    assert load(FETCHED).model.fingerprint == model.fingerprint


def test_the_default_through_links(default: LocalEncoder, tmp_path: Path) -> None:
    for file in FETCHED.iterdir():
        (tmp_path / file.name).symlink_to(file)
    np.testing.assert_allclose(vectors(load_default(tmp_path), TEXTS), vectors(default, TEXTS), atol=1e-6)
