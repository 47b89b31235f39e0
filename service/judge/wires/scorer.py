"""Scorers of one's own: messages, schema and metadata out, the reply object in."""

from typing import Any

from service.core.judging import Prompt, Reply
from service.judge.faults import Passing
from service.judge.wires import Form
from service.judge.wires.openai import bearer
from service.judge.wires.reading import ERROR_INSTEAD, value_of


class Scorer:
    """Implements `wires.Wire` for judges of kind http."""

    path = ""

    def headers(self, key: str | None) -> dict[str, str]:
        """The key as a bearer's."""
        return bearer(key)

    def forms(self, prompt: Prompt) -> tuple[Form, ...]:  # noqa: ARG002 - there is but one
        """The only one there is."""
        return ("structured",)

    def body(self, prompt: Prompt, form: Form) -> dict[str, Any]:  # noqa: ARG002
        """All that is known of a prompt."""
        messages = [{"role": one.role, "content": one.content} for one in prompt.messages]
        return {"messages": messages, "schema": prompt.schema, "metadata": prompt.metadata}

    def reply(self, body: bytes, form: Form) -> Reply:  # noqa: ARG002
        """The body, which is the reply; as text where it is no object. Passing where it only reports an error."""
        try:
            value = value_of(body)
        except Passing:
            return Reply(text=body.decode(errors="replace"))
        if isinstance(value, dict):
            if value.keys() == {"error"}:
                raise Passing(ERROR_INSTEAD)
            return Reply(fields=value)
        return Reply(text=value if isinstance(value, str) else body.decode())
