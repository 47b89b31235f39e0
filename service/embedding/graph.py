"""Writes ONNX models whose weights are byte ranges of another file. Loads `onnx`: import it only to build one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from onnx import ModelProto, NodeProto, StringStringEntryProto, TensorProto, ValueInfoProto, helper, numpy_helper

from service.embedding.safetensors import Tensor

OPSET = 17
IR_VERSION = 8
"""Both of 2022: read by every ONNX runtime of the last years."""


class Graph:
    """Nodes and initialisers in the order of their making, which names them: the same calls, the same bytes."""

    def __init__(self, location: str, start: int) -> None:
        self._location, self._start = location, start
        self._nodes: list[NodeProto] = []
        self._initialisers: dict[str, TensorProto] = {}

    def op(self, kind: str, *inputs: str, gives: str = "", **attributes: Any) -> str:
        """The name of what the operator gives: `gives`, or one made up."""
        name = gives or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def floats(self, value: ArrayLike) -> str:
        """A constant of 32-bit floats."""
        return self._constant(np.asarray(value, np.float32))

    def ints(self, *values: int) -> str:
        """A constant list of 64-bit integers."""
        return self._constant(np.array(values, np.int64))

    def tensor(self, name: str, tensor: Tensor) -> str:
        """A tensor of the other file, by its place there."""
        if name not in self._initialisers:
            first, last = tensor.data_offsets
            place = {"location": self._location, "offset": self._start + first, "length": last - first}
            self._initialisers[name] = TensorProto(
                name=name,
                data_type=TensorProto.FLOAT,
                dims=tensor.shape,
                data_location=TensorProto.EXTERNAL,
                external_data=[StringStringEntryProto(key=key, value=str(value)) for key, value in place.items()],
            )
        return name

    def model(self, inputs: Sequence[str], outputs: Mapping[str, Sequence[str | int]]) -> bytes:
        """The model: inputs are 64-bit integers (batch, length), outputs 32-bit floats of the shapes given."""
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [_value(name, TensorProto.INT64, ("batch", "length")) for name in inputs],
            [_value(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            list(self._initialisers.values()),
        )
        model: ModelProto = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="scorewright",
        )
        return bytes(model.SerializeToString(deterministic=True))

    def _constant(self, value: NDArray[np.generic]) -> str:
        name = f"constant_{len(self._initialisers)}"
        self._initialisers[name] = numpy_helper.from_array(value, name)
        return name


def _value(name: str, kind: int, shape: Sequence[str | int]) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, list(shape))
