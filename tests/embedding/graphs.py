"""ONNX graphs of other makes, and directories that hold them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.embedding import tiny

Node = tuple[str, list[str], str, dict[str, Any]]


class Make:
    """An ONNX graph over a table of random vectors, one for each token of the tiny vocabulary."""

    def __init__(self, *nodes: Node, **shape: Any) -> None:
        self.nodes = [helper.make_node(kind, inputs, [gives], **rest) for kind, inputs, gives, rest in nodes]
        self.inputs: dict[str, int] = shape.get("inputs", {"input_ids": TensorProto.INT64})
        self.outputs: dict[str, int] = shape.get("outputs", {"last_hidden_state": 3})
        self.texts = shape.get("texts", "texts")

    def write(self, file: Path, *, outside: str | None = None) -> None:
        table = np.random.default_rng(3).normal(size=(len(tiny.VOCABULARY), 16)).astype(np.float32)
        graph = helper.make_graph(
            self.nodes,
            "made",
            [helper.make_tensor_value_info(name, kind, [self.texts, "n"]) for name, kind in self.inputs.items()],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, [*[self.texts, "n"][: rank - 1], 16])
                for name, rank in self.outputs.items()
            ],
            [
                numpy_helper.from_array(table, "table"),
                numpy_helper.from_array(np.array([1], np.int64), "one"),
                numpy_helper.from_array(np.array([2], np.int64), "two"),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        file.parent.mkdir(parents=True, exist_ok=True)
        if outside:
            onnx.save(model, str(file), save_as_external_data=True, location=outside, size_threshold=0)
        else:
            file.write_bytes(model.SerializeToString())


LOOK_UP: Node = ("Gather", ["table", "input_ids"], "rows", {})
TOKENS = Make(("Gather", ["table", "input_ids"], "last_hidden_state", {}))
MEAN = Make(
    LOOK_UP,
    ("ReduceMean", ["rows", "one"], "sentence_embedding", {"keepdims": 0}),
    outputs={"sentence_embedding": 2},
)
SCALED = Make(
    LOOK_UP,
    ("ReduceMax", ["rows"], "largest", {"keepdims": 0}),
    ("Add", ["rows", "largest"], "moved", {}),
    ("Exp", ["moved"], "last_hidden_state", {}),
    ("ReduceMean", ["last_hidden_state", "one"], "pooled", {"keepdims": 0}),
    ("Sub", ["pooled", "largest"], "sentence_embedding", {}),
    outputs={"sentence_embedding": 2},
)
ONE_BY_ONE = Make(("Gather", ["table", "input_ids"], "last_hidden_state", {}), texts=1)
NARROW = Make(
    ("Gather", ["table", "input_ids"], "token_embeddings", {}),
    inputs={"input_ids": TensorProto.INT32, "attention_mask": TensorProto.INT32, "token_type_ids": TensorProto.INT64},
    outputs={"token_embeddings": 3},
)
UNNAMED = Make(("Gather", ["table", "input_ids"], "y", {}), outputs={"y": 3})


def directory_of(tmp_path: Path, graph: Make, name: str = "onnx/model.onnx", **made: Any) -> Path:
    directory = tiny.make(tmp_path / "tiny", **made)
    (directory / "model.safetensors").unlink()
    graph.write(directory / name)
    return directory
