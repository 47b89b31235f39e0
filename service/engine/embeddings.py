"""POST /v1/embeddings and GET /v1/models, as OpenAI's clients know them."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from service.config import Embedding, Limits
from service.core.errors import MAX_FAULTS, Fault, Invalid, Late, ModelUnavailable, NotFound, TextRefused, TooLarge
from service.core.ports import Embedded, Embedder, Matrix, Model, Reading
from service.engine.admission import deadline_of, over, over_deadline
from service.engine.lanes import Steps, awaited
from service.primitives.jsontext import kind_of
from service.primitives.pointer import nearest
from service.primitives.text import cut

DEFAULT = "default"
DECIMALS = 8
ENCODED_VECTORS = 64

_encode = msgspec.json.Encoder().encode

Texts = Annotated[str | list[Any], Meta(description="A text, or a list of texts.")]
"""Elements of other types are refused with a reason of their own."""

DeadlineMs = Annotated[
    Annotated[int, Meta(ge=1)] | None,
    Meta(description="Counted from the arrival of the request: where not all is embedded by then, it is 503."),
]


class EmbeddingsRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Texts to be embedded."""

    input: Texts
    model: Annotated[str, Meta(description="`default`, the model's id, or an alias; see /v1/models.")] = DEFAULT
    encoding_format: Annotated[
        Literal["float", "base64"], Meta(description="base64: little-endian float32, as the model gave them.")
    ] = "float"
    dimensions: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Fewer numbers, where the model was trained for it.")
    ] = None
    truncate: Annotated[bool, Meta(description="false: a text too long for the model is 422, not cut.")] = True
    deadline_ms: DeadlineMs = None
    user: Annotated[str | None, Meta(description="Taken and not used.")] = None


class Truncation(Struct):
    """How much of a text that is too long for the model was read, in tokens."""

    tokens: int
    read: int


class EmbeddingRow(Struct):
    """The vector of one text; `truncated` only where the model did not read all of it."""

    object: Literal["embedding"]
    index: int
    embedding: Annotated[list[float] | str, Meta(description="Length 1; floats are rounded to 8 decimals.")]
    truncated: Truncation | UnsetType = UNSET


class Usage(Struct):
    """Tokens that the model read; 0 where it does not say."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Struct):
    """The vectors, in the order of the texts."""

    object: Literal["list"]
    data: list[EmbeddingRow]
    model: str
    usage: Usage


class ModelRow(Struct):
    """A name under which a model is asked for."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    dimensions: int
    max_tokens: int | None
    batch_invariant: bool
    fingerprint: str


class ModelList(Struct):
    """The model there is, under each of its names; none where no model is there."""

    object: Literal["list"]
    data: list[ModelRow]


def names_of(model: Model, own: Embedding) -> list[str]:
    """Every name of a model."""
    return list(dict.fromkeys([DEFAULT, model.id, *own.aliases]))


def models(embedder: Embedder, own: Embedding) -> ModelList:
    """What can be asked for."""
    model = _known(embedder)
    if model is None:
        return ModelList("list", [])
    told = (model.dimensions, model.max_tokens, model.batch_invariant, model.fingerprint)
    return ModelList("list", [ModelRow(name, "model", 0, "scorewright", *told) for name in names_of(model, own)])


def model_named(name: str, embedder: Embedder, own: Embedding) -> ModelRow:
    """The model, asked for by one of its names. NotFound for another, ModelUnavailable where there is none."""
    _require_named(name, names_of(embedder.model, own))
    return next(row for row in models(embedder, own).data if row.id == name)


def embedding(
    request: EmbeddingsRequest, embedder: Embedder, own: Embedding, limits: Limits, arrived: float
) -> Steps[bytes]:
    """The answer's body. Invalid, NotFound, ModelUnavailable, Late or Overloaded where there is none."""
    refuse(over_deadline(request.deadline_ms, limits))
    deadline = deadline_of(request.deadline_ms, limits, arrived)
    texts = [request.input] if isinstance(request.input, str) else request.input
    _require_texts(texts, limits)
    if known := _known(embedder):
        _require_named(request.model, names_of(known, own))
        _size(request.dimensions, known)
    embedded = whole((yield from awaited(embedder.embed(texts, deadline))), "/input/{}".format)
    model = embedder.model
    # a model behind a server is known only now
    _require_named(request.model, names_of(model, own))
    vectors = _shortened(embedded.vectors, _size(request.dimensions, model))
    if not request.truncate:
        _refuse_truncated(embedded.readings)
    return (yield from _body(request, embedded, vectors, model, limits))


