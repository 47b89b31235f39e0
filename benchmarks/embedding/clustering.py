"""Single linkage of as many vectors as a request may have: time and memory, in a process of its own on one core."""

import os
import subprocess
import sys
from time import process_time

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from benchmarks.comparison import ROUNDS, Comparison
from benchmarks.embedding.contestant import SETTINGS
from benchmarks.machine import SERVER_CORE, forget_peak, peak_megabytes
from benchmarks.servers import ROOT
from service.primitives.clusters import cluster

VECTORS = 10_000
DIMENSIONS = 384
GROUP = 10
NOISE = 0.3
TAU = 0.8
MOST_SECONDS = 1.0
MOST_MEGABYTES = 100.0


class Seen(Struct):
    """Of each round: seconds of the processor, and megabytes that were resident at most beyond those before."""

    seconds: list[float] = []
    megabytes: list[float] = []


def compare() -> list[Comparison]:
    """Both limits, for vectors in groups and for vectors that are all alike."""
    return [row for kind in ("in groups", "all alike") for row in _rows(kind)]


def _rows(kind: str) -> list[Comparison]:
    command = [sys.executable, "-m", "benchmarks.embedding.clustering", kind]
    ran = subprocess.run(command, cwd=ROOT, env=os.environ | SETTINGS, stdout=subprocess.PIPE, check=True)
    seen = msgspec.json.decode(ran.stdout, type=Seen)
    return [
        _under(f"{VECTORS:,} vectors {kind}, and 1 s", "s", min(seen.seconds), MOST_SECONDS, seen.seconds),
        _under(f"{VECTORS:,} vectors {kind}, and 100 MB", "MB", max(seen.megabytes), MOST_MEGABYTES, seen.megabytes),
    ]


def _under(name: str, unit: str, ours: float, most: float, rounds: list[float]) -> Comparison:
    return Comparison(name=name, unit=unit, ours=ours, peer=most, sense="at least", target=1.0, rounds={"ours": rounds})


def main(kind: str) -> None:
    """Print what was seen as JSON."""
    os.sched_setaffinity(0, {SERVER_CORE})
    vectors = _vectors(VECTORS if kind == "all alike" else GROUP)
    seen = Seen()
    for _ in range(ROUNDS):
        before = forget_peak()
        began = process_time()
        for _ in cluster(vectors, TAU, "single"):
            pass
        seen.seconds.append(process_time() - began)
        seen.megabytes.append(peak_megabytes() - before)
    print(msgspec.json.encode(seen).decode())


def _vectors(group: int) -> NDArray[np.float32]:
    """Groups of so many around a random direction each."""
    chance = np.random.default_rng(0)
    centres = np.repeat(chance.standard_normal((VECTORS // group, DIMENSIONS)), group, axis=0)
    return (centres + NOISE * chance.standard_normal((VECTORS, DIMENSIONS))).astype(np.float32)


if __name__ == "__main__":
    main(sys.argv[1])
