"""Graphs of other makes, links and damage."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from service.core.errors import ModelUnavailable
from service.embedding.local import load
from tests.embedding import tiny
from tests.embedding.encoding import TEXTS, alone, vectors
from tests.embedding.graphs import LOOK_UP, MEAN, NARROW, ONE_BY_ONE, SCALED, TOKENS, UNNAMED, Make, directory_of

GRAPHS = {
    "tokens": (TOKENS, True),
    "a mean that counts padding": (MEAN, False),
    "one scale for the whole run": (SCALED, False),
    "one text at a time": (ONE_BY_ONE, False),
    "32-bit inputs": (NARROW, True),
    "an output of another name": (UNNAMED, True),
}


@pytest.mark.parametrize(("graph", "invariant"), GRAPHS.values(), ids=GRAPHS)
def test_neighbours_never_matter(tmp_path: Path, graph: Make, invariant: bool) -> None:
    encoder = load(directory_of(tmp_path, graph))
    assert encoder.model.batch_invariant == invariant
    texts = [*TEXTS, "the dog runs.", "yes"]
    np.testing.assert_allclose(vectors(encoder, texts), alone(encoder, texts), atol=1e-6)


def test_a_graph_of_texts_has_pooled_itself(tmp_path: Path) -> None:
    encoder = load(directory_of(tmp_path, MEAN, "model.onnx", pooling="cls", dense=(8, "Tanh")))
    assert encoder.model.dimensions == 16


def test_weights_outside_the_graph(tmp_path: Path) -> None:
    inside = load(directory_of(tmp_path / "inside", TOKENS))
    directory = directory_of(tmp_path / "outside", TOKENS)
    TOKENS.write(directory / "onnx" / "model.onnx", outside="model.onnx_data")
    outside = load(directory)
    np.testing.assert_array_equal(vectors(outside, TEXTS), vectors(inside, TEXTS))
    file = directory / "onnx" / "model.onnx_data"
    file.write_bytes(file.read_bytes()[64:] + file.read_bytes()[:64])
    assert load(directory).model.fingerprint != outside.model.fingerprint


def as_in_the_hubs_cache(directory: Path, cache: Path) -> Path:
    """The directory with each file a link to a blob."""
    for at, file in enumerate(sorted(file for file in directory.rglob("*") if file.is_file())):
        blob, link = cache / "blobs" / f"{at:064x}", cache / "snapshots" / "abc" / file.relative_to(directory)
        blob.parent.mkdir(parents=True, exist_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, blob)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return cache / "snapshots" / "abc"


@pytest.mark.parametrize("kind", ["weights", "graph", "graph with weights outside"])
def test_links(tmp_path: Path, kind: str) -> None:
    directory = tiny.make(tmp_path / "tiny") if kind == "weights" else directory_of(tmp_path, TOKENS)
    if kind == "graph with weights outside":
        TOKENS.write(directory / "onnx" / "model.onnx", outside="model.onnx_data")
    linked = load(as_in_the_hubs_cache(directory, tmp_path / "models--example--tiny"))
    assert linked.model.id == "example/tiny"
    assert linked.model.fingerprint == load(directory).model.fingerprint
    np.testing.assert_array_equal(vectors(linked, TEXTS), vectors(load(directory), TEXTS))


def test_a_linked_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tiny.make(tmp_path / "tiny"))
    assert vectors(load(tmp_path / "link"), ["yes"]).shape == (1, 32)


def test_weights_linked_out_of_a_graphs_directory(tmp_path: Path) -> None:
    directory = directory_of(tmp_path, TOKENS)
    TOKENS.write(directory / "onnx" / "model.onnx", outside="model.onnx_data")
    elsewhere = (directory / "onnx" / "model.onnx_data").rename(tmp_path / "elsewhere")
    (directory / "onnx" / "model.onnx_data").symlink_to(elsewhere)
    with pytest.raises(ModelUnavailable, match="copy the directory with its links followed"):
        load(directory)


def cut(name: str, to: float) -> Callable[[Path], object]:
    return lambda at: (at / name).write_bytes((at / name).read_bytes()[: int((at / name).stat().st_size * to)])


def fill(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda at: (at / name).write_bytes(content)


def replace(name: str, old: str, new: str) -> Callable[[Path], object]:
    return lambda at: (at / name).write_text((at / name).read_text().replace(old, new))


def write(graph: Make) -> Callable[[Path], object]:
    return lambda at: graph.write(at / "model.onnx")


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "weights cut short": (cut("model.safetensors", 0.5), "model.safetensors"),
    "weights cut in the header": (cut("model.safetensors", 0.001), "model.safetensors"),
    "empty weights": (fill("model.safetensors", b""), "model.safetensors"),
    "no safetensors": (fill("model.safetensors", b"version https://git-lfs"), "model.safetensors"),
    "dense cut short": (cut("2_Dense/model.safetensors", 0.5), "model.safetensors"),
    "dense without a matrix": (
        lambda at: tiny.write_safetensors(at / "2_Dense/model.safetensors", {}),
        "2_Dense/model.safetensors has no matrix linear.weight",
    ),
    "dense of another width": (
        lambda at: tiny.write_safetensors(
            at / "2_Dense/model.safetensors", {"linear.weight": np.ones((4, 5), np.float32)}
        ),
        "takes vectors of 5 dimensions, and the pooling gives 32",
    ),
    "no onnx": (fill("model.onnx", b"version https://git-lfs"), "model.onnx of tiny cannot be loaded"),
    "an empty graph": (fill("model.onnx", b""), "model.onnx of tiny cannot be loaded"),
    "a graph of no such inputs": (
        write(Make(("Identity", ["pixels"], "y", {}), inputs={"pixels": TensorProto.FLOAT}, outputs={"y": 2})),
        "model.onnx of tiny needs the inputs pixels",
    ),
    "a graph of one axis": (
        write(
            Make(
                LOOK_UP,
                ("ReduceSum", ["rows"], "y", {"keepdims": 0}),
                ("Reshape", ["y", "one"], "z", {}),
                ("Expand", ["z", "one"], "out", {}),
                outputs={"out": 1},
            )
        ),
        "neither vectors of texts",
    ),
    "a graph of zeros": (
        write(Make(LOOK_UP, ("Sub", ["rows", "rows"], "last_hidden_state", {}))),
        "zero or not finite",
    ),
    "another vocabulary": (
        replace("tokenizer.json", '"no":', '"no": 9999, "nay":'),
        "failed on 1 x 64 tokens",
    ),
    "fewer positions than promised": (
        replace("config.json", '"max_position_embeddings": 128', '"max_position_embeddings": 999'),
        "position_embeddings",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_damage_is_named(tmp_path: Path, name: str) -> None:
    damage, sentence = BROKEN[name]
    directory = tiny.make(tmp_path / "tiny", dense=(8, "Tanh") if "dense" in name else None)
    damage(directory)
    with pytest.raises(ModelUnavailable) as raised:
        load(directory)
    assert sentence in raised.value.detail
    assert str(tmp_path) not in raised.value.detail
