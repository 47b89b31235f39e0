"""Suites over a real socket."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.judge.serving import chat, judging, told
from tests.serving import ROOT, Served, served
from tests.suites.driving import EXACT, scored, suite

EXAMPLE = json.loads((ROOT / "examples/suites/ticket-classifier.json").read_bytes())


def post(client: httpx.Client, body: Any) -> httpx.Response:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post("/v1/suites", content=sent, headers={"content-type": "application/json"})


def counted(client: httpx.Client, metric: str) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(metric))


def test_the_example(client: httpx.Client) -> None:
    got = post(client, EXAMPLE)
    assert (got.status_code, got.headers["content-type"]) == (200, "application/json")
    assert [one["version"] for one in got.json()["versions"]] == [one["version"] for one in EXAMPLE["versions"]]
    assert "run;dur=" in got.headers["server-timing"]
    assert post(client, EXAMPLE).content == got.content


def test_a_suite_that_makes_no_sense_is_a_problem(client: httpx.Client) -> None:
    got = post(client, suite({"a": ["x", {"score": 2}]}, {"a": ["x"]}) | {"baseline": "v3"})
    assert (got.status_code, got.headers["content-type"]) == (422, "application/problem+json")
    problem = got.json()
    assert (problem["type"].rsplit(":", 1)[0], problem["instance"]) == ("urn:scorewright:problem", "/v1/suites")
    assert [(one["pointer"], one["code"]) for one in problem["errors"]] == [
        ("/baseline", "unknown_id"), ("/versions/0/outputs/a/1/score", "out_of_range"), ("/graders", "no_grader")]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 422),
        (b'{"cases": [{}], "versions": [{"version": "v", "outputs": {"1": [NaN]}}]}', 400),
        (b'{"cases": [{}], "versions": [{"version": "v", "outputs": {"1": [1e999]}}]}', 400),
        (b'{"cases": [{}], "alpha": 5e-324, "versions": [{"version": "v", "outputs": {"1": [{"score": 1}]}}]}', 422),
    ],
)
def test_bodies_that_are_none(body: bytes, status: int, client: httpx.Client) -> None:
    assert post(client, body).status_code == status


def test_half_surrogates_are_read_and_counted(client: httpx.Client) -> None:
    body = (
        b'{"name": "\\ud800", "cases": [{"id": "a\\udc00"}], "graders": [{"type": "exact_match", "expected": "\xef\xbf\xbd"}],'
        b' "versions": [{"version": "v", "outputs": {"a\\udc00": ["\\ud83d"]}}]}'
    )
    got = post(client, body).json()
    assert got["summary"]["replaced_surrogates"] == 4
    assert (got["name"], got["versions"][0]["cases"][0]["id"], got["passed"]) == ("\ufffd", "a\ufffd", True)
    assert "replaced_surrogates" not in post(client, EXAMPLE).json()["summary"]


def test_evaluations_of_suites_are_counted(client: httpx.Client) -> None:
    passed = 'scorewright_evaluations_total{status="passed",type="exact_match"}'
    before = counted(client, passed)
    post(client, suite({"a": ["x", "x", "y", {"score": 1}]}, graders=[EXACT | {"expected": "x"}]))
    assert counted(client, passed) - before == 2


def test_suites_of_scores_alone_are_answered(client: httpx.Client) -> None:
    got = post(client, suite({"a": scored(1)}, {"a": scored(0)}))
    assert (got.status_code, got.json()["summary"]["evaluations"]) == (200, 0)


def test_it_is_described(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"200", "400", "413", "422", "429"} <= paths["/v1/suites"]["post"]["responses"].keys()
    assert client.get("/v1/limits").json()["fixed"]["generated_prompt_chars"] > 0
    assert client.get("/v1/suites").status_code == 405


def test_limits_that_are_set() -> None:
    with (
        served(LIMITS__ITEMS="2", LIMITS__RESPONSE_BYTES="10000") as running,
        httpx.Client(base_url=running.url) as own,
    ):
        many = post(own, suite({"a": scored(1, 1, 1)}))
        assert (many.status_code, many.json()["errors"][0]["code"]) == (422, "limit_exceeded")
        large = post(own, suite({"a": ["x" * 5_000] * 2}, graders=[EXACT | {"expected": "y"}], echo="full"))
        assert large.status_code == 413
        assert re.search("response_bytes", large.json()["detail"])


@pytest.fixture
def writing(tmp_path: Path) -> Any:
    """A service with a judge that may generate, and the server that stands behind it."""
    with judging() as server:
        table = f'[judges.default]\nkind = "openai"\nbase_url = "{server.url}"\nmodel = "m-1"\nallow_generate = true\n'
        (tmp_path / "config.toml").write_text(table)
        with served(CONFIG=str(tmp_path / "config.toml")) as running:
            yield running, server


def test_prompts_are_run_and_graded(writing: tuple[Served, Any]) -> None:
    running, server = writing
    server.scripts["Who"] = [told(chat({"content": name})) for name in ("Ann", "Ann", "Bob")]
    body = {
        "cases": [{"id": "a", "input": "Who?", "expected": "Ann"}],
        "versions": [{"version": "v", "prompt": "{input}"}],
        "graders": [EXACT],
        "repeat": 3,
        "generate": {"temperature": 0.5},
    }
    with httpx.Client(base_url=running.url) as own:
        got = post(own, body).json()
    assert sorted(run["output"] for run in got["versions"][0]["cases"][0]["runs"]) == ["Ann", "Ann", "Bob"]
    assert got["versions"][0]["score"]["score"] == pytest.approx(2 / 3)
    assert got["versions"][0]["model"] == "m-1"
    assert got["summary"]["judge"]["default"]["calls"] == 3
    assert len({asked.headers["x-request-id"] for asked in server.asked}) == 1
