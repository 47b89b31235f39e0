"""What goes between a contestant and whoever measures it: one JSON line each way."""

import os
import sys
from collections.abc import Callable, Sequence
from time import perf_counter, process_time

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Callers = list[list[str]]
Embed = Callable[[Callers], Sequence[NDArray[np.float32]]]


class Ask(Struct):
    """Texts of callers who ask at the same time; the vectors are only told if `show`."""

    callers: Callers
    show: bool = False


class Answer(Struct):
    """How long it took, by the clock and of the processor, and each caller's vectors."""

    wall_seconds: float
    cpu_seconds: float
    vectors: list[list[list[float]]]


def answer_asks(embed: Embed) -> None:
    """Embed what comes in on standard input until it ends; whatever else is printed goes to standard error."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        ask = msgspec.json.decode(line, type=Ask)
        wall, cpu = perf_counter(), process_time()
        made = embed(ask.callers)
        answer = Answer(perf_counter() - wall, process_time() - cpu, [rows.tolist() for rows in made if ask.show])
        out.write(msgspec.json.encode(answer) + b"\n")
