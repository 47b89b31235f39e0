"""The figures that docs/speed.md shows of prompt metrics are those that the last run left."""

import json
import re
from typing import Any

import pytest

from tests.serving import ROOT

COMPARISONS = json.loads((ROOT / "benchmarks/last_prompts.json").read_text())["comparisons"]
ROWS = (ROOT / "docs/speed.md").read_text().partition("## Prompt metrics")[2].partition("|---|---|---|---|\n")[2]
SHOWN = re.findall(r"^\|.* \| (.*) \|$", ROWS, re.MULTILINE)
NUMBER = re.compile(r"\d+(?:\.(\d+))?")


def figures(one: dict[str, Any]) -> list[float]:
    """What a row shows: megabytes, or how the two compare; then the seconds, or the ratio, that the note tells."""
    told = [float(number) for number in re.findall(r"\d+\.\d+", one["note"])]
    return [one["ours"] if one["unit"] == "MB" else one["ratio"], *told]


def test_every_comparison_has_a_row() -> None:
    assert len(SHOWN) == len(COMPARISONS)


@pytest.mark.parametrize("place", range(len(COMPARISONS)), ids=lambda place: COMPARISONS[place]["name"])
def test_a_row_shows_what_came_out(place: int) -> None:
    shown, last = SHOWN[place], COMPARISONS[place]
    found = list(NUMBER.finditer(shown))
    expected = zip(found, figures(last), strict=True)
    assert [one[0] for one in found] == [f"{figure:.{len(one[1] or '')}f}" for one, figure in expected]
    assert ("missed" in shown) != last["ok"]
