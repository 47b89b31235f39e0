"""Two figures measured side by side, and whether their ratio is as good as it should be."""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Literal

from msgspec import Struct

ROUNDS = 7
SEED = 20260101


class Comparison(Struct, frozen=True, kw_only=True):
    """Ours beside a peer's figure, both in `unit` and the smaller the better.

    With a target of "at most" the ratio is ours / peer, with "at least" peer / ours. `rounds` has the raw figures.
    """

    name: str
    unit: str
    ours: float
    peer: float
    sense: Literal["at most", "at least"]
    target: float
    rounds: dict[str, list[float]]
    note: str = ""

    @property
    def ratio(self) -> float:
        """How the two stand to each other."""
        return self.ours / self.peer if self.sense == "at most" else self.peer / self.ours

    @property
    def ok(self) -> bool:
        """The target is met."""
        return self.ratio <= self.target if self.sense == "at most" else self.ratio >= self.target


def interleaved(runs: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """The figures of each run, one a round; every round has all runs, in an order drawn from a fixed seed."""
    chance = Random(SEED)
    order = list(runs)
    figures: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        chance.shuffle(order)
        for name in order:
            figures[name].append(runs[name]())
    return figures


def table(comparisons: Iterable[Comparison]) -> str:
    """The comparisons as lines of text, each note below its row."""
    lines = [f"{'':<46}{'ours':>10}{'peer':>10}  {'':<5}{'ratio':>7}  {'target':<14}ok"]
    for one in comparisons:
        figures = f"{one.ours:>10.2f}{one.peer:>10.2f}  {one.unit:<5}{one.ratio:>7.2f}"
        lines.append(f"{one.name:<46}{figures}  {one.sense + f' {one.target:g}':<14}{'yes' if one.ok else 'NO'}")
        if one.note:
            lines.append(f"  {one.note}")
    return "\n".join(lines)
