"""Texts, objects and lists to score: invented, always the same."""

import json
from random import Random
from typing import Any

from benchmarks.comparison import SEED

EDITED_SHARE = 0.05

_LETTERS = "abcdefghijklmnopqrstuvwxyz "
_VOCABULARY = (
    "account address agent amount answer arrives before billing cancel card change charge city confirm customer days "
    "delivery double email error explain five form friday help invoice item kindly later letter manager monday name "
    "number office open order package paid please policy price receipt refund reply report request return sent ship "
    "store support ticket total tracking transfer tuesday under update visit wait week window within work — naïve"
)
_WORDS = _VOCABULARY.split()


def source(name: str) -> Random:
    """Chance that depends on a name alone."""
    return Random(f"{SEED}/{name}")


def prose(chance: Random, chars: int) -> str:
    """A text of exactly so many characters, with an order number in about half of all texts."""
    words = [f"{chance.choice(['AB', 'ZX'])}-{chance.randrange(1000, 10**6)}"] if chance.random() < 0.5 else ["Hello"]
    length = len(words[0])
    while length < chars:
        words.append(chance.choice(_WORDS))
        length += 1 + len(words[-1])
    chance.shuffle(words)
    return " ".join(words)[:chars]


def edited(chance: Random, text: str, share: float = EDITED_SHARE) -> str:
    """The text with a share of its characters substituted, dropped or doubled."""
    characters = list(text)
    for place in chance.sample(range(len(text)), int(len(text) * share)):
        characters[place] = chance.choice([chance.choice(_LETTERS), "", characters[place] * 2])
    return "".join(characters)


def nested(chance: Random) -> dict[str, Any]:
    """An object of 30 keys: five sections, each with texts, numbers and a boolean."""
    return {
        f"section_{number}": {
            "title": prose(chance, 30),
            "summary": prose(chance, 60),
            "count": chance.randrange(1000),
            "share": round(chance.random(), 3),
            "urgent": chance.random() < 0.5,
        }
        for number in range(5)
    }


def altered(chance: Random, document: dict[str, Any]) -> dict[str, Any]:
    """The object with about a third of its texts and numbers changed."""

    def change(value: Any) -> Any:
        if chance.random() > 0.33 or isinstance(value, bool):
            return value
        return edited(chance, value, 0.1) if isinstance(value, str) else value + 1

    return {name: {key: change(value) for key, value in group.items()} for name, group in document.items()}


def batch(items: list[dict[str, Any]], rules: list[dict[str, Any]], **more: Any) -> bytes:
    """The body of POST /v1/evaluations, with `more` of its fields."""
    return json.dumps({"items": items, "evaluators": rules, **more}, ensure_ascii=False).encode()
