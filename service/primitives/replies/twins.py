"""Keys that stand twice in one object."""

import json
from typing import Any

from service.primitives.equality import equal


def contradicts_itself(text: str) -> bool:
    """Whether a JSON text has an object that gives one key two values that differ."""
    found = False

    def seen(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        members = dict(pairs)
        found = found or (len(members) < len(pairs) and not all(equal(members[key], value) for key, value in pairs))
        return members

    json.loads(text, object_pairs_hook=seen)
    return found
