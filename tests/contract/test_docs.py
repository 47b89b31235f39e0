"""What the documentation says is what happens."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from docs.build import embeddings, prompt_metrics, readme, reference, suites
from service.config import Limits, Settings
from service.core.outcome import STATUSES
from tests.model import require_model
from tests.serving import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.json"))
README = (ROOT / "README.md").read_text()


def test_what_is_derived_is_up_to_date() -> None:
    assert readme() == README, "run `make docs`"
    assert (ROOT / "docs/evaluators.md").read_text() == reference(), "run `make docs`"
    assert (ROOT / "docs/embeddings.md").read_text() == embeddings(), "run `make docs`"
    assert (ROOT / "docs/suites.md").read_text() == suites(), "run `make docs`"
    assert (ROOT / "docs/prompt-metrics.md").read_text() == prompt_metrics(), "run `make docs`"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(path: Path, client: httpx.Client) -> None:
    answer = client.post("/v1/evaluations", content=path.read_bytes(), headers={"content-type": "application/json"})
    assert answer.status_code == 200
    summary = answer.json()["summary"]
    assert (summary["error"], summary["not_graded"]) == (0, 0)
    validation = client.post("/v1/evaluations/validate", json=json.loads(path.read_text())).json()
    assert (validation["valid"], validation["warnings"]) == (True, [])


def test_the_suite_of_the_examples_improves_by_less_than_can_be_told(client: httpx.Client) -> None:
    body = json.loads((ROOT / "examples/suites/ticket-classifier.json").read_text())
    answer = client.post("/v1/suites", json=body).json()
    (comparison,) = answer["comparisons"]
    tests = comparison["significance"]
    assert [one["passed"] for one in answer["versions"]] == [False, True]
    assert (comparison["counts"]["regressed"], comparison["counts"]["improved"]) == (0, 4)
    assert [tests[name]["significant"] for name in ("scores", "verdicts")] == [False, False]
    assert {row["underpowered"] for row in comparison["cases"]} == {True}
    assert answer["passed"]


def test_the_prompt_metrics_shown_are_the_models(client: httpx.Client) -> None:
    require_model()
    body = json.loads((ROOT / "examples/prompt-metrics/nexo-support-bot.json").read_text())
    answer = client.post("/v1/prompt-metrics", json=body).json()
    text = (ROOT / "docs/prompt-metrics.md").read_text()
    rows = re.findall(
        r"^\| (qa_\d+) [^|]* \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d +]+) \|$", text, re.MULTILINE
    )
    found = [
        (one["qa_id"], *(one[name] for name in ("csr", "stability", "rss", "icr"))) for one in answer["interactions"]
    ]
    assert [(row[0], *map(float, row[1:5])) for row in rows] == [
        (name, *map(about, numbers)) for name, *numbers in found
    ]
    sizes = [sorted((group["size"] for group in one["clusters"]), reverse=True) for one in answer["interactions"]]
    assert [[int(size) for size in row[5].split(" + ")] for row in rows] == sizes
    first = answer["interactions"][0]["clusters"][0]["members"]
    assert "$25" in body["queries"][0]["responses"][8]
    assert 8 in first


def about(value: float) -> Any:
    return pytest.approx(value, abs=6e-4)


def test_every_warning_of_suites_is_documented() -> None:
    text = (ROOT / "docs/suites.md").read_text()
    codes = re.findall(r'Notice\("(\w+)"', (ROOT / "service/engine/suites/cautions.py").read_text())
    assert [code for code in [*codes, "cases_missing", "cases_not_graded"] if f"`{code}`" not in text] == []


def test_every_warning_of_prompt_metrics_is_documented() -> None:
    text = (ROOT / "docs/prompt-metrics.md").read_text()
    source = (ROOT / "service/engine/stability/notices.py").read_text()
    codes = {*re.findall(r'Notice\("(\w+)"', source), "model_unavailable", "deadline_exceeded"}
    assert [code for code in sorted(codes) if f"`{code}`" not in text] == []


def test_all_evaluations_of_the_agent_example_pass(client: httpx.Client) -> None:
    body = json.loads((ROOT / "examples/genai-explorer.json").read_text())
    summary = client.post("/v1/evaluations", json=body).json()["summary"]
    assert summary["pass_rate"] == 1
    assert len(summary["evaluators"]) == 13


def test_the_first_request_of_the_readme_gets_the_answer_shown(client: httpx.Client) -> None:
    request, answer = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", README, re.DOTALL)[:2])
    assert client.post("/v1/evaluations", json=request).json() == answer


def test_the_readme_names_every_status_and_setting() -> None:
    assert [status for status in STATUSES if f"`{status}`" not in README] == []
    settings = [name for name in Settings.__struct_fields__ if name not in ("limits", "embedding")]
    assert [name for name in settings if f"`SCOREWRIGHT_{name.upper()}`" not in README] == []


def test_every_limit_is_documented() -> None:
    text = (ROOT / "docs/http.md").read_text()
    assert [name for name in Limits.__struct_fields__ if f"`{name}`" not in text] == []


def test_the_cosines_shown_are_the_models(client: httpx.Client) -> None:
    require_model()
    rows = re.findall(
        r"^\| ([^|/]+) / ([^|/]+) \| (0\.\d{3}) \|$", (ROOT / "docs/embeddings.md").read_text(), re.MULTILINE
    )
    assert len(rows) == 4
    pairs = [*[row[:2] for row in rows], ("a cat", "kittens"), ("It is raining.", "Rain falls.")]
    cosines = client.post("/v1/similarity", json={"pairs": pairs}).json()["cosines"]
    assert cosines == pytest.approx([*[float(row[2]) for row in rows], 0.568, 0.716], abs=6e-4)
