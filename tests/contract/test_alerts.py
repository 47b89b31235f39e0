"""The alert rules are such as Prometheus loads, and ask for what the service publishes."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from service.config import Limits
from tests.judge.serving import JudgeServer, judging
from tests.serving import ROOT, served

DEPLOY = ROOT / "deploy/prometheus"
GROUPS: list[dict[str, Any]] = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
NAMES = [rule["alert"] for rule in RULES]

PROMETHEUS_OWN = {"up": {"job", "instance"}}
ADDED_BY_SCRAPING = {"job", "instance"}
JUDGE = '[judges.default]\nkind = "openai"\nbase_url = "{}"\nmodel = "m"\n'
BATCH = {
    "items": [{"input": "a", "output": "b", "expected": "c"}],
    "evaluators": [{"type": "factuality", "judge": "default"}],
}


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with judging() as running:
        yield running


@pytest.fixture(scope="module")
def published(server: JudgeServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The labels of each metric of a service that has asked a judge."""
    file = tmp_path_factory.mktemp("settings") / "judges.toml"
    file.write_text(JUDGE.format(server.url))
    with served(JUDGES=str(file)) as running, httpx.Client(base_url=running.url) as client:
        assert client.post("/v1/evaluations", json=BATCH).json()["summary"]["failed"] == 1
        exposition = client.get("/metrics").text
    labels: defaultdict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(exposition):
        for sample in family.samples:
            labels[sample.name] |= sample.labels.keys()
    return labels


def without_texts(expression: str) -> str:
    return re.sub(r'"[^"]*"', '""', expression)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_has_the_shape_of_one(rule: dict[str, Any]) -> None:
    assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch("Scorewright[A-Za-z]+", rule["alert"])
    assert re.fullmatch(r"\d+[smhd]", rule["for"])
    assert rule["labels"].keys() == {"severity"}
    assert rule["labels"]["severity"] in ("page", "ticket")
    assert {"summary"} <= rule["annotations"].keys() <= {"summary", "description"}
    for text in (rule["expr"], *rule["annotations"].values()):
        assert all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))
    assert re.search(r"(==|>|<) [\d.]+$", rule["expr"])


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_every_metric_and_label_of_a_rule_is_published(rule: dict[str, Any], published: dict[str, set[str]]) -> None:
    expression = without_texts(rule["expr"])
    known = published | PROMETHEUS_OWN
    asked = re.findall(r"\b(scorewright_\w+|up)\b(?:\{([^}]*)\})?", expression)
    assert asked
    for name, matchers in asked:
        assert name in known
        assert set(re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers)) <= known[name] | ADDED_BY_SCRAPING
    grouped = {label for labels in re.findall(r"by \(([^)]*)\)", expression) for label in labels.split(", ")}
    told = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
    for name, _ in asked:
        assert grouped <= known[name] | ADDED_BY_SCRAPING
    assert told <= (grouped or ADDED_BY_SCRAPING)


@pytest.mark.parametrize(
    ("alert", "limit"),
    [
        ("ScorewrightQueueNearFull", Limits().waiting_requests),
        ("ScorewrightEmbeddingQueueNearFull", Limits().queue_texts),
    ],
)
def test_near_full_is_three_quarters_of_the_default(alert: str, limit: int) -> None:
    (rule,) = [rule for rule in RULES if rule["alert"] == alert]
    assert int(rule["expr"].split()[-1]) == limit * 3 // 4
    assert f"past {limit:,} " in rule["annotations"]["summary"]


def test_names_are_given_once() -> None:
    assert len({*NAMES}) == len(NAMES)
    assert len({group["name"] for group in GROUPS}) == len(GROUPS)


def test_prometheus_is_given_the_rules() -> None:
    settings = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    assert [(DEPLOY / name).exists() for name in settings["rule_files"]] == [True]
    assert settings["scrape_configs"][0]["job_name"] == "scorewright"
    mounts = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]["prometheus"]["volumes"]
    assert mounts == ["./prometheus:/etc/prometheus:ro"]


def test_the_alerts_are_documented() -> None:
    text = (ROOT / "docs/judges.md").read_text() + (ROOT / "docs/http.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in text] == []
