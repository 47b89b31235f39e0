"""Moderations, as OpenAI and servers compatible with it speak them."""

from typing import Any

from service.core.judging import Prompt, Reply
from service.judge.faults import Passing
from service.judge.settings import JudgeSettings
from service.judge.wires import Form
from service.judge.wires.openai import bearer
from service.judge.wires.reading import objects_at, reply_object, text_at


class Moderation:
    """Implements `wires.Wire` for `/moderations`."""

    path = "/moderations"

    def __init__(self, settings: JudgeSettings) -> None:
        self._model = settings.moderation_model

    def headers(self, key: str | None) -> dict[str, str]:
        """The key as a bearer's."""
        return bearer(key)

    def forms(self, prompt: Prompt) -> tuple[Form, ...]:  # noqa: ARG002 - there is but one
        """The only one there is."""
        return ("structured",)

    def body(self, prompt: Prompt, form: Form) -> dict[str, Any]:  # noqa: ARG002
        """The last message, as it is."""
        named = {} if self._model is None else {"model": self._model}
        return named | {"input": prompt.messages[-1].content}

    def reply(self, body: bytes, form: Form) -> Reply:  # noqa: ARG002
        """The first result."""
        answer = reply_object(body)
        results = objects_at(answer, "results")
        if not results:
            raise Passing("answered without a result")
        return Reply(fields=results[0], model=text_at(answer, "model"))
