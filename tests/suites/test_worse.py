"""What a build is gated on: how often it is right, and why a case got worse."""

import re
from collections.abc import Sequence
from functools import cache
from math import comb, sqrt
from typing import Any

import msgspec
import numpy as np
import pytest

from service.engine.lanes import drain
from service.engine.suites import results
from service.engine.suites.comparing import comparing
from service.engine.suites.results import CaseResult, RunResult
from service.engine.suites.scoring import case_result
from service.engine.suites.wire import Suite
from service.judge.scripted import Scripted
from tests.serving import ROOT
from tests.suites.driving import answer, scored, suite

DOCS = (ROOT / "docs/suites.md").read_text()
SUITE = msgspec.convert({"cases": [{}], "versions": [{"version": "v"}]}, Suite)


def compared(before: dict[str, list[Any]], after: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    (only,) = answer(suite(before, after, **more))["comparisons"]
    return only  # type: ignore[no-any-return]


def passing(*passes: int, of: int) -> dict[str, list[Any]]:
    """Cases of which so many runs pass."""
    return {f"case {place}": scored(*[1] * count, *[0] * (of - count)) for place, count in enumerate(passes)}


WORSE: list[tuple[str, dict[str, list[Any]], dict[str, list[Any]], bool | None]] = [
    ("equal", passing(*[3] * 12, of=3), passing(*[3] * 12, of=3), False),
    ("a fall of all that no case shows", passing(*[3] * 12, of=3), passing(*[2] * 12, of=3), True),
    ("a rise of all", passing(*[2] * 12, of=3), passing(*[3] * 12, of=3), False),
    ("two flips, one each way", passing(3, 2, *[5] * 10, of=5), passing(2, 3, *[5] * 10, of=5), False),
    ("a run of each of three cases", passing(3, 3, 3, of=3), passing(2, 2, 2, of=3), False),
    ("one case of twelve collapses", passing(*[5] * 12, of=5), passing(*[5] * 11, 0, of=5), True),
    ("five do", passing(*[5] * 12, of=5), passing(*[5] * 7, *[0] * 5, of=5), True),
    ("one rises", passing(*[5] * 11, 0, of=5), passing(*[5] * 12, of=5), False),
    ("one of one run collapses", passing(*[1] * 12, of=1), passing(*[1] * 11, 0, of=1), False),
    ("a case, while others rise", {"a": scored(*[1] * 20), "b": scored(0.5), "c": scored(0.5)},
     {"a": scored(*[1] * 8, *[0] * 12), "b": scored(1), "c": scored(1)}, True),
    ("scores that all still pass", {name: scored(0.9) for name in "abcdef"}, {name: scored(0.8) for name in "abcdef"}, True),
    ("fewer runs pass while the mean rises", {"a": scored(*[0.5] * 10)}, {"a": scored(*[0.45] * 9, 1)}, True),
    ("more runs pass while the mean falls", {"a": scored(*[0.45] * 9, 1)}, {"a": scored(*[0.5] * 10)}, False),
    ("scores of unlike numbers of runs", {name: scored(*[0.9] * 2) for name in "abcdefgh"},
     {name: scored(*[0.8] * 3) for name in "abcdefgh"}, False),
    ("five cases, one run", passing(*[1] * 5, of=1), passing(*[0] * 5, of=1), None),
    ("one case, three runs", passing(3, of=3), passing(0, of=3), None),
    ("nothing to compare", {"a": scored(1)}, {"b": scored(1)}, None),
    ("nothing graded", {"a": scored(None)}, {"a": scored(1)}, None),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "worse"), [row[1:] for row in WORSE], ids=[row[0] for row in WORSE])
def test_worse(before: dict[str, list[Any]], after: dict[str, list[Any]], worse: bool | None) -> None:
    assert compared(before, after)["significance"]["worse"] is worse


@pytest.mark.parametrize("collapsed", range(7))
def test_runs_of_cases_that_collapse(collapsed: int) -> None:
    got = compared(passing(*[5] * 12, of=5), passing(*[0] * collapsed, *[5] * (12 - collapsed), of=5))["significance"]
    runs, p = got["runs"], min(1, 2 / comb(10, 5) ** collapsed)
    assert (runs["cases"], runs["p"], runs["surplus"]) == (12, pytest.approx(p), -2.5 * collapsed)
    assert (runs["significant"], runs["underpowered"], got["worse"]) == (collapsed > 0, False, collapsed > 0)


def test_runs_pass_at_the_threshold_of_a_case() -> None:
    before, after = {"a": scored(*[0.8] * 8)}, {"a": scored(*[0.7] * 8)}
    for threshold, surplus in ((0.5, 0), (0.75, -4), (0.9, 0)):
        assert compared(before, after, case_threshold=threshold)["significance"]["runs"]["surplus"] == surplus


