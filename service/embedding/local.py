"""A model in a directory, run here."""

import hashlib
import json
import mmap
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct, structs

from service.core.errors import ModelUnavailable
from service.core.ports import Matrix, Model
from service.embedding import skeleton, weights
from service.embedding.encoder import Prepared
from service.embedding.layout import DEFAULTS, WEIGHTS, DenseLayer, Layout, Options, read
from service.embedding.pooling import Dense, pool, unit
from service.embedding.probing import TEXTS, Company, probe
from service.embedding.safetensors import read_header
from service.embedding.session import Ids, Session
from service.embedding.tokenizing import Tokenizing

SKELETON = Path(__file__).parent / "minilm" / "skeleton.onnx"
"""The default model's graph, over the weights of `weights.MINILM`."""


class Vectors(Struct, frozen=True):
    """Unit vectors of token ids: a graph, and what is done with what it gives."""

    session: Session
    pooling: tuple[str, ...]
    dense: tuple[Dense, ...]
    dimensions: int | None

    def __call__(self, batch: Sequence[Ids], length: int = 0) -> Matrix:
        """(texts, dimensions), padded to `length` or the longest.

        A graph that gives vectors of texts has applied pooling and Dense itself.
        """
        out = self.session.run(batch, max(length, *map(len, batch)))
        if not self.session.pooled:
            out = pool(out, np.array([len(ids) for ids in batch]), self.pooling)
            for layer in self.dense:
                out = layer(out)
        return unit(out, self.dimensions)


class LocalEncoder:
    """Implements `Encoder`. A text's vector is the same whatever else is in its run."""

    def __init__(self, model: Model, tokenizing: Tokenizing, vectors: Vectors, company: Company) -> None:
        self.model = model
        self._tokenizing = tokenizing
        self._session = vectors.session
        self._vectors: Callable[[Sequence[Ids], int], Matrix] = vectors
        self._company = company

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """The ids of the model's prompt and each text."""
        return self._tokenizing.prepare(texts)

    def run(self, prepared: Sequence[Prepared]) -> Matrix:
        """(texts, dimensions), rows of length 1. ModelUnavailable where the graph fails or a vector is zero."""
        made = np.empty((len(prepared), self.model.dimensions), dtype=np.float32)
        for places in self._company.runs([len(text.ids) for text in prepared]) if prepared else ():
            length = max(prepared[at].length for at in places) if self._company is Company.ANY else 0
            made[places] = self._vectors([prepared[at].ids for at in places], length)
        return made

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without the special ones and the prompt."""
        return self._tokenizing.count(texts)

    def rest(self) -> None:
        """Give back the memory of past runs."""
        self._session.rest()

    def close(self) -> None:
        """Let go of the graph and its weights once no run needs them."""
        self._vectors = _closed


def load(directory: Path, options: Options = DEFAULTS) -> LocalEncoder:
    """The model in a directory of the hub's layout. ModelUnavailable says what is wrong with it, and the remedy."""
    layout = read(directory, options)
    if layout.file.name == WEIGHTS:
        return _encoder(layout, _over_weights(layout, "last_hidden_state", options))
    return _encoder(layout, _session(layout.file, _shown(layout), None, options))


def load_default(directory: Path, options: Options = DEFAULTS) -> LocalEncoder:
    """The default model over its fetched files. ModelUnavailable, with the remedy, unless each is what it should be."""
    weights.verify(directory)
    named = structs.replace(options, id=options.id or weights.MINILM.id, model_file=WEIGHTS)
    layout = read(directory, named)
    if layout.file.resolve().name != WEIGHTS:
        return _encoder(layout, _over_weights(layout, "sentence_embedding", options))
    return _encoder(layout, _session(SKELETON.read_bytes(), SKELETON.name, layout.file.resolve().parent, options))


def _encoder(layout: Layout, session: Session) -> LocalEncoder:
    vectors = Vectors(session, layout.pooling, tuple(map(_dense, layout.dense)), layout.dimensions)
    tokenizing = Tokenizing(layout.tokenizer, layout.max_tokens, layout.prompt, lowercase=layout.lowercase)
    probes = [text.ids for text in tokenizing.prepare(TEXTS)]
    company = probe(vectors, probes, layout.max_tokens)
    width = vectors(probes[:1]).shape[1]
    if layout.dimensions is not None and layout.dimensions > width:
        raise ModelUnavailable(f"{layout.id} has {width} dimensions, fewer than the {layout.dimensions} asked for.")
    model = Model(
        id=layout.id,
        fingerprint=_fingerprint(layout, width),
        dimensions=width,
        max_tokens=layout.max_tokens,
        batch_invariant=company is Company.ANY,
        sizes=tuple(size for size in layout.sizes if size < width),
    )
    return LocalEncoder(model, tokenizing, vectors, company)


def _over_weights(layout: Layout, output: skeleton.Output, options: Options) -> Session:
    real = layout.file.resolve()
    return _session(skeleton.build(layout.config, real, output), _shown(layout), real.parent, options)


def _session(graph: Path | bytes, name: str, folder: Path | None, options: Options) -> Session:
    return Session(graph, name, weights=folder, threads=options.threads, providers=options.providers)


def _shown(layout: Layout) -> str:
    return f"{layout.file.relative_to(layout.directory)} of {layout.id}"


def _dense(layer: DenseLayer) -> Dense:
    header, raw = read_header(layer.weights), layer.weights.read_bytes()

    def tensor(name: str) -> Matrix | None:
        at = header.tensors.get(name)
        if at is None:
            return None
        if at.dtype != "F32":
            raise ModelUnavailable(
                f"{layer.weights.parent.name}/{layer.weights.name} holds {at.dtype}: only F32 is read."
            )
        first, last = (header.start + offset for offset in at.data_offsets)
        return np.frombuffer(raw[first:last], dtype="<f4").reshape(at.shape)

    weight = tensor("linear.weight")
    if weight is None or weight.ndim != 2:
        raise ModelUnavailable(f"{layer.weights.parent.name}/{layer.weights.name} has no matrix linear.weight.")
    return Dense(weight, tensor("linear.bias"), layer.activation)


def _fingerprint(layout: Layout, width: int) -> str:
    over_weights = layout.file.name == WEIGHTS
    files = [layout.tokenizer, *(layer.weights for layer in layout.dense), layout.file]
    files += () if over_weights else _outside(layout.file)
    said = [layout.pooling, [layer.activation for layer in layout.dense], layout.prompt, layout.lowercase]
    said += [layout.max_tokens, width, layout.config if over_weights else None]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _outside(graph: Path) -> list[Path]:
    """The files beside a graph that hold its weights: those that it names."""
    with graph.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        beside = (file for file in graph.parent.iterdir() if file.is_file() and file.name != graph.name)
        return sorted(file for file in beside if raw.find(file.name.encode()) >= 0)


def _closed(batch: Sequence[Ids], length: int) -> Matrix:  # noqa: ARG001
    raise ModelUnavailable("The model is closed: the service is about to stop.")
