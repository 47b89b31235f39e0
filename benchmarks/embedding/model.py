"""The model that all contestants have, and what it costs to run."""

import os

from service.config import PREFIX, load
from service.embedding.choosing import default_directory
from service.embedding.tokenizing import Tokenizing

_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}

DIRECTORY = default_directory(load(_ENVIRONMENT))
MAX_TOKENS = 256

GEMM_MFLOP = 20_000.0
"""What the contestant `gemm` does when it is asked."""

_LAYERS, _HIDDEN, _INNER = 6, 384, 1536
_WEIGHTS = _LAYERS * (4 * _HIDDEN**2 + 2 * _HIDDEN * _INNER)


def settings(workers: int) -> dict[str, str]:
    """What the service is told: nothing else than its defaults, but for the cache."""
    return {f"{PREFIX}EMBEDDING__CACHE_TEXTS": "0", f"{PREFIX}EMBEDDING__WORKERS": str(workers)}


def mflop(texts: list[str]) -> float:
    """Millions of operations in the matrix products for the texts' own tokens, padding not counted."""
    tokenizing = Tokenizing(DIRECTORY / "tokenizer.json", MAX_TOKENS)
    lengths = [text.read for text in tokenizing.prepare(texts)]
    return sum(length * (2 * _WEIGHTS + 4 * _LAYERS * _HIDDEN * length) for length in lengths) / 1e6