def test_runs_that_were_not_graded_are_left_out() -> None:
    before, after = {"a": scored(1, 1, 1, 1, None)}, {"a": scored(None, 0, 0, 0, 0), "b": scored(1)}
    runs = compared(before, after)["significance"]["runs"]
    assert (runs["cases"], runs["p"], runs["min_p"]) == (1, pytest.approx(2 / 70), pytest.approx(2 / 70))
    assert (runs["significant"], runs["surplus"]) == (True, -2)


# How often it is true ----------------------------------------------------------------------------------------------


@cache
def case(passes: int, runs: int) -> CaseResult:
    own = [RunResult(status="passed", score=1.0)] * passes + [RunResult(status="failed", score=0.0)] * (runs - passes)
    return case_result("case", own, 0.5)


def held(before: Sequence[int], after: Sequence[int], runs: tuple[int, int]) -> results.Tests:
    own = [[case(count, of) for count in one] for one, of in zip((before, after), runs, strict=True)]
    return drain(comparing(SUITE, ("before", "after"), *own)).significance


def passes(random: np.random.Generator, rates: Sequence[float], runs: int, suites: int) -> list[list[int]]:
    """Of so many suites, how many runs of each case pass."""
    drawn: list[list[int]] = random.binomial(runs, rates, (suites, len(rates))).tolist()
    return drawn


def share_worse(before: Sequence[float], after: Sequence[float], runs: int, suites: int) -> float:
    """How often `worse` is true of cases that pass at these rates."""
    random = np.random.default_rng(11)
    olds, news = (passes(random, rates, runs, suites) for rates in (before, after))
    return float(np.mean([held(*pair, runs=(runs, runs)).worse is True for pair in zip(olds, news, strict=True)]))


ALIKE: dict[str, tuple[list[float], int]] = {
    **{f"12 cases of 5 runs at {rate}": ([rate] * 12, 5) for rate in (0.5, 0.8, 0.95)},
    **{f"12 cases of 1 run at {rate}": ([rate] * 12, 1) for rate in (0.5, 0.8, 0.95)},
    **{f"5 cases of 10 runs at {rate}": ([rate] * 5, 10) for rate in (0.5, 0.8, 0.95)},
    **{f"40 cases of 3 runs at {rate}": ([rate] * 40, 3) for rate in (0.5, 0.8, 0.95)},
    "12 cases of 20 runs at 0.8": ([0.8] * 12, 20),
    "12 cases of 40 runs at 0.7": ([0.7] * 12, 40),
    "1 case of 20 runs at 0.5": ([0.5], 20),
    "12 cases of 5 runs, some flaky": ([0.5, 0.9, 0.99] * 4, 5),
    "12 cases of 5 runs, some decided": ([0.2, 0.99, 1] * 4, 5),
    "5 cases of 10 runs, all unlike": ([0.2, 0.5, 0.9, 0.99, 1], 10),
    "40 cases of 3 runs, all unlike": ([0.5, 0.7, 0.9, 0.99] * 10, 3),
}


@pytest.mark.parametrize("name", ALIKE)
def test_versions_that_do_not_differ_are_seldom_called_worse(name: str) -> None:
    rates, runs = ALIKE[name]
    suites = 500
    assert share_worse(rates, rates, runs, suites) <= 0.05 + 3 * sqrt(0.05 * 0.95 / suites)
    assert "called worse in at most 5 %" in DOCS


def test_unlike_numbers_of_runs_mislead_the_test_of_scores_but_not_that_of_runs() -> None:
    random, suites = np.random.default_rng(12), 500
    olds, news = (passes(random, [0.95] * 12, runs, suites) for runs in (3, 20))
    found = [held(*pair, runs=(3, 20)) for pair in zip(olds, news, strict=True)]
    lower = [one.runs.significant is True and one.runs.surplus < 0 for one in found]
    assert np.mean(lower) <= 0.025 + 3 * sqrt(0.025 * 0.975 / suites)
    fallen = [one.scores.significant is True and (one.scores.delta or 0) < 0 for one in found]
    assert "a significant fall in 15 % of versions that do not differ" in DOCS
    assert np.mean(fallen) == pytest.approx(0.15, abs=3 * sqrt(0.15 * 0.85 / suites))
    assert np.mean([one.worse is True for one in found]) <= 0.05 + 3 * sqrt(0.05 * 0.95 / suites)


