"""What docs/prompt-metrics.md shows and claims."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from service.primitives.stats import pair_agreement
from tests.model import require_model
from tests.serving import ROOT
from tests.stability.asking import Body, asked, codes, interaction, measured
from tests.suites.driving import answer

PAGE = (ROOT / "docs/prompt-metrics.md").read_text()
EXAMPLES = ROOT / "examples/prompt-metrics"


def part(heading: str) -> str:
    """What stands under a heading."""
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[list[str]]:
    """The cells of all rows of figures."""
    return [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [\d.]+ \|", line)]


def blocks(text: str) -> list[Body]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]


def test_the_numbers_of_the_example_that_the_page_names(client: httpx.Client) -> None:
    body = json.loads((EXAMPLES / "nexo-support-bot.json").read_bytes()) | {"tau": 0.8}
    first, *_, last = client.post("/v1/prompt-metrics", json=body).json()["interactions"]
    assert first["violations"] == {"fact": [8]}
    assert '`{"fact": [8]}`' in PAGE
    assert "$25" in body["queries"][0]["responses"][8]
    require_model()
    entropy = last["entropy"]
    assert f"({entropy['posterior_mean']:.2f} and {entropy['plugin']:.2f} for qa_003 above)" in PAGE


def test_what_tau_does_to_capitals(client: httpx.Client) -> None:
    require_model()
    body = json.loads((EXAMPLES / "capitals.json").read_bytes())
    shown = [row for row in rows(part("Which tau?")) if "%" not in "".join(row)]
    assert [float(row[0]) for row in shown] == [0.8, 0.85, 0.9, 0.95]
    for tau, *wanted in shown:
        session = client.post("/v1/prompt-metrics", json=body | {"tau": float(tau)}).json()
        assert [f"{one['csr']:.1f}" for one in session["interactions"]] == wanted
    loose = client.post("/v1/prompt-metrics", json=body).json()
    assert loose["recommended_tau"] == 0.9
    low, high = loose["interactions"][0]["csr_interval"]
    assert f"have [{low:.2f}, {high:g}] at 0.80" in PAGE
    shown_cosines = re.findall(
        r'"([^"/]+?)(\w+) / (\w+)" have a cosine of ([\d.]+), "([^"]+) / ([^"]+)" one of ([\d.]+)', PAGE
    )
    ((start, one, other, near, short, shorter, far),) = shown_cosines
    pairs = [[f"{start}{one}.", f"{start}{other}."], [f"{short}.", f"{shorter}."]]
    cosines = client.post("/v1/similarity", json={"pairs": pairs}).json()["cosines"]
    assert [f"{cosine:.3f}" for cosine in cosines] == [near, far]


def numbers(*agreements: float | None) -> Body:
    """An answer with these numbers, as far as it matters."""
    return {"interactions": [{"qa_id": f"q{at}", "pair_agreement": one} for at, one in enumerate(agreements)]}


def suite_of(one: Body, other: Body, folder: Path, number: str = "pair_agreement") -> Body:
    """What compare.jq makes of two answers."""
    jq = shutil.which("jq")
    if jq is None:
        if os.environ.get("CI"):
            pytest.fail("jq is not installed")
        pytest.skip("jq is not installed")
    for name, content in (("a", one), ("b", other)):
        (folder / name).write_text(json.dumps(content))
    files = ["--slurpfile", "a", str(folder / "a"), "--slurpfile", "b", str(folder / "b")]
    command = [jq, "-n", "--arg", "number", number, *files, "-f", str(EXAMPLES / "compare.jq")]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)  # type: ignore[no-any-return]


def test_the_suite_shown_is_what_is_made_of_two_answers(tmp_path: Path) -> None:
    (shown,) = blocks(part("Comparing two prompts"))
    assert suite_of(numbers(0.62, 1.0), numbers(0.47, 0.8), tmp_path) == json.loads(
        json.dumps(shown | {"name": "pair_agreement"}).replace("qa_001", "q0").replace("qa_002", "q1")
    )
    made = suite_of(numbers(0.5, None), numbers(0.5, 0.2, 0.1), tmp_path)
    assert made["versions"][0]["outputs"] == {"q0": [{"score": 0.5}], "q1": [{"error": "null"}]}
    assert [case["id"] for case in made["cases"]] == ["q0", "q1", "q2"]
    assert answer(made)["comparisons"][0]["significance"]["scores"]["delta"] == 0


@pytest.mark.parametrize(("count", "significant"), [(5, None), (6, True), (9, True)])
def test_two_answers_are_compared_query_by_query(count: int, significant: bool | None, tmp_path: Path) -> None:
    steady, loose = (
        measured({"queries": [asked([[1, 0]] * (20 - away) + [[0, 1]] * away) for away in places]})
        for places in ([0] * count, range(1, count + 1))
    )
    for number in ("csr", "pair_agreement", "stability"):
        tests = answer(suite_of(steady, loose, tmp_path, number))["comparisons"][0]["significance"]["scores"]
        assert tests["delta"] == pytest.approx(loose[number] - steady[number])
        assert (tests["p"], tests["moved"]) == (pytest.approx(2 / 2**count), count)
        assert (tests["significant"], tests["underpowered"]) == (significant, significant is None)


def agreements(k: int, share: float, shape: tuple[int, ...], seed: int = 1) -> Any:
    """pair_agreement of queries whose responses have one meaning with this probability, else another."""
    by_count = np.array([pair_agreement([n, k - n] if 0 < n < k else [k]) for n in range(k + 1)], dtype=float)
    return by_count[np.random.default_rng(seed).binomial(k, share, shape)]


def power(k: int, queries: int, times: int = 1_500) -> float:
    """How often the sign-flip test finds that 90 % is better than 80 %."""
    deltas = agreements(k, 0.9, (times, queries)) - agreements(k, 0.8, (times, queries), seed=2)
    signs = np.random.default_rng(3).choice([-1, 1], (2_000, queries))
    p = (abs(deltas @ signs.T) >= abs(deltas.sum(axis=1))[:, None] - 1e-9).mean(axis=1)
    return float((p <= 0.05).mean())


@pytest.mark.parametrize("row", rows(part("Comparing two prompts")), ids=lambda row: f"K {row[0]}")
def test_how_many_responses_and_queries(row: list[str]) -> None:
    k, low, deviation, *found = (float(cell.removesuffix(" %")) for cell in row)
    assert interaction(asked([[1.0]] * int(k)))["csr_interval"][0] == pytest.approx(low, abs=0.005)
    assert agreements(int(k), 0.8, (50_000,)).std() == pytest.approx(deviation, abs=0.006)
    assert [100 * power(int(k), queries) for queries in (12, 24)] == pytest.approx(found, abs=4)


def test_both_rounds_of_ratings_by_the_caller() -> None:
    first, told, second = blocks(part("Ratings of your own"))
    (query,) = first["queries"]
    one = interaction(query, jq=first["jq"])
    assert (one["jq"], "ratings_pending" in codes(one)) == (None, True)
    for prompt, shown in zip(one["jq_detail"].pop("prompts"), told.pop("prompts"), strict=True):
        assert (prompt["index"], prompt["schema"]["type"]) == (shown["index"], shown["schema"]["type"])
        assert [message["role"] for message in prompt["messages"]] == [message["role"] for message in shown["messages"]]
    assert one["jq_detail"] == told
    assert second == first | {"queries": [query | {"replies": second["queries"][0]["replies"]}]}
    two = interaction(second["queries"][0], jq=second["jq"])
    assert (two["jq"], two["jq_detail"]["prompts"]) == (0.5, [])
    assert f"Now `jq` is {two['jq']}." in PAGE
    assert "ratings_pending" not in codes(two)
