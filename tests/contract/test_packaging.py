"""The image's steps, run where no image can be built, and the files around it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from service import __version__
from tests.serving import ROOT

SHIPPED = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "requirements", "deploy/install", "service")


def test_the_image_installs_from_what_it_copies(tmp_path: Path) -> None:
    """Only what the Dockerfile copies is there; the command runs from another folder, with run-time packages alone."""
    source = tmp_path / "src"
    for name in SHIPPED:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    subprocess.run([source / "deploy/install", tmp_path / "venv"], check=True, capture_output=True)
    shutil.rmtree(source)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SCOREWRIGHT_", "PYTHON"))}
    command = [tmp_path / "venv/bin/scorewright"]
    version = subprocess.run(
        [*command, "--version"], check=True, capture_output=True, text=True, cwd=tmp_path, env=clean
    )
    assert version.stdout.strip() == __version__
    check = subprocess.run([*command, "check"], check=True, capture_output=True, text=True, cwd=tmp_path, env=clean)
    assert "evaluators" in check.stdout


def test_the_dockerfile_copies_just_that() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE) for name in line.split()[:-1]}
    assert copied == set(SHIPPED)
    assert re.search(r"^USER \d+$", text, re.MULTILINE)
    assert "HEALTHCHECK" in text


def test_compose_scrapes_the_service_under_a_host_it_answers() -> None:
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
    scrape = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())["scrape_configs"][0]
    host, port = scrape["static_configs"][0]["targets"][0].split(":")
    assert host in compose["services"]
    assert host in compose["services"]["scorewright"]["environment"]["SCOREWRIGHT_ALLOWED_HOSTS"].split(",")
    assert port == "8000"


@pytest.mark.parametrize("name", ["run", "dev", "build", "bench", "peers", "prompts"])
def test_locked_requirements_have_hashes_and_no_addresses(name: str) -> None:
    text = (ROOT / f"requirements/{name}.txt").read_text()
    assert "://" not in text
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=[a-zA-Z0-9])", text.strip()))
