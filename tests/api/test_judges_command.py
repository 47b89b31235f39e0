"""`scorewright judges`: which there are, and with --probe how each one answers, against a real server."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Semaphore
from typing import Any, NamedTuple

import pytest

from service.__main__ import main
from service.config import load
from service.judge.choosing import judges_of
from service.probing import AT_ONCE
from tests.embedding.serving import Asked, Told
from tests.judge.conftest import KEY
from tests.judge.serving import JSON, JudgeServer, called, chat, judging, spoken, told
from tests.serving import ROOT

JUDGE = """
[judges.{name}]
kind = "{kind}"
base_url = "{url}"
model = "some-model"
api_key_env = "{variable}"
"""
SCORE = '{"score": 1}'
TOOL = {"type": "tool_use", "id": "t", "name": "reply", "input": {"score": 1}}
PROSE = told(chat({"content": "It is right."}))


class Probed(NamedTuple):
    name: str
    script: list[Told]
    says: str
    status: int = 0
    calls: int = 1
    kind: str = "openai"
    unknown_forms: tuple[str, ...] = ()


PROBED = [
    Probed("a schema is kept to", [told(chat({"content": SCORE}))], "answers by a structured reply"),
    Probed("a schema is forgotten", [PROSE, told(chat(called({"score": 1})))], "answers by a tool call", calls=2),
    Probed("both are forgotten", [PROSE, PROSE, told(chat({"content": f"Here: {SCORE}"}))],
           "answers by JSON in its text", calls=3),
    Probed("both are refused", [told(chat({"content": SCORE}))], "answers by JSON in its text", calls=3,
           unknown_forms=("structured", "tool")),
    Probed("messages", [told(spoken(TOOL, stop="tool_use"))], "answers by a tool call", calls=2, kind="anthropic",
           unknown_forms=("structured",)),
    Probed("an own scorer", [told({"score": 0.5, "reasoning": "so so"})], "answers by a reply object", kind="http"),
    Probed("prose for ever", [PROSE] * 3, "The judge's reply has no JSON object: 'It is right.'", 1, 3),
    Probed("a cut reply", [told(chat({"content": SCORE}, "length"))], "its limit of tokens", 1),
    Probed("another key", [told({"error": {"message": KEY}}, 401)], "does not accept the service's key (status 401)", 1),
]  # fmt: skip


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with judging() as running:
        yield running


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes a text the file of judges."""

    def written(text: str) -> Path:
        file = tmp_path / "judges.toml"
        file.write_text(text)
        monkeypatch.setenv("SCOREWRIGHT_JUDGES", str(file))
        monkeypatch.setenv("THE_KEY", KEY)
        return file

    return written


@pytest.fixture
def configure(write: Callable[[str], Path]) -> Any:
    def configured(*tables: dict[str, str]) -> None:
        write("".join(JUDGE.format(**({"variable": "THE_KEY"} | table)) for table in tables))

    return configured


@pytest.mark.parametrize("case", PROBED, ids=lambda case: case.name)
def test_probing(case: Probed, server: JudgeServer, configure: Any, capsys: pytest.CaptureFixture[str]) -> None:
    server.scripts["2 + 2"] = list(case.script)
    server.unknown_forms = set(case.unknown_forms)
    configure({"name": "default", "kind": case.kind, "url": server.url})
    assert main(["judges", "--probe"]) == case.status
    printed = capsys.readouterr()
    listed, found, caller = printed.out.splitlines()
    assert listed.split() == ["default", case.kind, "some-model"]
    assert " s: " in found
    assert case.says in found
    assert caller.split() == ["caller", "caller"]
    assert len(server.asked) == case.calls
    assert KEY not in printed.out + printed.err


