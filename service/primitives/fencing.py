"""Texts of strangers inside a prompt: where each begins and ends is beyond doubt, whatever it says."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import NamedTuple

# a fence of any marker, and what chat templates of common models take for the begin or end of a message
_FORGED = re.compile(
    r"<(?=\s*+(?:/\s*+)?quoted\s*+-)|<(?=[|｜][^<>|｜\s]{1,40}[|｜]>)|<(?=</?SYS>>)|<(?=(?:start|end)_of_turn>)"
    r"|\[(?=/?INST\])",
    re.IGNORECASE,
)
_HARMLESS = {"<": "‹", "[": "⟦"}


class Fenced(NamedTuple):
    """Texts as they stand in a prompt, each between an opening and a closing tag that name the marker."""

    marker: str
    """16 hex digits that no text holds: they come from the SHA-256 over all of them."""
    texts: dict[str, str]
    forged: list[str]
    """The names of texts that held a fence or a role marker of a chat template; its first sign was replaced."""


def fenced(texts: Mapping[str, str]) -> Fenced:
    """The texts of one prompt, fenced; equal texts under equal names, equal fences."""
    marker = _marker(texts)
    harmless = {name: _FORGED.subn(lambda found: _HARMLESS[found[0]], text) for name, text in texts.items()}
    return Fenced(
        marker,
        {name: f"<quoted-{marker}>{text}</quoted-{marker}>" for name, (text, _) in harmless.items()},
        [name for name, (_, count) in harmless.items() if count],
    )


def _marker(texts: Mapping[str, str]) -> str:
    # as JSON, so that no two lists of texts run into the same characters
    whole = json.dumps(list(texts.items())).encode()
    return hashlib.sha256(whole).hexdigest()[:16]
