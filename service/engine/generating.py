"""Texts that a judge writes: it runs the caller's prompt as the system under test would."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from service.config import Limits
from service.core.errors import Fault
from service.core.evaluator import Name
from service.core.judging import CALLER, JudgeInfo, Message, NoReply, Prompt, Reply
from service.engine.consulting import DEFAULT, Asked, Consulting, no_such_judge
from service.engine.lanes import Steps
from service.primitives.jsontext import as_text

MAX_PROMPT_CHARS = 32_000_000
"""Characters of all prompts that one request has run."""

SHARE = 0.8
"""Of the time that a request has left: what was written is still to be graded and measured."""

LEAST_LOT, LOTS_AHEAD = 16, 4
"""Texts are asked for in lots, of the judge's max_concurrency at least; so many lots are on their way at once.

So it never waits for more to do, and what has come and is not counted yet stays small.
"""

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


def generating(
    consulting: Consulting, judge: JudgeInfo, orders: Sequence[Prompt], limits: Limits
) -> Steps[list[Written]]:
    """What the judge writes, in the order of the orders.

    It may come to as much as a body may hold, since it is kept like outputs that were sent: what is over that is
    dropped, and no more is asked for.
    """
    until = consulting.until(SHARE)
    lot = max(LEAST_LOT, judge.max_concurrency or 0)
    lots = deque(orders[start : start + lot] for start in range(0, len(orders), lot))
    room = _Room(limits)
    written: list[Written] = []
    coming: deque[Asked] = deque()
    try:
        while coming or (lots and not room.is_spent):
            while lots and len(coming) < LOTS_AHEAD and not room.is_spent:
                coming.append(consulting.put(judge.name, lots.popleft(), until))
                yield None
            yield coming[0].future
            written += map(room.taken, consulting.taken(coming.popleft()).values())
    except BaseException:
        for asked in coming:
            asked.future.cancel()
        raise
    return written + [room.none_left] * (len(orders) - len(written))


class _Room:
    """How many bytes of text may still be written."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.body_bytes
        told = f"The texts written for this request come to more than {limits.body_bytes:,} bytes"
        self.none_left = Written(reason="budget_exceeded", detail=f"{told} (body_bytes at /v1/limits)")

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def taken(self, reply: Reply | NoReply) -> Written:
        """What was written; or why it was not, also where there is no room for it."""
        one = _written(reply)
        if one.text is None:
            return one
        if len(one.text) > self._limits.text_chars:
            told = f"The judge wrote {len(one.text):,} characters, over the limit of {self._limits.text_chars:,}"
            return Written(reason="limit_exceeded", detail=f"{told} (text_chars at /v1/limits)")
        self._left -= 0 if self.is_spent else len(one.text.encode(errors="surrogatepass"))
        return self.none_left if self.is_spent else one


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
