"""Questions to judges, and what comes back."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from service.core.outcome import Score

CALLER = "caller"
"""The judge that always exists and is never asked: the caller fetches its replies."""

Stop = Literal["complete", "truncated", "refused", "filtered"]


class Message(Struct, frozen=True):
    """One message of a chat."""

    role: Literal["system", "user"]
    content: str


class Prompt(Struct, frozen=True, kw_only=True):
    """One question to a judge.

    `key` names it within its evaluation. Prompts that differ in `slot` alone are asked apart: each vote and each repeat
    of a case has a slot of its own.
    """

    key: str
    messages: tuple[Message, ...]
    schema: dict[str, Any]
    """JSON Schema of the reply, an object."""
    slot: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    """How long a reply may be."""
    kind: Literal["chat", "moderation"] = "chat"
    metadata: dict[str, Any] = {}
    """For judges of kind http: what they get beside the messages."""


class Reply(Struct, frozen=True, kw_only=True):
    """What a judge answered: `fields` where it came as an object (structured output, a tool call), else its `text`."""

    text: str | None = None
    fields: Any = None
    stop: Stop = "complete"
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


class NoReply(Struct, frozen=True):
    """Why there is none, as a reason of not_graded, and in a sentence for the caller."""

    reason: Literal["judge_unavailable", "deadline_exceeded", "budget_exceeded"]
    detail: str
    is_sent: bool = False
    """Whether the judge was sent the question all the same."""


class Grade(Struct, frozen=True, forbid_unknown_fields=True):
    """A reviewer's verdict."""

    score: Score
    reasoning: Annotated[str, Meta(description="Why.")] = ""


class JudgeInfo(Struct, frozen=True, kw_only=True):
    """A configured judge as callers may know it: no address, no key."""

    name: str
    kind: Literal["openai", "anthropic", "http", "caller"]
    model: str | None
    max_concurrency: int | None = None
    timeout_s: float | None = None
    max_calls: int | None = None
    """Calls that one request may make."""
    max_tokens: int | None = None
    """Tokens, in and out, that one request may spend."""
    allow_generate: bool = False
    allow_templates: bool = True
    fault: str | None = None
    """Why it cannot be asked as things are, after "The judge NAME"; None where nothing is known to be wrong."""
