"""What judges are told: one text file a question, and the texts of a case fenced into it."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Literal

from msgspec import Struct

from service.core.judging import Message
from service.primitives.fencing import Fenced, fenced
from service.primitives.jsontext import render

Texts = Mapping[str, str | list[str]]
"""What a judge is shown, by the names that wordings call it: texts, and lists of passages."""

_PLACE = re.compile(r"\{(\w+)\}")
_RULER = "\n---\n"


class Question(Struct, frozen=True):
    """What one prompt says."""

    messages: tuple[Message, ...]
    schema: dict[str, Any]
    forged: tuple[str, ...] = ()
    """Names of the texts that tried to look like a fence, or like the end of a message."""
    kind: Literal["chat", "moderation"] = "chat"
    metadata: dict[str, Any] = {}
    """What a judge of kind http gets beside the messages."""


class Wording(Struct, frozen=True):
    """The words of a question: the judge's task, and paragraphs that show the texts of a case, `{name}` for each."""

    task: str
    paragraphs: tuple[str, ...]

    @property
    def template(self) -> tuple[str, str]:
        """The two messages, of the system and of the user, as they stand before anything is filled in."""
        system = "\n\n".join([self.task, COMMON.task])
        return system, "\n\n".join([*COMMON.paragraphs, *self.paragraphs])

    def question(self, texts: Texts, schema: dict[str, Any]) -> Question:
        """The question about these texts. A paragraph with a text that is not given is left out."""
        told = [one for one in self.paragraphs if texts.keys() >= set(_PLACE.findall(one))]
        used = {name: texts[name] for one in told for name in _PLACE.findall(one)}
        fences = fenced({place: text for name, one in used.items() for place, text in _places(name, one).items()})
        shown = {name: "\n".join(fences.texts[place] for place in _places(name, one)) for name, one in used.items()}
        return asked(self.task, [_filled(one, shown) for one in told], schema, fences)


def asked(task: str, paragraphs: list[str], schema: dict[str, Any], fences: Fenced) -> Question:
    """A question of filled paragraphs, with what every judge is told about fences and the form of the reply."""
    system = "\n\n".join([task, _filled(COMMON.task, {"schema": render(schema)})])
    user = "\n\n".join([*(_filled(one, {"marker": fences.marker}) for one in COMMON.paragraphs), *paragraphs])
    return Question((Message("system", system), Message("user", user)), schema, tuple(fences.forged))


def is_there(name: str) -> bool:
    """Whether there are words under this name."""
    return files(__package__).joinpath(f"{name}.txt").is_file()


def load(name: str) -> Wording:
    """The words in the file of this name: the task, a line of dashes, the paragraphs."""
    text = files(__package__).joinpath(f"{name}.txt").read_text("utf-8")
    task, _, paragraphs = text.strip().partition(_RULER)
    return Wording(task.strip(), tuple(filter(None, paragraphs.strip().split("\n\n"))))


def _places(name: str, text: str | list[str]) -> dict[str, str]:
    """A text under its name, each of several under the name and its number."""
    return {name: text} if isinstance(text, str) else {f"{name}.{number}": one for number, one in enumerate(text, 1)}


def _filled(paragraph: str, texts: Mapping[str, str]) -> str:
    """In one pass: what was filled in is not filled again."""
    return _PLACE.sub(lambda found: texts[found[1]], paragraph)


COMMON = load("common")
