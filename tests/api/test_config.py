"""Settings, and the command that prints them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from service import __version__
from service.__main__ import UNREAD, main
from service.api.document import document
from service.catalogue import BY_TYPE
from service.config import ConfigError, load
from tests.serving import ROOT


def test_defaults_then_the_file_then_the_environment_then_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "scorewright.toml"
    file.write_text('host = "0.0.0.0"\nport = 1\napi_keys = ["a"]\n[limits]\nitems = 5\nkeywords = 7\n')
    environment = {
        "SCOREWRIGHT_CONFIG": str(file),
        "SCOREWRIGHT_PORT": "2",
        "SCOREWRIGHT_LIMITS__ITEMS": "6",
        "HOME": "/",
    }
    settings = load(environment)
    assert (settings.host, settings.port, settings.api_keys) == ("0.0.0.0", 2, ("a",))
    assert (settings.limits.items, settings.limits.keywords, settings.limits.evaluations) == (6, 7, 200_000)
    assert load(environment, port=3, host=None).port == 3


@pytest.mark.parametrize(
    ("environment", "hosts"),
    [
        ({}, ("localhost", "127.0.0.1", "[::1]")),
        ({"SCOREWRIGHT_HOST": "0.0.0.0"}, None),
        ({"SCOREWRIGHT_ALLOWED_HOSTS": "a.example, b.example,"}, ("a.example", "b.example")),
        ({"SCOREWRIGHT_ALLOWED_HOSTS": "*"}, None),
    ],
)
def test_which_hosts_are_answered(environment: dict[str, str], hosts: tuple[str, ...] | None) -> None:
    assert load(environment).hosts() == hosts


VARIABLES = {
    "unknown": ("PROT", "1", "there is no such setting, 'PROT': did you mean 'PORT'?"),
    "unknown by far": ("SPEED", "1", "there is no such setting, 'SPEED' (README.md lists what there is)"),
    "no number": ("PORT", "many", "a whole number is wanted"),
    "too much": ("PORT", "70000", "a whole number <= 65535 is wanted"),
    "in no table": ("LIMITS_ITEMS", "5", "did you mean 'LIMITS__ITEMS'?"),
    "unknown in a table": ("LIMITS__ITEM", "5", "did you mean 'LIMITS__ITEMS'?"),
    "a table": ("LIMITS", "5", "there is no such setting, 'LIMITS'"),
    "in what is no table": ("PORT__X", "5", "did you mean 'PORT'?"),
    "too little": ("LIMITS__ITEMS", "0", "a whole number >= 1 is wanted"),
    "too deep": ("LIMITS__JSON_DEPTH", "201", "a whole number <= 200 is wanted"),
    "neither": ("LOG_REQUESTS", "maybe", "true or false is wanted"),
    "none of a few": ("EMBEDDER", "opnai", "'opnai' is none of 'onnx', 'openai', 'hashing': did you mean 'openai'?"),
    "no list": ("API_KEYS", "[1]", 'write a, b or ["a", "b"]'),
    "a judge without a field": ("JUDGES__DEFAULT", "x", "there is no such setting"),
    "no file": ("CONFIG", "/nowhere.toml", "No such file"),
    "a server that is not asked": ("EMBEDDER_URL", "http://a/v1", "set SCOREWRIGHT_EMBEDDER=openai too"),
    "its model": ("EMBEDDER_MODEL", "m", "set SCOREWRIGHT_EMBEDDER=openai too"),
    "its key": ("EMBEDDER_API_KEY", "hush", "set SCOREWRIGHT_EMBEDDER=openai too"),
}


@pytest.mark.parametrize(("name", "text", "said"), VARIABLES.values(), ids=VARIABLES)
def test_a_variable_that_makes_no_sense_is_named(name: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load({f"SCOREWRIGHT_{name}": text})
    assert str(caught.value).startswith(f"SCOREWRIGHT_{name}")
    assert said in str(caught.value)
    assert "hush" not in str(caught.value)


FILES = {
    "unknown": ("prot = 1", "prot: there is no such key; did you mean 'port'?"),
    "unknown in a table": ("[limits]\nitem = 5", "limits.item: there is no such key; did you mean 'items'?"),
    "a text for a number": ('port = "5"', "port: a whole number is wanted, not a text"),
    "a number for a table": ("limits = 5", "limits: a table is wanted, not a whole number"),
    "a text for a list": ('api_keys = "hush"', "api_keys: a list is wanted, not a text"),
    "none of a few": ('embedder = "opnai"', "embedder: 'opnai' is none of 'onnx', 'openai', 'hashing'"),
    "one judge": ("[judge.default]", "judge: there is no such key; a judge is a table [judges.NAME]"),
    "a judge that is no table": ('[judges]\nkind = "openai"', "judges.kind: a table is wanted, not a text"),
    "no TOML": ("port =", "Invalid value"),
}


@pytest.mark.parametrize(("text", "said"), FILES.values(), ids=FILES)
def test_a_key_of_the_file_that_makes_no_sense_is_named(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "scorewright.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load({"SCOREWRIGHT_CONFIG": str(file)})
    assert str(caught.value).startswith(f"SCOREWRIGHT_CONFIG={file}: {said}")
    assert "hush" not in str(caught.value)


JUDGE_FILES = {
    "no table": ("", "judges is missing; a judge is a table [judges.NAME]"),
    "one judge": ("[judge.default]", "judge: there is no such key; a judge is a table [judges.NAME]"),
    "a bare name": ("[default]", "default: there is no such key; a judge is a table [judges.NAME]"),
    "other settings": ("[judges.default]\n[limits]", "limits: there is no such key; known are judges"),
}


@pytest.mark.parametrize(("text", "said"), JUDGE_FILES.values(), ids=JUDGE_FILES)
def test_a_file_of_judges_holds_judges(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "judges.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load({"SCOREWRIGHT_JUDGES": str(file)})
    assert str(caught.value) == f"SCOREWRIGHT_JUDGES={file}: {said}"


def test_judges_of_both_files_count_and_the_environment_after_them(tmp_path: Path) -> None:
    settings, judges = tmp_path / "scorewright.toml", tmp_path / "judges.toml"
    settings.write_text('[judges.a]\nmodel = "1"\n[judges.b]\nmodel = "1"\n[judges.c]\nmodel = "1"')
    judges.write_text('[judges.b]\nmodel = "2"\n[judges.c]\nmodel = "2"')
    files = {"SCOREWRIGHT_CONFIG": str(settings), "SCOREWRIGHT_JUDGES": str(judges)}
    found = load(files | {"SCOREWRIGHT_JUDGES__C__MODEL": "3"}).judges
    assert {name: judge["model"] for name, judge in found.items()} == {"a": "1", "b": "2", "c": "3"}


def test_a_server_that_is_asked_may_be_described() -> None:
    found = load({"SCOREWRIGHT_EMBEDDER": "openai", "SCOREWRIGHT_EMBEDDER_URL": "http://a/v1"})
    assert found.embedder_url == "http://a/v1"


def test_the_command_line_is_checked_too() -> None:
    with pytest.raises(ConfigError, match=r"^--port: a whole number <= 65535 is wanted$"):
        load({}, port=70000)


def test_nothing_starts_with_a_setting_that_makes_no_sense(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCOREWRIGHT_PORT", "many")
    assert main(["check"]) == main(["serve"]) == 2
    assert capsys.readouterr().err == "scorewright: SCOREWRIGHT_PORT: a whole number is wanted\n" * 2


SERVERS = {
    "no port": ({"EMBEDDER_URL": "http://a:99999/v1"}, "EMBEDDER_URL) is no URL: after the host and a colon stands a port"),
    "no port of its proxy": ({"EMBEDDING__PROXY": "http://me:hush@a:0"}, "EMBEDDING__PROXY) is no URL: after the host"),
    "a proxy of another kind": ({"EMBEDDING__PROXY": "socks5://me:hush@a"}, "EMBEDDING__PROXY) must begin with http"),
    "a key that no header may hold": ({"EMBEDDER_API_KEY": "hush é"}, "EMBEDDER_API_KEY) has characters no header may"),
}  # fmt: skip


@pytest.mark.parametrize(("variables", "said"), SERVERS.values(), ids=SERVERS)
def test_nothing_starts_with_a_server_that_cannot_be_asked(
    variables: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in ({"EMBEDDER": "openai", "EMBEDDER_URL": "http://a/v1"} | variables).items():
        monkeypatch.setenv(f"SCOREWRIGHT_{name}", value)
    assert main(["check"]) == main(["serve"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all(f"(SCOREWRIGHT_{said}" in line and "hush" not in line for line in told)


def test_check_prints_what_is_in_force_but_no_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCOREWRIGHT_API_KEYS", "hush,hush2")
    monkeypatch.setenv("SCOREWRIGHT_EMBEDDING__PROXY", "http://me:hush@proxy")
    assert main(["check"]) == 0
    printed = capsys.readouterr().out
    shown, _ = json.JSONDecoder().raw_decode(printed)
    assert (shown["version"], shown["settings"]["api_keys"]) == (__version__, "2 set")
    assert "hush" not in printed
    assert f"{len(BY_TYPE)} evaluators" in printed


def test_the_command_prints_the_description_and_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["openapi"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["paths"].keys() == document()["paths"].keys()
    assert main(["catalogue"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in BY_TYPE)
    contains = next(line for line in listed.splitlines() if "whole_word" in line)
    assert contains.split() == ["expected,", "case_sensitive,", "whole_word"]


@pytest.mark.parametrize("command", ["check", "catalogue", "openapi", "judges", "--help", "--version"])
def test_a_reader_that_leaves_ends_a_command_quietly(command: str) -> None:
    """The pipe has no reader before the command has written a word."""
    reading, writing = os.pipe()
    os.close(reading)
    run = [sys.executable, "-m", "service", command]
    with os.fdopen(writing, "wb") as pipe:
        ended = subprocess.run(run, check=False, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE)
    assert ended.returncode == (0 if command.startswith("--") else UNREAD)
    assert b"Traceback" not in ended.stderr
    assert b"BrokenPipe" not in ended.stderr
