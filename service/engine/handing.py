"""Replies of judges that the caller fetched: which there are, and which there still have to be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from service.core.asking import Ungraded
from service.core.evaluator import Evaluator
from service.core.judging import NoReply, Prompt, Reply
from service.primitives.jsontext import as_text
from service.primitives.pointer import nearest
from service.primitives.text import cut

Replies: TypeAlias = Mapping[str, Reply | NoReply]

MAX_NAMED = 5
"""Replies that nobody asked for which an explanation names."""

_OF_VALUE = re.compile(r"value[1-9][0-9]*\.")
"""How the keys of one of several values begin."""


class Stray(NamedTuple):
    """A reply that no question asks for: its key or its place in the list, and why nobody does."""

    key: str | int
    detail: str


def handed(
    rule: Evaluator, replies: Mapping[str, Any], prompts: Sequence[Prompt], earlier: Sequence[str]
) -> Replies | Ungraded:
    """The replies to prompts among those that an item has for a rule, or the prompts that the caller still has to ask.

    `earlier` are the keys that were asked before; a list of replies goes by the order in which all were asked.
    """
    sent = replies.get(str(rule.id), {})
    asked = [*earlier, *(prompt.key for prompt in prompts)]
    by_key = dict(zip(asked, sent, strict=False)) if isinstance(sent, list) else sent
    missing = [prompt for prompt in prompts if prompt.key not in by_key]
    if not missing:
        return {prompt.key: _reply(by_key[prompt.key]) for prompt in prompts}
    count = "1 question is" if len(missing) == 1 else f"{len(missing)} questions are"
    told = f"{count} to be asked by the caller (details.prompts): post the request again with `replies`"
    several = any(_OF_VALUE.match(key) for key in asked)
    unasked = ". ".join(one.detail.rstrip("?") for one in strays(rule, sent, several=several)[:MAX_NAMED])
    shown = [{"key": one.key, "messages": one.messages, "schema": one.schema} for one in missing]
    details = {"prompts": msgspec.to_builtins(shown)}
    return Ungraded("pending", "reply", told + (f". {unasked}" if unasked else ""), details)


def strays(rule: Evaluator, sent: Mapping[str, Any] | list[Any], *, several: bool | None) -> list[Stray]:
    """Those of the replies to a rule that it never asks for, in whatever step or vote.

    `several`: whether the rule judges several values; None where that is not known yet.
    """
    if not hasattr(rule, "keys"):
        return []
    keys: list[str] = rule.keys()
    if isinstance(sent, list):
        return [] if several is not False else list(_surplus(len(keys), len(sent)))
    return list(_unknown(keys, sent, several))


def _surplus(most: int, count: int) -> Iterator[Stray]:
    for place in range(most, count):
        yield Stray(place, f"Reply {place + 1} of the list is asked for by nobody: there are {most} at most")


def _unknown(keys: Sequence[str], sent: Mapping[str, Any], several: bool | None) -> Iterator[Stray]:
    for key in sent:
        prefix, own = _parts(key)
        if own in keys and several in (None, bool(prefix)):
            continue
        known = [f"value1.{one}" for one in keys] if several else keys
        few = f"{', '.join(known[:MAX_NAMED])}{', …' * (len(known) > MAX_NAMED)}"
        yield Stray(
            key, f"The reply {cut(key, 60)!r} is asked for by nobody{nearest(key, known) or f': known are {few}'}"
        )


def _parts(key: str) -> tuple[str, str]:
    """A key of one of several values as the name of the value and the key itself; nothing and the key of another."""
    found = _OF_VALUE.match(key)
    return (found[0], key[found.end() :]) if found else ("", key)


def _reply(sent: Any) -> Reply | NoReply:
    if isinstance(sent, str):
        return Reply(text=sent)
    if isinstance(sent, dict) and sent.keys() == {"error"}:
        return NoReply("judge_unavailable", f"The caller had no reply: {cut(as_text(sent['error']), 200)}")
    return Reply(fields=sent)