def shares_shown() -> list[Any]:
    """Of the table of the documentation: cases in all and those that fall, to what rate, runs and the share found."""
    table = DOCS[DOCS.index("| of 12 cases, that pass 95 %") :]
    header, _, *rows = table[: table.index("\n\n")].splitlines()
    runs = [int(cell) for cell in header.split("|")[2:-1]]
    number = {"one falls": 1, "three fall": 3, "five fall": 5, "all fall": 12}
    found = []
    for row in rows:
        label, *cells = row.split("|")[1:-1]
        who, rate = re.fullmatch(r" (\w+ \w+) to (\d+) % ", label).groups()  # type: ignore[union-attr]
        for count, cell in zip(runs, cells, strict=True):
            share = int(cell.removesuffix(" % ")) / 100
            found.append(pytest.param(number[who], int(rate) / 100, count, share, id=f"{label.strip()}, {count} runs"))
    assert len(found) == 35
    return found


@pytest.mark.parametrize(("falling", "rate", "runs", "share"), shares_shown())
def test_what_is_found_is_as_documented(falling: int, rate: float, runs: int, share: float) -> None:
    suites = 300
    got = share_worse([0.95] * 12, [rate] * falling + [0.95] * (12 - falling), runs, suites)
    assert got == pytest.approx(share, abs=0.01 + 3.5 * sqrt(max(share * (1 - share), 0.01) / suites))


# Why a case got worse ----------------------------------------------------------------------------------------------

HAS_A = {"type": "contains", "expected": "a", "id": "has a"}
HAS_B = {"type": "contains", "expected": "b", "id": "has b"}
NEAR = {"type": "levenshtein", "expected": "abcd", "id": "near", "threshold": 0}
REASON = "It names no amount."

EVIDENCE: list[tuple[str, list[Any], list[Any], list[Any], tuple[int, str | None, str | None] | None]] = [
    ("equal", ["a"], ["a"], [HAS_A], None),
    ("better", ["b"], ["a"], [HAS_A], None),
    ("new", [], ["b"], [HAS_A], None),
    ("gone", ["a"], [], [HAS_A], None),
    ("not graded now", ["a"], [{"error": "quota"}], [HAS_A], None),
    ("the first run that fails", ["a"] * 3, ["a", "b", "c"], [HAS_A], (1, "has a", "text does not contain 'a'")),
    ("after one that was not graded", ["a"], [{"error": "quota"}, "b"], [HAS_A], (1, "has a", "does not contain")),
    ("the grader that fails it", ["ab"], ["a"], [HAS_A, HAS_B], (0, "has b", "does not contain 'b'")),
    ("a grader that fails before one of a lower score", ["ab"], ["b"], [NEAR | {"expected": "xyz"}, HAS_A],
     (0, "has a", "does not contain 'a'")),
    ("the worst run where none fails", ["abcd"] * 2, ["abcd", "abc"], [NEAR], (1, "near", "")),
    ("scores with a reason", scored(1), [{"score": 0.7}, {"score": 0.2, "explanation": REASON}], [], (1, None, REASON)),
    ("scores without", scored(1), scored(0.9), [], (0, None, None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "graders", "told"), [row[1:] for row in EVIDENCE], ids=[row[0] for row in EVIDENCE]
)
def test_evidence(before: list[Any], after: list[Any], graders: list[Any], told: tuple[Any, ...] | None) -> None:
    got = answer(suite({"a": before}, {"a": after}, graders=graders))
    (row,) = got["comparisons"][0]["cases"]
    if told is None:
        assert row["evidence"] is None
        return
    place, evaluator, said = told
    assert (row["evidence"]["run"], row["evidence"]["evaluator"]) == (place, evaluator)
    assert said is None or said in row["evidence"]["explanation"]
    run = got["versions"][1]["cases"][0]["runs"][place]
    assert row["evidence"]["explanation"] in [run["explanation"], *(one["explanation"] for one in run["evaluations"])]


def test_what_a_judge_says_is_evidence() -> None:
    judges = Scripted(lambda prompt: {"choice": "A" if "Bob" in str(prompt) else "B", "reasons": REASON})
    (comparison,) = answer(suite({"a": ["Ann"]}, {"a": ["Bob"]}, graders=[{"type": "possible"}]), judges=judges)[
        "comparisons"
    ]
    assert REASON in comparison["cases"][0]["evidence"]["explanation"]


def test_long_explanations_are_cut() -> None:
    got = answer(suite({"a": scored(1)}, {"a": [{"score": 0, "explanation": "x" * 9_000}]}))
    told = got["versions"][1]["cases"][0]["runs"][0]["explanation"]
    assert (len(told), told[-1]) == (2_000, "…")
    assert got["comparisons"][0]["cases"][0]["evidence"]["explanation"] == told
    assert got["versions"][0]["cases"][0]["runs"][0]["explanation"] is None
