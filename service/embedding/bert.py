"""BERT as operators of a graph."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from service.core.errors import ModelUnavailable
from service.embedding.safetensors import Tensor

if TYPE_CHECKING:
    from service.embedding.graph import Graph

INPUTS = ("input_ids", "attention_mask")
ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
MASKED = -10_000.0
"""Added to the scores of padding: e to this power is 0 in 32 bits."""

Positive = Annotated[int, Meta(ge=1)]


class Config(Struct, frozen=True):
    """What config.json of a BERT says of its arithmetic."""

    hidden_size: Positive
    intermediate_size: Positive
    num_hidden_layers: Positive
    num_attention_heads: Positive
    vocab_size: Positive
    max_position_embeddings: Positive
    type_vocab_size: Positive = 2
    layer_norm_eps: Annotated[float, Meta(gt=0, lt=1)] = 1e-12
    hidden_act: str = "gelu"
    model_type: str = ""
    position_embedding_type: str | None = "absolute"
    is_decoder: bool = False


class Bert:
    """The encoder of Devlin et al. 2018, every token in segment 0.

    ModelUnavailable where a tensor is absent or has another type or shape than the config implies.
    """

    def __init__(self, graph: "Graph", config: Config, tensors: Mapping[str, Tensor]) -> None:
        self._graph, self._config, self._tensors = graph, config, tensors
        self._prefix = "bert." if "bert.embeddings.word_embeddings.weight" in tensors else ""
        self._mask = graph.op("Cast", "attention_mask", to=1)

    def hidden_state(self) -> str:
        """`last_hidden_state` (batch, length, hidden): what the last layer gives."""
        op, floats = self._graph.op, self._graph.floats
        absent = op("Sub", floats(1), op("Unsqueeze", self._mask, self._graph.ints(1, 2)))
        bias = op("Mul", absent, floats(MASKED))
        state = self._embeddings()
        last = self._config.num_hidden_layers - 1
        for layer in range(last + 1):
            at = f"encoder.layer.{layer}."
            state = self._norm(f"{at}attention.output", state, self._attention(f"{at}attention.", state, bias))
            fed = self._feed_forward(at, state)
            state = self._norm(f"{at}output", state, fed, gives="last_hidden_state" if layer == last else "")
        return state

    def mean(self, state: str) -> str:
        """`sentence_embedding` (batch, hidden): the mean over the tokens of the mask, at length 1."""
        op, floats, ints = self._graph.op, self._graph.floats, self._graph.ints
        total = op("Squeeze", op("MatMul", op("Unsqueeze", self._mask, ints(1)), state), ints(1))
        count = op("Max", op("ReduceSum", self._mask, ints(1), keepdims=1), floats(1e-9))
        mean = op("Div", total, count)
        length = op("Max", op("ReduceL2", mean, axes=[1], keepdims=1), floats(1e-12))
        return op("Div", mean, length, gives="sentence_embedding")

    def _embeddings(self) -> str:
        op, ints, config = self._graph.op, self._graph.ints, self._config
        words = op("Gather", self._table("word", config.vocab_size), "input_ids", axis=0)
        segment = op("Slice", self._table("token_type", config.type_vocab_size), ints(0), ints(1), ints(0))
        places = op("Add", self._table("position", config.max_position_embeddings), segment)
        length = op("Shape", "input_ids", start=1, end=2)
        return self._norm("embeddings", words, op("Slice", places, ints(0), length, ints(0)))

    def _attention(self, at: str, state: str, bias: str) -> str:
        op, config = self._graph.op, self._config
        width = config.hidden_size // config.num_attention_heads
        split, joined = self._graph.ints(0, 0, config.num_attention_heads, width), self._graph.ints(0, 0, -1)

        def heads(part: str, order: list[int]) -> str:
            projected = self._linear(f"{at}self.{part}", state, config.hidden_size, config.hidden_size)
            return op("Transpose", op("Reshape", projected, split), perm=order)

        query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
        scores = op("Div", op("MatMul", query, key), self._graph.floats(width**0.5))
        weights = op("Softmax", op("Add", scores, bias), axis=-1)
        mixed = op("Transpose", op("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self._linear(f"{at}output.dense", op("Reshape", mixed, joined), config.hidden_size, config.hidden_size)

    def _feed_forward(self, at: str, state: str) -> str:
        hidden, inner = self._config.hidden_size, self._config.intermediate_size
        raised = self._activation(self._linear(f"{at}intermediate.dense", state, hidden, inner))
        return self._linear(f"{at}output.dense", raised, inner, hidden)

    def _activation(self, value: str) -> str:
        op, floats = self._graph.op, self._graph.floats
        match self._config.hidden_act:
            case "relu":
                return op("Relu", value)
            case "gelu":
                curve = op("Erf", op("Div", value, floats(2**0.5)))
            case _:
                cubed = op("Mul", op("Mul", value, value), op("Mul", value, floats(0.044715)))
                curve = op("Tanh", op("Mul", op("Add", value, cubed), floats((2 / math.pi) ** 0.5)))
        return op("Mul", op("Mul", value, op("Add", curve, floats(1))), floats(0.5))

    def _norm(self, name: str, left: str, right: str, gives: str = "") -> str:
        """LayerNorm of a sum."""
        hidden = self._config.hidden_size
        weight, bias = (self._tensor(f"{name}.LayerNorm.{part}", hidden) for part in ("weight", "bias"))
        total = self._graph.op("Add", left, right)
        epsilon = self._config.layer_norm_eps
        return self._graph.op("LayerNormalization", total, weight, bias, axis=-1, epsilon=epsilon, gives=gives)

    def _linear(self, name: str, value: str, inputs: int, outputs: int) -> str:
        op = self._graph.op
        weight = op("Transpose", self._tensor(f"{name}.weight", outputs, inputs), perm=[1, 0])
        return op("Add", op("MatMul", value, weight), self._tensor(f"{name}.bias", outputs))

    def _table(self, kind: str, rows: int) -> str:
        return self._tensor(f"embeddings.{kind}_embeddings.weight", rows, self._config.hidden_size)

    def _tensor(self, name: str, *shape: int) -> str:
        tensor = self._tensors.get(f"{self._prefix}{name}")
        if tensor is None:
            raise ModelUnavailable(f"the model's weights have no {name}, which its config.json implies")
        if tensor.dtype != "F32":
            raise ModelUnavailable(
                f"the model's weights are {tensor.dtype} ({name}): only F32 runs without an ONNX file"
            )
        if tensor.shape != shape:
            found, implied = list(tensor.shape), list(shape)
            raise ModelUnavailable(f"the model's {name} has the shape {found}, its config.json implies {implied}")
        return self._graph.tensor(f"{self._prefix}{name}", tensor)
