"""ONNX models that hold no weights: operators over the byte ranges of a `model.safetensors`.

    python -m service.embedding.skeleton DIRECTORY OUT

writes the one of the model in DIRECTORY; that of the default model is package data, `minilm/skeleton.onnx`.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from service.core.errors import ModelUnavailable
from service.embedding.bert import ACTIVATIONS, INPUTS, Bert, Config
from service.embedding.safetensors import read_header

Output = Literal["sentence_embedding", "last_hidden_state"]


def build(config: Mapping[str, Any], weights: Path, output: Output = "sentence_embedding") -> bytes:
    """The ONNX model of a BERT, the same bytes for the same files.

    It asks for input_ids and attention_mask, 64-bit (batch, length), and gives 32-bit `last_hidden_state` (batch,
    length, hidden) or `sentence_embedding` (batch, hidden): the mean over the mask, at length 1. The session finds the
    weights under the name of the file `weights`, which must be no symbolic link, in the directory it is told.
    ModelUnavailable for an architecture or weights of another kind.
    """
    from service.embedding.graph import Graph  # noqa: PLC0415 - it loads onnx, which the default model does without

    shape, header = _shape(config), read_header(weights)
    graph = Graph(weights.name, header.start)
    bert = Bert(graph, shape, header.tensors)
    state = bert.hidden_state()
    if output == "last_hidden_state":
        return graph.model(INPUTS, {state: ("batch", "length", shape.hidden_size)})
    return graph.model(INPUTS, {bert.mean(state): ("batch", shape.hidden_size)})


def _shape(config: Mapping[str, Any]) -> Config:
    try:
        shape = msgspec.convert(config, Config)
    except msgspec.ValidationError as exc:
        raise ModelUnavailable(f"config.json of the model does not describe a BERT: {exc}") from None
    if (what := _unsupported(shape)) is not None:
        raise ModelUnavailable(f"a model with {what} is only run from an ONNX file: export it to onnx/model.onnx")
    return shape


def _unsupported(shape: Config) -> str | None:
    if shape.model_type != "bert":
        return f"model_type {shape.model_type!r}"
    if shape.position_embedding_type not in ("absolute", None):
        return f"position_embedding_type {shape.position_embedding_type!r}"
    if shape.hidden_act not in ACTIVATIONS:
        return f"hidden_act {shape.hidden_act!r}"
    if shape.is_decoder:
        return "is_decoder"
    return "heads that do not divide hidden_size" if shape.hidden_size % shape.num_attention_heads else None


def main(arguments: Sequence[str]) -> None:
    """Write the model of the directory named first to the file named second."""
    directory, out = (Path(argument) for argument in arguments)
    config = msgspec.json.decode((directory / "config.json").read_bytes(), type=dict[str, Any])
    out.write_bytes(build(config, directory / "model.safetensors"))


if __name__ == "__main__":
    main(sys.argv[1:])
