"""Evaluators of installed packages, each in a process of its own that finds the package beside the service."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.serving import ROOT, served

SECTION = "## Adding an evaluator from a package of your own"


def command(name: str, beside: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SCOREWRIGHT_")}
    run = [sys.executable, "-m", "service", name]
    environment = clean | {"PYTHONPATH": str(beside)}
    return subprocess.run(run, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)


def documented(language: str) -> str:
    """The block of the section that is written in a language."""
    section = (ROOT / "docs/architecture.md").read_text().split(SECTION)[1]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found
    return found[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the documented package is installed, built as its `pyproject.toml` says."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    (source / "pyproject.toml").write_text(documented("toml"))
    (source / "house_rules.py").write_text('"""Rules."""\n' + documented("python"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "--target", target, source], check=True, capture_output=True)
    return target


def test_it_is_listed(installed: Path) -> None:
    listed = command("catalogue", installed)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert re.search(r"^polite +The text says please\.$", listed.stdout, re.MULTILINE)
    assert re.search(r"^contains ", listed.stdout, re.MULTILINE)
    assert "polite" not in command("catalogue", installed / "nothing").stdout


def test_its_rules_are_judged(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(installed))
    body = {
        "items": [{"output": "Sit, please."}, {"output": "Sit."}],
        "evaluators": [{"type": "polite"}, {"type": "polite", "id": "rude", "negate": True, "weight": 2}],
    }
    with served() as running, httpx.Client(base_url=running.url, timeout=60) as client:
        got = client.post("/v1/evaluations", json=body).json()["results"]
        row = client.get("/v1/evaluators/polite").json()
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert [[one["status"] for one in item["evaluations"]] for item in got] == [
        ["passed", "failed"],
        ["failed", "passed"],
    ]
    assert got[1]["evaluations"][0]["explanation"] == "text does not say please"
    assert (row["purpose"], row["family"]) == ("The text says please.", "text")
    assert "Polite" in schemas


CLASS = """
from service.core.evaluator import Evaluator, Spec, Verdict

class Own(Evaluator, frozen=True{tag}):
    spec = Spec(family="text", examples=())
    {field}
    def judge(self, value, expected):
        return Verdict(score=1.0, fact="seen")
"""
BROKEN = {
    "a-type-of-ours": (CLASS.format(tag=", tag='contains'", field=""), "is taken by service.scorers.text.Contains"),
    "what-is-missing": ("import a_package_that_nobody_has", "a_package_that_nobody_has"),
    "another-name": ("Other = 1", "Own"),
    "no-class": ("Own = 1", "no class derived from Evaluator"),
    "no-spec": ("from service.core.evaluator import Evaluator as Own", "has a spec"),
    "a-fault": ("1 / 0", "division by zero"),
    "no-json": (CLASS.format(tag=", tag='odd'", field="x: type = int"), "<class 'type'> is not supported"),
    "sane": (CLASS.format(tag="", field=""), ""),
    "the-same-again": (CLASS.format(tag="", field=""), "the type own is taken by sane.Own"),
}


def put(beside: Path, package: str, code: str) -> None:
    """A package as installers leave it."""
    module = package.replace("-", "_")
    info = beside / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (beside / f"{module}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[scorewright.evaluators]\nown = {module}:Own\n")


@pytest.mark.parametrize("name", ["serve", "catalogue", "check"])
def test_what_cannot_be_used_is_refused_by_the_name_of_its_package(name: str, tmp_path: Path) -> None:
    for package, (code, _) in BROKEN.items():
        put(tmp_path, package, code)
    refused = command(name, tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    (line,) = refused.stderr.splitlines()
    told = dict(re.findall(r"Own of the package ([a-z-]+) is no evaluator to use: (.*?)(?:; |$)", line))
    assert told.keys() == BROKEN.keys() - {"sane"}
    assert [package for package, said in told.items() if BROKEN[package][1] not in said] == []


def test_a_class_derived_from_one_of_ours_leaves_ours_in_its_place(tmp_path: Path) -> None:
    code = "from service.scorers.text import Contains\nclass Own(Contains, frozen=True):\n    'The text has it.'\n"
    put(tmp_path, "house-rules", code)
    listed = command("catalogue", tmp_path).stdout
    assert re.search(r"^own +The text has it\.$", listed, re.MULTILINE)
    assert re.search(r"^contains ", listed, re.MULTILINE)
