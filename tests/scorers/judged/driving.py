"""Judged rules driven step by step with scripted replies: no engine, no server."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from service.catalogue import Rule
from service.core.asking import Need, Told, Ungraded
from service.core.assess import Assessor
from service.core.case import Case
from service.core.judging import Grade, NoReply, Prompt, Reply
from service.core.outcome import Evaluation
from service.primitives import RuleFault

Script = Mapping[str, Any] | Sequence[Any] | Callable[[Prompt], Any]


class Seen(NamedTuple):
    """How a judgement ended, and all that it asked."""

    outcome: Evaluation
    prompts: list[Prompt]
    needs: list[Need]

    @property
    def verdict(self) -> tuple[str, float | None, str | None]:
        return self.outcome.status, self.outcome.score, self.outcome.reason

    @property
    def details(self) -> dict[str, Any]:
        return self.outcome.details

    @property
    def keys(self) -> list[str]:
        return [prompt.key for prompt in self.prompts]


def judged(
    rule: dict[str, Any],
    script: Script = (),
    vectors: Mapping[str, Sequence[float]] | None = None,
    grade: Grade | None = None,
    **item: Any,
) -> Seen:
    """A rule on an item. The script answers by key, in order, or by what it is asked."""
    parsed = msgspec.convert(rule, Rule)
    prompts: list[Prompt] = []
    needs: list[Need] = []
    try:
        judging = Assessor(parsed).inquire(msgspec.convert(item, Case))
        told = None
        while True:
            need = next(judging) if told is None else judging.send(told)
            needs.append(need)
            replies = {prompt.key: _reply(script, prompt, len(prompts) + n) for n, prompt in enumerate(need.prompts)}
            prompts.extend(need.prompts)
            known = {text: (vectors or {})[text] for text in need.vectors}
            told = Told(vectors=known, replies=replies, grade=grade)
    except StopIteration as end:
        return Seen(end.value, prompts, needs)
    except Ungraded as fault:
        outcome = parsed.ungraded(fault.status, fault.reason, fault.detail)
        return Seen(msgspec.structs.replace(outcome, details=fault.details), prompts, needs)
    except RuleFault as fault:
        return Seen(parsed.ungraded("error", fault.code, fault.detail), prompts, needs)


def _reply(script: Script, prompt: Prompt, place: int) -> Reply | NoReply:
    said = script(prompt) if callable(script) else _written(script, prompt.key, place)
    if isinstance(said, Reply | NoReply):
        return said
    return Reply(text=said) if isinstance(said, str) else Reply(fields=said)


def _written(script: Mapping[str, Any] | Sequence[Any], key: str, place: int) -> Any:
    return script[key] if isinstance(script, Mapping) else script[place]
