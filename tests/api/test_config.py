"""Settings, and the command that prints them."""

import json
from pathlib import Path

import pytest
import yaml

from service import __version__
from service.__main__ import main
from service.api.document import document
from service.catalogue import BY_TYPE
from service.config import ConfigError, load


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


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"SCOREWRIGHT_PROT": "1"}, "SCOREWRIGHT_PROT"),
        ({"SCOREWRIGHT_PORT": "many"}, "port"),
        ({"SCOREWRIGHT_PORT": "70000"}, "port"),
        ({"SCOREWRIGHT_LIMITS__ITEM": "5"}, "item"),
        ({"SCOREWRIGHT_LIMITS__ITEMS": "0"}, "items"),
        ({"SCOREWRIGHT_LIMITS__JSON_DEPTH": "201"}, "json_depth"),
        ({"SCOREWRIGHT_CONFIG": "/nowhere.toml"}, "/nowhere.toml"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_starts(
    environment: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match=named):
        load(environment)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["check"]) == 2
    assert named in capsys.readouterr().err


def test_check_prints_what_is_in_force_but_no_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SCOREWRIGHT_API_KEYS", "hush,hush2")
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
