"""Where the tensors of a safetensors file are."""

import math
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from service.core.errors import ModelUnavailable

MAX_HEADER_BYTES = 100_000_000
"""As the format has it."""

Count = Annotated[int, Meta(ge=0)]


class Tensor(Struct, frozen=True):
    """A tensor's element type, its shape, and where its bytes begin and end behind the header."""

    dtype: str
    shape: tuple[Count, ...]
    data_offsets: tuple[Count, Count]


class Header(Struct, frozen=True):
    """The tensors of a file by name, and the offset in the file that theirs count from."""

    tensors: dict[str, Tensor]
    start: int


def read_header(path: Path) -> Header:
    """The header of a safetensors file. ModelUnavailable where it is none, or cut short."""
    try:
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            raw = stream.read(length) if length <= MAX_HEADER_BYTES else b""
        named = msgspec.json.decode(raw, type=dict[str, Any])
        named.pop("__metadata__", None)
        tensors = msgspec.convert(named, dict[str, Tensor])
    except OSError as exc:
        raise ModelUnavailable(f"{path.name} of the model cannot be read: {exc.strerror}") from None
    except msgspec.MsgspecError as exc:
        raise ModelUnavailable(f"{path.name} of the model has no safetensors header that can be read: {exc}") from None
    _check(tensors, path, path.stat().st_size - 8 - length)
    return Header(tensors, 8 + length)


def _check(tensors: dict[str, Tensor], path: Path, size: int) -> None:
    for name, tensor in tensors.items():
        first, last = tensor.data_offsets
        if not first <= last <= size:
            raise ModelUnavailable(
                f"{path.name} of the model is cut short: {name} ends {last - size} bytes past its end"
            )
        if tensor.dtype == "F32" and last - first != 4 * math.prod(tensor.shape):
            raise ModelUnavailable(f"{path.name} of the model has a wrong number of bytes for {name}")
