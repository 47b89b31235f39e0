"""`scorewright judges`: which there are, and with --probe how each one answers, against a real server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.__main__ import main
from tests.embedding.serving import Told
from tests.judge.conftest import KEY
from tests.judge.serving import JudgeServer, called, chat, judging, spoken, told

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
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def configured(*tables: dict[str, str]) -> None:
        file = tmp_path / "judges.toml"
        file.write_text("".join(JUDGE.format(**({"variable": "THE_KEY"} | table)) for table in tables))
        monkeypatch.setenv("SCOREWRIGHT_JUDGES", str(file))
        monkeypatch.setenv("THE_KEY", KEY)

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
    assert "the environment variable that its settings name is not set" in keyless
    assert "answers by a structured reply" in default


def test_a_table_without_sense_is_named(configure: Any, capsys: pytest.CaptureFixture[str]) -> None:
    configure({"name": "default", "kind": "chat", "url": "http://127.0.0.1"})
    assert main(["judges"]) == 2
    assert "[judges.default]" in capsys.readouterr().err
