"""The service's own embedder, without its cache: python -m benchmarks.embedding.contestants.ours WORKERS"""

import sys
from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedding.contestants.asking import Callers, answer_asks
from benchmarks.embedding.model import settings
from service.config import load
from service.embedding.choosing import embedder_of

PATIENCE_SECONDS = 600


def main(workers: int) -> None:
    """Answer until nobody asks."""
    embedder = embedder_of(load(settings(workers)))

    def embed(callers: Callers) -> Sequence[NDArray[np.float32]]:
        deadline = perf_counter() + PATIENCE_SECONDS
        futures = [embedder.embed(texts, deadline) for texts in callers]
        return [future.result().vectors for future in futures]

    answer_asks(embed)
    embedder.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
