"""Texts to embed: invented, the same in every run, never the same twice in one run."""

from typing import NamedTuple

from benchmarks import workload

VARIATION = 0.2
"""How far a text may be from the length of its kind."""


class Load(NamedTuple):
    """So many texts of so many characters, in random order, `repeats` times one after the other."""

    name: str
    chars: tuple[int, ...]
    repeats: int = 1

    def texts(self, turn: int) -> list[str]:
        """Those of one turn."""
        chance = workload.source(f"{self.name} {turn}")
        texts = [
            workload.prose(chance, round(size * chance.uniform(1 - VARIATION, 1 + VARIATION))) for size in self.chars
        ]
        chance.shuffle(texts)
        return texts


SHORT = Load("short x 192", (50,) * 192)
MEDIUM = Load("medium x 64", (365,) * 64)
LONG = Load("long x 16", (2300,) * 16)
MIXED = Load("mixed x 96", (50,) * 36 + (125,) * 24 + (280,) * 24 + (950,) * 8 + (2500,) * 4)
MANY_MIXED = Load("mixed x 240", (50,) * 90 + (125,) * 60 + (280,) * 60 + (950,) * 20 + (2500,) * 10)
"""Enough for a peer that sorts by length: fewer would leave it batches of unlike length."""
SHARED = Load("mixed x 128", (50,) * 48 + (125,) * 32 + (280,) * 32 + (950,) * 11 + (2500,) * 5)
TEN = Load("10 answers", (125,) * 10, repeats=8)
ONE = Load("1 text", (125,), repeats=24)
