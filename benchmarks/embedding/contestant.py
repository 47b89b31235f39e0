"""Contestants as processes, each on the cores it is given, with one thread a library."""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count

import msgspec

from benchmarks.embedding.contestants.asking import Answer, Ask, Callers
from benchmarks.embedding.loads import Load
from benchmarks.servers import ROOT

STOP_SECONDS = 30

SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "TQDM_DISABLE": "1",
}


class Contestant:
    """A running module of `contestants`."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def begin(self, callers: Callers, *, show: bool = False) -> None:
        """Have it start."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(Ask(callers, show)) + b"\n")
        self._process.stdin.flush()

    def end(self) -> Answer:
        """Wait until it is done. RuntimeError where it failed."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a contestant failed: {self._process.args!r}")
        return msgspec.json.decode(line, type=Answer)

    def ask(self, callers: Callers, *, show: bool = False) -> Answer:
        """Have it embed texts of callers who ask at the same time."""
        self.begin(callers, show=show)
        return self.end()


class Turns:
    """A contestant on one load: in the same turn the same texts as any other, in the next turn others."""

    def __init__(self, contestant: Contestant, load: Load, callers: int = 1) -> None:
        self._contestant = contestant
        self._load = load
        self._callers = callers
        self._numbers = count()
        self.walls: list[float] = []
        """Milliseconds a text by the clock, of each turn."""
        self.cpus: list[float] = []
        """Milliseconds a text of the processor."""

    def cpu(self) -> float:
        """Take a turn; milliseconds a text of the processor."""
        self._take()
        return self.cpus[-1]

    def wall(self) -> float:
        """Take a turn; milliseconds a text by the clock."""
        self._take()
        return self.walls[-1]

    def _take(self) -> None:
        turns = [self._load.texts(next(self._numbers)) for _ in range(self._load.repeats)]
        answers = [self._contestant.ask(shared(texts, self._callers)) for texts in turns]
        milliseconds = 1000 / (len(self._load.chars) * self._load.repeats)
        self.walls.append(sum(answer.wall_seconds for answer in answers) * milliseconds)
        self.cpus.append(sum(answer.cpu_seconds for answer in answers) * milliseconds)


def shared(texts: list[str], callers: int) -> Callers:
    """The texts dealt out."""
    return [texts[caller::callers] for caller in range(callers)]


@contextmanager
def contestant(name: str, *options: str, cores: Iterable[int]) -> Iterator[Contestant]:
    """A module of `contestants` as a program."""
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"} | SETTINGS
    command: Sequence[str] = [sys.executable, "-m", f"benchmarks.embedding.contestants.{name}", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe) as process:
        os.sched_setaffinity(process.pid, cores)  # before it has threads
        try:
            yield Contestant(process)
        finally:
            process.communicate(timeout=STOP_SECONDS)
