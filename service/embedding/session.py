"""A graph that onnxruntime runs."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from service.core.errors import ModelUnavailable

Ids = Sequence[int]

TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Session:
    """One graph over one copy of its weights. Safe to call from any thread; each call runs on `threads` threads."""

    def __init__(
        self,
        graph: Path | bytes,
        name: str,
        *,
        weights: Path | None = None,
        threads: int = 1,
        providers: Sequence[str] = ("CPUExecutionProvider",),
    ) -> None:
        """`name` is what errors call the graph; `weights` the directory of those that are outside its bytes.

        ModelUnavailable where the graph cannot be loaded, or has other inputs and outputs than an encoder of texts.
        """
        self._name = name
        self._session = _load(graph, name, _options(threads, weights), providers)
        self._inputs = {node.name: INTEGERS.get(node.type) for node in self._session.get_inputs()}
        unknown = [name for name, kind in self._inputs.items() if name not in _FEEDS or kind is None]
        if unknown or "input_ids" not in self._inputs:
            raise ModelUnavailable(
                f"{name} needs the inputs {', '.join(self._inputs)}: only graphs that are given {', '.join(_FEEDS)} "
                "(integers), input_ids always, can be run."
            )
        self._output, rank = _output(self._session, name)
        self.pooled = rank == 2
        """`run` gives vectors of texts, not of tokens."""

    def run(self, batch: Sequence[Ids], length: int) -> NDArray[np.float32]:
        """(texts, width), or (texts, length, width) unless `pooled`; each text is padded on the right to `length`.

        ModelUnavailable where the graph fails, as for more tokens than it has positions.
        """
        feeds = {name: _FEEDS[name](batch, length).astype(kind) for name, kind in self._inputs.items()}
        try:
            output = self._session.run([self._output], feeds)[0]
        except Exception as exc:  # onnxruntime's own kinds share no other base
            raise ModelUnavailable(f"{self._name} failed on {len(batch)} x {length} tokens ({_kind(exc)}).") from exc
        return np.asarray(output, dtype=np.float32)

    def rest(self) -> None:
        """Give the memory of past runs back: the smallest run there is, with that option."""
        feeds = {name: _FEEDS[name]([[0]], 1).astype(kind) for name, kind in self._inputs.items()}
        with suppress(Exception):
            self._session.run([self._output], feeds, _shrinking())


def _shrinking() -> ort.RunOptions:
    options = ort.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


def _ids(batch: Sequence[Ids], length: int) -> NDArray[np.int64]:
    return np.array([[*ids, *[0] * (length - len(ids))] for ids in batch], dtype=np.int64)


def _mask(batch: Sequence[Ids], length: int) -> NDArray[np.int64]:
    return (np.arange(length) < np.array([[len(ids)] for ids in batch])).astype(np.int64)


def _segments(batch: Sequence[Ids], length: int) -> NDArray[np.int64]:
    return np.zeros((len(batch), length), dtype=np.int64)


def _positions(batch: Sequence[Ids], length: int) -> NDArray[np.int64]:
    return np.tile(np.arange(length), (len(batch), 1))


_FEEDS = {"input_ids": _ids, "attention_mask": _mask, "token_type_ids": _segments, "position_ids": _positions}


def _options(threads: int, weights: Path | None) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # it keeps a plan for each shape that was ever seen
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if weights is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights))
    return options


def _load(
    graph: Path | bytes, name: str, options: ort.SessionOptions, providers: Sequence[str]
) -> ort.InferenceSession:
    available = ort.get_available_providers()
    if missing := [provider for provider in providers if provider not in available]:
        raise ModelUnavailable(f"onnxruntime has no {', '.join(missing)} here, only {', '.join(available)}.")
    try:
        return ort.InferenceSession(graph, options, providers=list(providers))
    except Exception as exc:  # onnxruntime's own kinds share no other base
        if "escapes" in str(exc):
            cause, remedy = "its weights are links to another place", "copy the directory with its links followed"
        else:
            cause, remedy = "it is damaged, cut short, without its weights or too new", "download it again"
        raise ModelUnavailable(f"{name} cannot be loaded ({_kind(exc)}): {cause}; {remedy}.") from exc


def _output(session: ort.InferenceSession, name: str) -> tuple[str, int]:
    """The output that is read, and its rank: vectors of texts before those of tokens only where they are named so."""
    ranks = {node.name: len(node.shape or ()) for node in session.get_outputs()}
    wanted = [("sentence_embedding", 2), *((output, 3) for output in TOKEN_OUTPUTS)]
    wanted += [(output, rank) for rank in (2, 3) for output in ranks]
    found = next(((output, rank) for output, rank in wanted if ranks.get(output) == rank), None)
    if found is None:
        raise ModelUnavailable(f"{name} gives {ranks}: neither vectors of texts (2 axes) nor of tokens (3 axes).")
    return found


def _kind(error: Exception) -> str:
    return type(error).__name__
