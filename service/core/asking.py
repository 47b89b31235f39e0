"""What a judgement has to learn from others before it can be made."""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from service.core.judging import Grade, NoReply, Prompt, Reply
from service.core.outcome import Status
from service.core.ports import Reading
from service.primitives import RuleFault

T = TypeVar("T")

MAX_PROMPT_CHARS = 20_000_000
"""Characters of all questions that one judgement may ask at once, a text counted in each that shows it."""


class Need(Struct, frozen=True):
    """Texts to be embedded, texts whose tokens are to be counted, questions to a judge, a person's grade."""

    vectors: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    """Their keys are distinct within an evaluation, also across its steps."""
    grade: bool = False
    foreseen: tuple[str, ...] = ()
    """Texts whose vectors will be needed once the prompts are answered."""

    @property
    def chars(self) -> int:
        """How long its prompts are."""
        return sum(len(message.content) for prompt in self.prompts for message in prompt.messages)


class Told(Struct, frozen=True):
    """The answer to a need."""

    vectors: Mapping[str, Sequence[float]] = {}
    readings: Mapping[str, Reading] = {}
    """How much the model read of each text; nothing for vectors that the caller gave."""
    counts: Mapping[str, int] = {}
    model: str | None = None
    """Who made the vectors or the tokens; None where the caller gave them."""
    replies: Mapping[str, Reply | NoReply] = {}
    """By the keys of the prompts, one for each."""
    grade: Grade | None = None


class Ungraded(Exception):
    """A judgement that came to no score, with the status and the reason that say why."""

    def __init__(self, status: Status, reason: str, detail: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.status: Status = status
        self.reason = reason
        self.detail = detail
        self.details = details or {}


Judging = Generator[Need, Told, T]


def refuse_long(chars: int) -> None:
    """Nothing for so many characters of prompts; RuleFault where they are more than one judgement may have."""
    if chars > MAX_PROMPT_CHARS:
        told = (
            f"The questions to the judge are over {MAX_PROMPT_CHARS:,} characters: shorten the texts, or ask less often"
        )
        raise RuleFault("limit_exceeded", told)


def together(judgings: Collection[Judging[T]]) -> Judging[list[T]]:
    """Several judgements made side by side: what they need is asked for at once.

    The keys of prompts say whose they are: `value2.choice` is the second's `choice`.
    """
    results: list[Any] = [None] * len(judgings)
    waiting = _advanced(dict(enumerate(judgings)), None, results)
    while waiting:
        told = yield _joined({place: need for place, (_, need) in waiting.items()})
        waiting = _advanced({place: judging for place, (judging, _) in waiting.items()}, told, results)
    return results


def _advanced(
    judgings: dict[int, Judging[T]], told: Told | None, results: list[Any]
) -> dict[int, tuple[Judging[T], Need]]:
    """Those that need more; the results of the others are put in their places."""
    waiting = {}
    chars = 0
    for place, judging in judgings.items():
        try:
            need = next(judging) if told is None else judging.send(_own(told, place))
        except StopIteration as end:
            results[place] = end.value
        else:
            waiting[place] = judging, need
            refuse_long(chars := chars + need.chars)
    return waiting


def _joined(needs: Mapping[int, Need]) -> Need:
    vectors = dict.fromkeys(text for need in needs.values() for text in need.vectors)
    counts = dict.fromkeys(text for need in needs.values() for text in need.counts)
    prompts = [
        replace(prompt, key=_prefix(place) + prompt.key) for place, need in needs.items() for prompt in need.prompts
    ]
    foreseen = dict.fromkeys(text for need in needs.values() for text in need.foreseen)
    is_graded = any(need.grade for need in needs.values())
    return Need(tuple(vectors), tuple(counts), tuple(prompts), is_graded, tuple(foreseen))


def _own(told: Told, place: int) -> Told:
    """What concerns one of several."""
    prefix = _prefix(place)
    own = {key.removeprefix(prefix): reply for key, reply in told.replies.items() if key.startswith(prefix)}
    return replace(told, replies=own)


def _prefix(place: int) -> str:
    return f"value{place + 1}."
