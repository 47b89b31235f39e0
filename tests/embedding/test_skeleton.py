"""Models made of config.json and model.safetensors against BERT written with numpy."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import erf

from service.core.errors import ModelUnavailable
from service.embedding import skeleton
from service.embedding.safetensors import read_header
from tests.embedding import tiny
from tests.model import FETCHED, require_model

COMMITTED = Path(skeleton.__file__).parent / "minilm/skeleton.onnx"

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "gelu": lambda x: x * (1 + np.asarray(erf(x / np.sqrt(2)))) / 2,
    "gelu_new": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "gelu_pytorch_tanh": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "relu": lambda x: np.maximum(x, 0),
}


def config_of(directory: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((directory / "config.json").read_text())
    return loaded


def bert(directory: Path, ids: Ids) -> Floats:
    """The last hidden state (length, hidden) of one text, in 64 bits."""
    config = config_of(directory)
    raw = (directory / "model.safetensors").read_bytes()
    header = read_header(directory / "model.safetensors")

    def get(name: str) -> Floats:
        tensor = next(found for key, found in header.tensors.items() if key in (name, f"bert.{name}"))
        first, last = (header.start + offset for offset in tensor.data_offsets)
        return np.frombuffer(raw[first:last], "<f4").reshape(tensor.shape).astype(np.float64)

    def linear(x: Floats, name: str) -> Floats:
        return x @ get(f"{name}.weight").T + get(f"{name}.bias")

    def norm(x: Floats, name: str) -> Floats:
        centred = x - x.mean(-1, keepdims=True)
        scaled: Floats = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return scaled * get(f"{name}.LayerNorm.weight") + get(f"{name}.LayerNorm.bias")

    def attend(x: Floats, at: str) -> Floats:
        query, key, value = (
            np.split(linear(x, f"{at}.self.{part}"), config["num_attention_heads"], axis=1)
            for part in ("query", "key", "value")
        )
        mixed = []
        for q, k, v in zip(query, key, value, strict=True):
            scores = np.exp(q @ k.T / np.sqrt(q.shape[1]))
            mixed.append(scores / scores.sum(1, keepdims=True) @ v)
        return linear(np.concatenate(mixed, axis=1), f"{at}.output.dense")

    tables = [get(f"embeddings.{table}_embeddings.weight") for table in ("word", "position", "token_type")]
    x = norm(tables[0][ids] + tables[1][: len(ids)] + tables[2][0], "embeddings")
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        x = norm(x + attend(x, f"{at}.attention"), f"{at}.attention.output")
        fed = ACTIVATIONS[config["hidden_act"]](linear(x, f"{at}.intermediate.dense"))
        x = norm(x + linear(fed, f"{at}.output.dense"), f"{at}.output")
    return x


def session(directory: Path, output: skeleton.Output) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(directory))
    model = skeleton.build(config_of(directory), directory / "model.safetensors", output)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(loaded: onnxruntime.InferenceSession, texts: list[Ids]) -> NDArray[np.float32]:
    ids = np.zeros((len(texts), max(map(len, texts))), np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    result: NDArray[np.float32] = loaded.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    return result


def some_texts(*lengths: int) -> list[Ids]:
    rng = np.random.default_rng(3)
    return [rng.integers(0, len(tiny.VOCABULARY), length) for length in lengths]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="as it comes"),
        pytest.param({"prefix": "bert."}, id="names behind a prefix"),
        pytest.param({"layers": 1, "heads": 4, "hidden": 16}, id="another shape"),
        *(pytest.param({"config": {"hidden_act": name}}, id=name) for name in ACTIVATIONS),
        pytest.param({"config": {"layer_norm_eps": 1e-2}}, id="another epsilon"),
    ],
)
def test_hidden_state_is_that_of_numpy_alone_and_batched(tmp_path: Path, options: dict[str, Any]) -> None:
    directory = tiny.make(tmp_path, **options)
    loaded = session(directory, "last_hidden_state")
    texts = some_texts(2, 9, 40, 128)
    batched = run(loaded, texts)
    for text, row in zip(texts, batched, strict=True):
        expected = bert(directory, text)
        np.testing.assert_allclose(run(loaded, [text])[0], expected, atol=1e-4)
        np.testing.assert_allclose(row[: len(text)], expected, atol=1e-4)


def test_sentence_embedding_is_the_mean_at_length_one(tmp_path: Path) -> None:
    directory = tiny.make(tmp_path)
    texts = some_texts(2, 9, 40)
    for text, vector in zip(texts, run(session(directory, "sentence_embedding"), texts), strict=True):
        mean = bert(directory, text).mean(axis=0)
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_neighbours_do_not_matter(tiny_session: onnxruntime.InferenceSession, lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, len(tiny.VOCABULARY), length) for length in lengths]
    batched = run(tiny_session, texts)
    for text, vector in zip(texts, batched, strict=True):
        np.testing.assert_allclose(run(tiny_session, [text])[0], vector, atol=2e-6)
        assert abs(np.linalg.norm(vector) - 1) < 1e-6


@pytest.fixture(scope="module")
def tiny_session(tmp_path_factory: pytest.TempPathFactory) -> onnxruntime.InferenceSession:
    return session(tiny.make(tmp_path_factory.mktemp("tiny")), "sentence_embedding")


@pytest.mark.parametrize("padding", [0, 1, 2, 3, 5])
def test_offsets_point_at_the_tensors(tmp_path: Path, padding: int) -> None:
    """Each initialiser's bytes are the tensor's, wherever the header ends."""
    directory = tiny.make(tmp_path)
    shift_tensors(directory / "model.safetensors", padding)
    raw = (directory / "model.safetensors").read_bytes()
    named = tiny.tensors(config_of(directory), 7)
    model = onnx.load_from_string(skeleton.build(config_of(directory), directory / "model.safetensors"))
    outside = [each for each in model.graph.initializer if each.data_location == onnx.TensorProto.EXTERNAL]
    assert {each.name for each in outside} == {name for name in named if not name.startswith("pooler")}
    for each in outside:
        place = {entry.key: entry.value for entry in each.external_data}
        first = int(place["offset"])
        assert place["location"] == "model.safetensors"
        assert raw[first : first + int(place["length"])] == named[each.name].tobytes()
    text = some_texts(5)
    vector = run(session(directory, "sentence_embedding"), text)[0]
    mean = bert(directory, text[0]).mean(axis=0)
    np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


def shift_tensors(path: Path, by: int) -> None:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    path.write_bytes((length + by).to_bytes(8, "little") + raw[8 : 8 + length] + b" " * by + raw[8 + length :])


def without(directory: Path, name: str) -> None:
    named = tiny.tensors(config_of(directory), 7)
    del named[name]
    tiny.write_safetensors(directory / "model.safetensors", named)


def edit_header(directory: Path, old: bytes, new: bytes) -> None:
    path = directory / "model.safetensors"
    assert len(old) == len(new)
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def keep(directory: Path, count: int) -> None:
    path = directory / "model.safetensors"
    path.write_bytes(path.read_bytes()[:count])


QUERY = "encoder.layer.1.attention.self.query.weight"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"model_type": "roberta"}, "model_type 'roberta'", id="another architecture"),
        pytest.param({"position_embedding_type": "relative_key"}, "relative_key", id="relative positions"),
        pytest.param({"hidden_act": "swish"}, "hidden_act 'swish'", id="activation"),
        pytest.param({"is_decoder": True}, "is_decoder", id="decoder"),
        pytest.param({"num_attention_heads": 5}, "heads that do not divide", id="heads"),
        pytest.param({"num_attention_heads": 0}, "num_attention_heads", id="no heads"),
        pytest.param({"hidden_size": None}, "hidden_size", id="no size"),
        pytest.param({"layer_norm_eps": 0}, "layer_norm_eps", id="epsilon"),
        pytest.param({"num_hidden_layers": 3}, "no encoder.layer.2", id="a layer too few"),
        pytest.param({"vocab_size": 5}, "its config.json implies [5, 32]", id="vocabulary"),
        pytest.param({"max_position_embeddings": 64}, "position_embeddings", id="positions"),
        pytest.param(lambda d: without(d, QUERY), f"no {QUERY}", id="absent tensor"),
        pytest.param(lambda d: edit_header(d, b'"F32"', b'"F16"'), "only F32", id="half floats"),
        pytest.param(lambda d: edit_header(d, b"[167, 32]", b"[32, 167]"), "[32, 167]", id="transposed"),
        pytest.param(lambda d: edit_header(d, b"[167, 32]", b"[168, 32]"), "wrong number of bytes", id="bytes"),
        pytest.param(lambda d: edit_header(d, b"[167, 32]", b"[-67, 32]"), "no safetensors header", id="negative"),
        pytest.param(lambda d: keep(d, -1), "cut short", id="one byte short"),
        pytest.param(lambda d: keep(d, 100), "no safetensors header", id="cut in the header"),
        pytest.param(lambda d: keep(d, 0), "no safetensors header", id="empty"),
        pytest.param(
            lambda d: (d / "model.safetensors").write_bytes(b"\xff" * 100), "no safetensors header", id="huge header"
        ),
        pytest.param(lambda d: (d / "model.safetensors").unlink(), "cannot be read", id="absent"),
    ],
)
def test_refused(tmp_path: Path, change: dict[str, Any] | Callable[[Path], object], named: str) -> None:
    directory = tiny.make(tmp_path, config=change if isinstance(change, dict) else None)
    if not isinstance(change, dict):
        change(directory)
    with pytest.raises(ModelUnavailable) as refused:
        skeleton.build(config_of(directory), directory / "model.safetensors")
    assert named in refused.value.detail
    assert str(tmp_path) not in refused.value.detail


@given(raw=st.binary(max_size=60), length=st.none() | st.integers(0, 2**64 - 1))
def test_any_bytes_are_a_header_or_refused(scratch: Path, raw: bytes, length: int | None) -> None:
    scratch.write_bytes((len(raw) if length is None else length).to_bytes(8, "little") + raw)
    try:
        header = read_header(scratch)
    except ModelUnavailable:
        return
    assert header.start <= 8 + len(raw)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("header") / "model.safetensors"


def test_committed_model_is_what_its_weights_give(tmp_path: Path) -> None:
    require_model()
    skeleton.main([str(FETCHED), str(tmp_path / "out.onnx")])
    assert (tmp_path / "out.onnx").read_bytes() == COMMITTED.read_bytes()


def test_committed_model_is_small_and_old_enough() -> None:
    model = onnx.load_from_string(COMMITTED.read_bytes())
    assert COMMITTED.stat().st_size < 40_000
    assert model.ir_version <= 10
    assert [(each.domain, each.version) for each in model.opset_import] == [("", 17)]
    assert [each.name for each in model.graph.output] == ["sentence_embedding"]


def test_onnx_is_loaded_only_to_build() -> None:
    code = "import sys, service.embedding.skeleton, service.embedding.weights; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
