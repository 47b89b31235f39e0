"""Texts that a judge writes: it runs the caller's prompt as the system under test would."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from service.core.errors import Fault
from service.core.evaluator import Name
from service.core.judging import CALLER, JudgeInfo, Message, NoReply, Prompt, Reply
from service.engine.consulting import DEFAULT, Consulting, no_such_judge
from service.engine.lanes import Steps
from service.primitives.jsontext import as_text

MAX_PROMPT_CHARS = 32_000_000
"""Characters of all prompts that one request has run."""

SHARE = 0.8
"""Of the time that a request has left: what was written is still to be graded and measured."""

Temperature = Annotated[Annotated[float, Meta(ge=0, le=2)] | None, Meta(description="null: not sent.")]
Tokens = Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="Tokens of an output at most; null: not sent.")]


class Generate(Struct, kw_only=True, forbid_unknown_fields=True):
    """Who writes, and how."""

    judge: Annotated[Name, Meta(description="A configured judge with allow_generate.")] = DEFAULT
    temperature: Temperature = 0.7
    max_output_tokens: Tokens = None


class Written(Struct, frozen=True):
    """What was written. Without a text, `reason` and `detail` say why."""

    text: str | None = None
    truncated: bool = False
    reason: str | None = None
    detail: str = ""


def generator_faults(name: str, known: Mapping[str, JudgeInfo]) -> list[Fault]:
    """What keeps the judge of this name from generating."""
    pointer = "/generate/judge"
    judge = known.get(name)
    others = [one for one in known if one != CALLER]
    if name == CALLER:
        return [Fault(pointer, "not_allowed", "The caller cannot be asked to generate: send the outputs themselves")]
    if judge is None and (name == DEFAULT or not others):
        told = "No judge is configured: add a table [judges.default] with allow_generate = true (docs/judges.md)"
        return [Fault(pointer, "unknown_judge", told)]
    if judge is None:
        return [Fault(pointer, "unknown_judge", no_such_judge(name, others))]
    if not judge.allow_generate:
        return [Fault(pointer, "not_allowed", f"The judge {name} may not generate (allow_generate in its table)")]
    return []


def order(messages: tuple[Message, ...], slot: str, temperature: float | None, tokens: int | None) -> Prompt:
    """One text to be written: the chat so far, and which of several samples of it this is."""
    return Prompt(key="", messages=messages, schema={}, slot=slot, temperature=temperature, max_output_tokens=tokens)


def generating(consulting: Consulting, judge: str, orders: Sequence[Prompt]) -> Steps[list[Written]]:
    """What the judge writes, in the order of the orders."""
    replies = yield from consulting.put(judge, orders, SHARE)
    return [_written(reply) for reply in replies]


def _written(reply: Reply | NoReply) -> Written:
    if isinstance(reply, NoReply):
        return Written(reason=reply.reason, detail=reply.detail)
    if reply.stop == "filtered":
        return Written(reason="judge_filtered", detail="The model's answer was held back by a filter")
    text = reply.text if reply.fields is None else as_text(reply.fields)
    if text is None and reply.stop == "truncated":
        return Written(reason="judge_truncated", detail="The model's answer was cut before it had any text")
    if text is None:
        return Written(reason="judge_filtered", detail="The model's answer had no text")
    return Written(text, truncated=reply.stop == "truncated")
