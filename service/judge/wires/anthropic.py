"""Messages, as Anthropic speaks them."""

from typing import Any

from service.core.judging import Prompt, Reply, Stop
from service.judge.faults import Passing
from service.judge.settings import JudgeSettings
from service.judge.wires import Form
from service.judge.wires.openai import NAME, sampling
from service.judge.wires.reading import (
    count_at,
    fields_of,
    object_at,
    objects_at,
    reply_object,
    several,
    text_at,
    with_shape,
)

VERSION = "2023-06-01"
REPLY_TOKENS = 4096
"""The length of a reply, which this protocol wants to be told; `params` may say otherwise."""
STOPS: dict[Any, Stop] = {
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "pause_turn": "truncated",
    "refusal": "refused",
}
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Anthropic:
    """Implements `wires.Wire` for `/messages`."""

    path = "/messages"

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings

    def headers(self, key: str | None) -> dict[str, str]:
        """The key, and the version of the protocol."""
        return {"anthropic-version": VERSION} | ({} if key is None else {"x-api-key": key})

    def forms(self, prompt: Prompt) -> tuple[Form, ...]:
        """All of them; text alone where no shape is asked for."""
        return ("structured", "tool", "text") if prompt.schema else ("text",)

    def body(self, prompt: Prompt, form: Form) -> dict[str, Any]:
        """The user's messages, with what the system says apart from them."""
        system = "\n\n".join(one.content for one in prompt.messages if one.role == "system")
        messages = [{"role": "user", "content": one.content} for one in prompt.messages if one.role == "user"]
        if form == "text" and prompt.schema:
            messages[-1]["content"] = with_shape(messages[-1]["content"], prompt.schema)
        own = {"model": self._settings.model, "max_tokens": REPLY_TOKENS, "messages": messages}
        heard = {"system": system} if system else {}
        body = own | heard | sampling(prompt, self._settings)
        return body | _shaped(form, prompt.schema, object_at(body, "output_config"))

    def reply(self, body: bytes, form: Form) -> Reply:
        """The tool's input, or the text."""
        answer = reply_object(body)
        blocks = objects_at(answer, "content")
        stop = STOPS.get(text_at(answer, "stop_reason"), "complete")
        if not blocks and stop == "complete":
            raise Passing("answered without content")
        inputs = [object_at(block, "input") for block in blocks if block.get("type") == "tool_use"]
        text = "".join(text_at(block, "text") or "" for block in blocks if block.get("type") == "text")
        usage = object_at(answer, "usage")
        return Reply(
            text=several(inputs) if len(inputs) > 1 else text or None,
            fields=_fields(inputs, text, form),
            stop=stop,
            model=text_at(answer, "model"),
            input_tokens=sum(count_at(usage, key) for key in READ),
            output_tokens=count_at(usage, "output_tokens"),
        )


def _fields(inputs: list[dict[str, Any]], text: str, form: Form) -> dict[str, Any] | None:
    if inputs:
        return inputs[0] if len(inputs) == 1 else None
    return fields_of(text) if form == "structured" else None


def _shaped(form: Form, schema: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
    """The schema in the place that the form has for it; `output` are the settings of outputs that stay."""
    if form == "structured":
        return {"output_config": output | {"format": {"type": "json_schema", "schema": schema}}}
    if form == "text":
        return {}
    return {
        "tools": [{"name": NAME, "description": "Give the reply.", "input_schema": schema}],
        "tool_choice": {"type": "tool", "name": NAME, "disable_parallel_tool_use": True},
    }
