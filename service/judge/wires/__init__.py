"""What is sent to each kind of judge, and how its answer is read."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from service.core.judging import Prompt, Reply

Form = Literal["structured", "tool", "text"]
"""How a reply is asked for: held to the schema by the server, as the arguments of a tool, or as JSON in its text."""


class Wire(Protocol):
    """One protocol, without its transport."""

    @property
    def path(self) -> str:
        """What follows the judge's address."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Headers that the protocol asks for, the key among them."""

    def forms(self, prompt: Prompt) -> tuple[Form, ...]:
        """The forms that can be tried for a prompt, best first."""

    def body(self, prompt: Prompt, form: Form) -> dict[str, Any]:
        """The body of a call."""

    def reply(self, body: bytes, form: Form) -> Reply:
        """What a 2xx answer says. Passing where it is none."""
