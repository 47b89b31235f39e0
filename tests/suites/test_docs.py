"""What the documentation says of suites is what happens."""

import json
import re
from collections.abc import Sequence
from math import sqrt
from shutil import which
from subprocess import run
from typing import Any

import pytest

from service.primitives.stats import Z95, flaky, wilson, wilson_variance
from tests.serving import ROOT
from tests.suites.driving import EXACT, answer, scored, suite

DOCS = (ROOT / "docs/suites.md").read_text()
README = (ROOT / "README.md").read_text()
EXAMPLE = json.loads((ROOT / "examples/suites/ticket-classifier.json").read_bytes())
SOURCES = sorted((ROOT / "service/engine/suites").glob("*.py"))

needs_jq = pytest.mark.skipif(which("jq") is None, reason="needs jq")


def lines_of(text: str, start: str) -> list[str]:
    """The programs of jq in lines that begin so."""
    return [line[len(start) :].rsplit("'", 1)[0] for line in text.splitlines() if line.startswith(start)]


def jq(program: str, got: dict[str, Any]) -> list[str]:
    """The lines that jq makes of an answer."""
    return run(["jq", "-r", program], input=json.dumps(got), capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )[:-1]


def passing(passes: Sequence[int], of: int = 5) -> dict[str, list[Any]]:
    return {f"case {place}": scored(*[1] * count, *[0] * (of - count)) for place, count in enumerate(passes)}


PASS = [{"metric": "score", "operator": "greater_than_or_equal", "value": 0.5}]
ALL = passing([5] * 12)
OTHERS = passing([5] * 11)
HAS_A = {"type": "contains", "expected": "a"}
BROKEN = {"type": "regex", "pattern": "(", "id": "broken"}
SHORT = {f"case {place}": ["a"] for place in range(12)}
GATED: list[tuple[str, dict[str, Any], bool]] = [
    ("the example", EXAMPLE, True),
    ("equal", suite(ALL, ALL), True),
    ("better", suite(passing([3] * 12), ALL), True),
    ("two flips, one each way", suite(passing([3, 2, *[5] * 10]), passing([2, 3, *[5] * 10]), pass_when=PASS), True),
    ("a run was lost", suite(ALL, ALL | {"case 0": scored(1, 1, 1, 1, None)}), True),
    *((f"{count} of 12 collapse", suite(ALL, passing([0] * count + [5] * (12 - count)), pass_when=PASS), False)
      for count in range(1, 7)),
    ("it fails", suite(passing([0] * 12), passing([0] * 12)), False),
    ("too little to tell", suite(passing([1] * 5, of=1), passing([1] * 5, of=1)), False),
    ("a case is lost", suite(ALL, ALL | {"case 0": scored(*[None] * 5)}), False),
    ("a case of the baseline is lost", suite(ALL | {"case 0": []}, ALL), False),
    ("a case is left out", suite(ALL, OTHERS), False),
    ("no judge", suite(SHORT, SHORT, graders=[HAS_A, {"type": "possible"}]), False),
    ("no judge for a case of its own", suite(ALL, ALL) | {
        "cases": [{"id": name, "graders": [{"type": "possible"}]} for name in ALL],
        "versions": [{"version": "v1", "outputs": ALL}, {"version": "v2", "outputs": OTHERS | {"case 11": ["?"] * 5}}]}, False),
    ("a grader in error beside failures", suite(SHORT, SHORT | {"case 0": ["b"] * 5}, graders=[HAS_A, BROKEN]), False),
]  # fmt: skip


@needs_jq
@pytest.mark.parametrize(("body", "opens"), [row[1:] for row in GATED], ids=[row[0] for row in GATED])
def test_the_gate(body: dict[str, Any], opens: bool) -> None:
    (gate,) = lines_of(DOCS, "jq -e '")
    assert gate in lines_of(README, "jq -e '")
    assert jq(gate, answer(body)) == [str(opens).lower()]


@needs_jq
def test_what_is_read_when_the_gate_is_shut() -> None:
    body = suite({"a": ["Ann"], "b": ["Ann"]}, {"a": ["Bob"], "b": ["Ann", {"error": "quota"}]}, graders=[EXACT])
    for case in body["cases"]:
        case["expected"] = "Ann"
    got = answer(body)
    warnings, falls = lines_of(DOCS, "jq -r '")
    assert jq(warnings, got) == ["v2\tpartly_graded\t1 case was scored by some of the runs only, first 'b'"]
    (row,) = got["comparisons"][0]["cases"][:1]
    assert jq(falls, got) == ["\t".join(["a", "-1", "", "0", "exact_match", row["evidence"]["explanation"]])]


def test_every_warning_is_documented() -> None:
    codes = {code for path in SOURCES for code in re.findall(r'Notice\("(\w+)"', path.read_text())}
    assert len(codes) > 10
    codes |= {"judge_unavailable", "cases_missing", "cases_not_graded", "unused_grades", "unused_replies"}
    assert [code for code in sorted(codes) if f"`{code}`" not in DOCS] == []


def test_figures() -> None:
    assert "0 passes of 5 leave 0.74, 3 of 3 leave 0.81" in DOCS
    assert (round(flaky(0, 5), 2), round(flaky(3, 3), 2)) == (0.74, 0.81)
    assert "with a score of 0.83, a `score_interval` of 0.52 to 0.96" in DOCS
    assert [round(bound, 2) for bound in wilson(8.3, 10)] == [0.52, 0.96]
    assert "that is (1.95996 / (n + 3.8415))²" in DOCS
    assert (round(Z95, 5), round(Z95**2, 4)) == (1.95996, 3.8415)
    assert [sqrt(wilson_variance(1, n)) * (n + Z95**2) for n in (1, 5, 40)] == pytest.approx([Z95] * 3)


def test_one_collapsed_case_of_twelve() -> None:
    assert "has p = 0.008 there, and p = 1 in `scores`" in DOCS
    got = answer(suite(ALL, OTHERS | passing([0] * 12) | OTHERS))["comparisons"][0]["significance"]
    assert (round(got["runs"]["p"], 3), got["scores"]["p"]) == (0.008, 1)
