"""Imports point one way."""

import ast
from pathlib import Path

import pytest

from tests.serving import ROOT

RANK = {
    "primitives": 0,
    "config": 1,
    "core": 1,
    "scorers": 2,
    "embedding": 2,
    "judge": 2,
    "catalogue": 3,
    "metrics": 2,
    "probing": 2,
    "engine": 4,
    "logs": 4,
    "api": 5,
    "app": 6,
    "__main__": 7,
}
FORBIDDEN_TO_SCORERS = {
    "numpy",
    "httpx",
    "litestar",
    "asyncio",
    "prometheus_client",
    "scipy",
    "threading",
    "time",
    "random",
}
SOURCES = sorted((ROOT / "service").rglob("*.py"))


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def package_of(path: Path) -> str:
    first = path.relative_to(ROOT / "service").parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    own = package_of(path)
    if own == "__init__":
        assert not any(name.startswith("service") for name in imported(path))
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "service" and parts[1] in RANK:
            assert RANK[parts[1]] < RANK[own] or parts[1] == own or (own, parts[1]) == ("core", "config"), name


@pytest.mark.parametrize("path", sorted((ROOT / "service/scorers").glob("*.py")), ids=lambda path: path.name)
def test_scorers_do_no_io(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & FORBIDDEN_TO_SCORERS


@pytest.mark.parametrize("path", sorted((ROOT / "service/primitives").rglob("*.py")), ids=lambda path: str(path.name))
def test_primitives_know_nobody(path: Path) -> None:
    assert all(
        not name.startswith("service") or name.startswith("service.primitives") or name == "service.primitives"
        for name in imported(path)
    )