def whole(embedded: Embedded, pointer: Callable[[int], str]) -> Embedded:
    """What was embedded, if it is all of it; `pointer` says where each text stands.

    Invalid where the model does not take some of the texts; else ModelUnavailable or Late.
    """
    faults = sorted(embedded.faults.items())
    refuse([Fault(pointer(place), "refused", one.detail) for place, one in faults if isinstance(one, TextRefused)])
    if faults:
        place, fault = faults[0]
        raise ModelUnavailable(f"{fault.detail} (text {place})", fault.headers)
    if embedded.late:
        left = f"{len(embedded.late):,} of the {len(embedded.readings):,} texts were embedded"
        raise Late(f"The deadline passed before {left} (see deadline_ms): send fewer at once, or allow more time")
    return embedded


def truncated(readings: Sequence[Reading]) -> dict[int, Truncation]:
    """The places of texts that were too long for the model."""
    return {place: Truncation(*one) for place, one in enumerate(readings) if one.is_truncated}


def long_texts(places: Iterable[tuple[str, str]], limits: Limits) -> list[Fault]:
    """The faults of texts, each with its pointer, that are too long."""
    return [fault for pointer, text in places for fault in over(pointer, len(text), limits.text_chars, "text_chars")]


def refuse(faults: Sequence[Fault]) -> None:
    """Raise Invalid if there is a fault."""
    if faults:
        raise Invalid(list(faults[:MAX_FAULTS]))


def _require_texts(texts: Sequence[Any], limits: Limits) -> None:
    if not texts:
        raise Invalid([Fault("/input", "too_short", "The list has no text: give one at least")])
    refuse(over("/input", len(texts), limits.items, "items"))
    refuse([fault for place, text in enumerate(texts) if (fault := _no_text(f"/input/{place}", text))])
    refuse(long_texts(((f"/input/{place}", text) for place, text in enumerate(texts)), limits))


def _known(embedder: Embedder) -> Model | None:
    """The model, if it is there and has answered before."""
    try:
        return embedder.model
    except ModelUnavailable:
        return None


def _no_text(pointer: str, value: Any) -> Fault | None:
    if isinstance(value, str):
        return None
    if isinstance(value, int | list) and not isinstance(value, bool):
        return Fault(pointer, "token_list", "Token ids belong to the vocabulary of one model: send the text itself")
    return Fault(pointer, "wrong_type", f"Expected a text, got {kind_of(value)}")


def _require_named(name: str, names: Sequence[str]) -> None:
    if name not in names:
        hint = nearest(name, names) or f": known are {', '.join(names)}"
        raise NotFound(f"There is no model {cut(name, 100)!r}{hint}")


def _size(asked: int | None, model: Model) -> int:
    if asked is None or asked == model.dimensions or asked in model.sizes:
        return asked or model.dimensions
    known = ", ".join(map(str, sorted({*model.sizes, model.dimensions})))
    raise Invalid([Fault("/dimensions", "unsupported", f"{model.id} has vectors of {known} numbers, not of {asked}")])


def _refuse_truncated(readings: Sequence[Reading]) -> None:
    refuse(
        [
            Fault(f"/input/{place}", "too_long", f"The text has {one.tokens} tokens; the model reads {one.read}")
            for place, one in truncated(readings).items()
        ]
    )


def _shortened(vectors: Matrix, dimensions: int) -> Matrix:
    """The first numbers of each vector, again of length 1."""
    if vectors.shape[1] == dimensions:
        return vectors
    rows = vectors[:, :dimensions].astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)


def _body(
    request: EmbeddingsRequest, embedded: Embedded, vectors: Matrix, model: Model, limits: Limits
) -> Steps[bytes]:
    written: Callable[[Matrix], Sequence[Any]] = _floats if request.encoding_format == "float" else _base64
    too_long = truncated(embedded.readings)
    parts: list[bytes] = []
    left = limits.response_bytes
    for start in range(0, len(vectors), ENCODED_VECTORS):
        rows = [
            EmbeddingRow("embedding", place, one, too_long.get(place, UNSET))
            for place, one in enumerate(written(vectors[start : start + ENCODED_VECTORS]), start)
        ]
        parts.append(_encode(rows)[1:-1])
        left -= len(parts[-1])
        if left < 0:
            allowed = f"{limits.response_bytes:,} bytes (response_bytes at /v1/limits)"
            raise TooLarge(f"The answer would be over the limit of {allowed}: send fewer texts, or ask for base64")
        yield None
    read = sum(one.read for one in embedded.readings)
    tail = _encode({"model": model.id, "usage": Usage(read, read)})
    return b'{"object":"list","data":[%b],%b' % (b",".join(parts), tail[1:])


def _floats(vectors: Matrix) -> list[list[float]]:
    return np.round(vectors.astype(np.float64), DECIMALS).tolist()  # type: ignore[no-any-return]


def _base64(vectors: Matrix) -> list[str]:
    return [b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors]
