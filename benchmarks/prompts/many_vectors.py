"""Single linkage of more vectors than a request may have: memory, in a process of its own on one core."""

import os
import sys
from time import process_time

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.comparison import Comparison
from benchmarks.machine import SERVER_CORE, forget_peak, peak_megabytes
from benchmarks.prompts.alone import printed_by
from service.engine.lanes import drain
from service.primitives.clusters import components, unit_rows

VECTORS = 50_000
DIMENSIONS = 384
NOISE = 0.3
TAU = 0.8
KINDS = {"in groups": 10, "all alike": VECTORS}
"""Vectors that point the same way."""

MOST_MEGABYTES = 300.0


class Seen(Struct):
    """Seconds of the processor, clusters found, and megabytes that were resident at most beyond the vectors."""

    seconds: float
    clusters: int
    megabytes: float


def compare() -> list[Comparison]:
    """Each kind once, beside the limit. RuntimeError if the clusters are not those that the vectors were made in."""
    return [_row(kind) for kind in KINDS]


def _row(kind: str) -> Comparison:
    seen = msgspec.json.decode(printed_by("many_vectors", kind), type=Seen)
    if seen.clusters != VECTORS // KINDS[kind]:
        raise RuntimeError(f"{seen.clusters:,} clusters were found {kind}")
    return Comparison(
        name=f"{VECTORS:,} vectors {kind}, and {MOST_MEGABYTES:.0f} MB",
        unit="MB",
        ours=seen.megabytes,
        peer=MOST_MEGABYTES,
        sense="at least",
        target=1.0,
        rounds={"megabytes": [seen.megabytes], "seconds": [seen.seconds]},
        note=f"{seen.clusters:,} found in {seen.seconds:.1f} s",
    )


def main(kind: str) -> None:
    """Print what was seen as JSON."""
    os.sched_setaffinity(0, {SERVER_CORE})
    vectors = _vectors(KINDS[kind])
    before, began = forget_peak(), process_time()
    labels = drain(components(drain(unit_rows(vectors)), TAU))
    seconds = process_time() - began
    seen = Seen(seconds, int(labels.max()) + 1, peak_megabytes() - before)
    print(msgspec.json.encode(seen).decode())


def _vectors(group: int) -> NDArray[np.float32]:
    """Groups of so many around a random direction each, one group after the other."""
    chance = np.random.default_rng(0)
    centres = chance.standard_normal((VECTORS // group, DIMENSIONS), np.float32)
    vectors = NOISE * chance.standard_normal((VECTORS, DIMENSIONS), np.float32)
    vectors += np.repeat(centres, group, axis=0)
    return vectors


if __name__ == "__main__":
    main(sys.argv[1])
