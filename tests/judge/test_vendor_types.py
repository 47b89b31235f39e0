"""What is sent and read, held against the types that the vendors publish: they keep of a body only what they know."""

import json
from typing import Any

import pytest
from openai.types import ModerationCreateParams, ModerationCreateResponse
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from service.judge.settings import JudgeSettings
from service.judge.wires import Form
from service.judge.wires.anthropic import Anthropic
from service.judge.wires.moderation import Moderation
from service.judge.wires.openai import OpenAI
from tests.judge.conftest import prompt
from tests.judge.serving import called, chat, spoken

FORMS: tuple[Form, ...] = ("structured", "tool", "text")
VERDICT = {"choice": "A", "reasons": "so"}


def settings(kind: str) -> JudgeSettings:
    return JudgeSettings(kind=kind, base_url="http://127.0.0.1", model="m", moderation_model="watch")  # type: ignore[arg-type]


def known(kind: Any, body: Any) -> Any:
    """What is left of a body in the vendor's type."""
    adapter = TypeAdapter(kind)
    return json.loads(adapter.dump_json(adapter.validate_python(body), warnings=False))


@pytest.mark.parametrize("form", FORMS)
def test_openai_knows_all_that_is_sent(form: Form) -> None:
    body = OpenAI(settings("openai")).body(prompt("one", temperature=0.5), form)
    assert known(CompletionCreateParamsNonStreaming, body) == body


def test_openai_knows_what_is_moderated() -> None:
    body = Moderation(settings("openai")).body(prompt("one", kind="moderation"), "structured")
    assert known(ModerationCreateParams, body) == body


def test_the_answers_of_these_tests_are_such_as_openai_gives() -> None:
    for message in (called(VERDICT), {"content": "A"}, {"refusal": "No."}):
        ChatCompletion.model_validate(chat(message, created=0))
    ModerationCreateResponse.model_validate_json('{"id": "m", "model": "watch", "results": []}')


@pytest.mark.parametrize("form", FORMS)
def test_anthropic_knows_all_that_is_sent(form: Form) -> None:
    types = pytest.importorskip("anthropic.types")
    body = Anthropic(settings("anthropic")).body(prompt("one"), form)
    assert known(types.message_create_params.MessageCreateParamsNonStreaming, body) == body


def test_the_answers_of_these_tests_are_such_as_anthropic_gives() -> None:
    types = pytest.importorskip("anthropic.types")
    tool = {"type": "tool_use", "id": "t", "name": "reply", "input": VERDICT, "caller": {"type": "direct"}}
    for stop in ("end_turn", "max_tokens", "refusal", "tool_use"):
        types.Message.model_validate(spoken({"type": "text", "text": "A"}, tool, stop=stop, id="m", role="assistant"))