def test_listing_asks_nobody(server: JudgeServer, configure: Any, capsys: pytest.CaptureFixture[str]) -> None:
    configure(*({"name": name, "kind": "openai", "url": server.url} for name in ("default", "second")))
    assert main(["judges"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["default", "second", "caller"]
    assert server.asked == []


def test_one_that_fails_does_not_keep_the_others_from_being_asked(
    server: JudgeServer, configure: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    server.scripts["2 + 2"] = [told(chat({"content": SCORE}))]
    configure(
        {"name": "keyless", "kind": "openai", "url": server.url, "variable": "NOT_SET_ANYWHERE"},
        {"name": "default", "kind": "openai", "url": server.url},
    )
    assert main(["judges", "--probe"]) == 1
    _, keyless, _, default, _ = capsys.readouterr().out.splitlines()
    assert "the environment variable NOT_SET_ANYWHERE, which its api_key_env names, is not set" in keyless
    assert "answers by a structured reply" in default


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_was_never_named_is_not_called_wrong(
    status: int, server: JudgeServer, write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    server.scripts["2 + 2"] = [told({}, status)] * 2
    table = f'kind = "openai"\nbase_url = "{server.url}"\nmodel = "m"'
    write(f'[judges.bare]\n{table}\n[judges.dressed]\n{table}\nheaders = {{ X-Api-Key = "{KEY}" }}')
    assert main(["judges", "--probe"]) == 1
    _, bare, _, dressed, _ = capsys.readouterr().out.splitlines()
    assert f"wants a key (status {status}), and its settings name none: no api_key_env is set" in bare
    assert f"does not accept the service's key (status {status})" in dressed


def test_all_are_asked_at_once_and_told_in_order(
    server: JudgeServer, configure: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """None is answered before as many have been asked as may be at once, and no more."""
    names = [f"judge-{number}" for number in range(2 * AT_ONCE)]
    together, free = Barrier(AT_ONCE), Semaphore(AT_ONCE)

    def answer(_: Asked) -> bytes:
        assert free.acquire(blocking=False)
        together.wait(60)
        free.release()
        return json.dumps(chat({"content": SCORE})).encode()

    server.scripts["2 + 2"] = [Told(200, answer, JSON) for _ in names]
    configure(*({"name": name, "kind": "openai", "url": server.url} for name in names))
    assert main(["judges", "--probe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[::2]] == [*names, "caller"]


GOOD = 'kind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
BROKEN = {
    "another kind": (f'{GOOD}kind = "opnai"', "kind: 'opnai' is none of 'openai', 'anthropic', 'http': did you mean 'openai'?"),
    "no kind": ('base_url = "http://a"', "kind is missing; one of 'openai', 'anthropic', 'http' is wanted"),
    "a name near another": (f"{GOOD}base_ulr = 1", "base_ulr: there is no such key; did you mean 'base_url'?"),
    "a name without its unit": (f"{GOOD}timeout = 5", "timeout: there is no such key; did you mean 'timeout_s'?"),
    "a name of nothing": (f"{GOOD}zzz = 5", "zzz: there is no such key; known are kind, base_url, model, "),
    "a key": (f'{GOOD}api_key = "{KEY}"', "api_key: there is no such key; keys are read from the environment: api_key_env"),
    "a key for a name": (f'{GOOD}api_key_env = "{KEY}"', "api_key_env is the name of a variable in capitals"),
    "no model": ('kind = "openai"\nbase_url = "http://a"', "a judge of kind openai needs a model"),
    "no scheme": (f'{GOOD}base_url = "a/v1"', "the base_url of a judge must begin with http:// or https://"),
    "a text for a number": (f'{GOOD}timeout_s = "5"', "timeout_s: a number is wanted, not a text"),
    "no port": (f'{GOOD}base_url = "http://a:99999"', "the base_url of a judge is no URL: after the host and a colon stands"),
    "no port of its proxy": (f'{GOOD}proxy = "http://me:{KEY}@a:b"', "the proxy of a judge is no URL: after the host and a"),
    "a stream": (f"{GOOD}params = {{ stream = true }}", "the params of a judge cannot have stream: replies are read whole"),
    "several replies": (f"{GOOD}params = {{ n = 3 }}", "the params of a judge cannot have n: a call has one reply, and votes"),
    "another model": (f'{GOOD}params = {{ model = "x" }}', "the params of a judge cannot have model: set `model` of the"),
    "too hot": (f"{GOOD}temperature = 2.5", "temperature: a number <= 2.0 is wanted"),
    "too cold": (f"{GOOD}temperature = -1", "temperature: a number >= 0.0 is wanted"),
    "a header": (f"{GOOD}headers = {{ a = 1 }}", "headers.a: a text is wanted, not a whole number"),
}  # fmt: skip


def without_doubles(table: str) -> str:
    """A table of which the last of equal keys is left."""
    lines = {line.partition(" = ")[0]: line for line in table.splitlines()}
    return "\n".join(lines.values())


@pytest.mark.parametrize(("table", "said"), BROKEN.values(), ids=BROKEN)
def test_a_table_that_cannot_work_is_refused_alike_by_every_command(
    table: str, said: str, write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(f"[judges.default]\n{without_doubles(table)}")
    for command in ("check", "judges", "serve"):
        assert main([command]) == 2
        printed = capsys.readouterr()
        assert printed.err.splitlines()[-1].startswith(f"scorewright: [judges.default] in {file}: {said}")
        assert KEY not in printed.out + printed.err


NAMES = {"caller": "no judge can be named 'caller'", '""': "1 to 256 characters", "x" * 257: "1 to 256 characters"}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:6])
def test_a_name_that_no_rule_can_mean(
    name: str, write: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"[judges.{name}]\n{GOOD}")
    for command in ("check", "judges", "serve"):
        assert main([command]) == 2
        assert NAMES[name] in capsys.readouterr().err


VARIABLES = {
    "TIMEOUT_S": ("x", "SCOREWRIGHT_JUDGES__DEFAULT__TIMEOUT_S: a number is wanted"),
    "TIMEOUT": ("5", "SCOREWRIGHT_JUDGES__DEFAULT__TIMEOUT: a judge has no field 'timeout': did you mean 'timeout_s'?"),
    "KIND": ("opnai", "SCOREWRIGHT_JUDGES__DEFAULT__KIND: 'opnai' is none of"),
}


@pytest.mark.parametrize("field", VARIABLES)
def test_a_variable_of_a_judge_that_makes_no_sense_is_named(
    field: str, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, said = VARIABLES[field]
    write(f"[judges.default]\n{GOOD}")
    monkeypatch.setenv(f"SCOREWRIGHT_JUDGES__DEFAULT__{field}", text)
    assert main(["check"]) == 2
    assert said in capsys.readouterr().err


def test_variables_of_a_judge_are_read_as_numbers() -> None:
    table = {
        "kind": "openai",
        "base_url": "http://127.0.0.1:9",
        "model": "m",
        "timeout_s": "5",
        "allow_generate": "true",
    }
    environ = {f"SCOREWRIGHT_JUDGES__A__{name.upper()}": text for name, text in table.items()}
    judges = judges_of(load(environ).judges, environ)
    assert (judges.known["a"].timeout_s, judges.known["a"].allow_generate) == (5.0, True)
    judges.close()


def test_a_key_that_is_not_set_is_told_and_refuses_nothing(write: Callable[[str], Path]) -> None:
    write(f'[judges.default]\n{GOOD}api_key_env = "NOT_SET_ANYWHERE"')
    ended = subprocess.run(
        [sys.executable, "-m", "service", "check"], check=False, cwd=ROOT, capture_output=True, text=True
    )
    assert ended.returncode == 0
    assert "the judge default has no key here: the environment variable NOT_SET_ANYWHERE" in ended.stderr
    assert "judges: default, caller" in ended.stdout
