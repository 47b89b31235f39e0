"""Chat completions, as OpenAI and every server compatible with it speak them."""

from typing import Any

from service.core.judging import Prompt, Reply, Stop
from service.judge.faults import Passing
from service.judge.settings import JudgeSettings
from service.judge.wires import Form
from service.judge.wires.reading import (
    as_text,
    count_at,
    fields_of,
    object_at,
    objects_at,
    reply_object,
    several,
    text_at,
    with_shape,
)

NAME = "reply"
STOPS: dict[str, Stop] = {
    "length": "truncated",
    "max_tokens": "truncated",
    "model_length": "truncated",
    "content_filter": "filtered",
    "safety": "filtered",
    "refusal": "refused",
}
"""In lower case; the first of each kind are the protocol's, the others are those of servers that hand on their own."""
BROKEN_OFF = ("abort", "error", "network_error", "cancelled")
"""What servers say where a reply ended for no reason of the model's."""


class OpenAI:
    """Implements `wires.Wire` for `/chat/completions`."""

    path = "/chat/completions"

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings

    def headers(self, key: str | None) -> dict[str, str]:
        """The key as a bearer's."""
        return bearer(key)

    def forms(self, prompt: Prompt) -> tuple[Form, ...]:
        """All of them; text alone where no shape is asked for."""
        return ("structured", "tool", "text") if prompt.schema else ("text",)

    def body(self, prompt: Prompt, form: Form) -> dict[str, Any]:
        """The messages, and the schema in the place that the form has for it."""
        messages = [{"role": one.role, "content": one.content} for one in prompt.messages]
        if form == "text" and prompt.schema:
            messages[-1]["content"] = with_shape(messages[-1]["content"], prompt.schema)
        own: dict[str, Any] = {"model": self._settings.model, "messages": messages}
        return own | sampling(prompt, self._settings) | _SHAPED[form](prompt.schema)

    def reply(self, body: bytes, form: Form) -> Reply:
        """The first choice."""
        answer = reply_object(body)
        choices = objects_at(answer, "choices")
        if not choices:
            raise Passing("answered without a choice")
        message = object_at(choices[0], "message")
        refusal = text_at(message, "refusal")
        finish = (text_at(choices[0], "finish_reason") or "").lower()
        if finish in BROKEN_OFF:
            raise Passing("broke its reply off")
        stop = STOPS.get(finish, "complete")
        text, fields = _said(message, form)
        usage = object_at(answer, "usage")
        return Reply(
            text=refusal or text,
            fields=None if refusal else fields,
            stop="refused" if refusal else stop,
            model=text_at(answer, "model"),
            input_tokens=count_at(usage, "prompt_tokens"),
            output_tokens=count_at(usage, "completion_tokens"),
        )


def bearer(key: str | None) -> dict[str, str]:
    """The header that carries a key, if there is one."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def sampling(prompt: Prompt, settings: JudgeSettings) -> dict[str, Any]:
    """The judge's own parameters; the temperature and the length of the reply if anybody names them.

    A server that wants `max_completion_tokens` is told by a judge that has it among its parameters.
    """
    temperature = settings.temperature if prompt.temperature is None else prompt.temperature
    own = dict(settings.params) | ({} if temperature is None else {"temperature": temperature})
    if prompt.max_output_tokens is None:
        return own
    length = "max_completion_tokens" if "max_completion_tokens" in own else "max_tokens"
    return own | {length: prompt.max_output_tokens}


def is_closed(schema: Any) -> bool:
    """Whether every object in a schema lists all its properties as required and takes no other: "strict" needs that."""
    if isinstance(schema, list):
        return all(map(is_closed, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        properties = object_at(schema, "properties")
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != properties.keys():
            return False
        return is_closed(list(properties.values()))
    return all(map(is_closed, schema.values()))


def _said(message: dict[str, Any], form: Form) -> tuple[str | None, dict[str, Any] | None]:
    """Text and fields of a message."""
    text = text_at(message, "content")
    calls = [object_at(call, "function").get("arguments") for call in objects_at(message, "tool_calls")]
    if len(calls) > 1:
        return several(calls), None
    if calls:
        fields = fields_of(calls[0])
        return (text, fields) if fields is not None else (as_text(calls[0]), None)
    return text, fields_of(text) if form == "structured" else None


def _structured(schema: dict[str, Any]) -> dict[str, Any]:
    shape = {"name": NAME, "schema": schema, "strict": is_closed(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": shape}}


def _tool(schema: dict[str, Any]) -> dict[str, Any]:
    function = {"name": NAME, "description": "Give the reply.", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": NAME}},
    }


def _text(_: dict[str, Any]) -> dict[str, Any]:
    return {}


_SHAPED = {"structured": _structured, "tool": _tool, "text": _text}
