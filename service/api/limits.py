"""Every limit in force, as /v1/limits shows them."""

from typing import Any

from msgspec import structs

from service.config import Limits
from service.engine.presenting import ECHO_CHARS
from service.engine.run import MAX_TIMEOUTS
from service.primitives import jsonpath, patterns


def in_force(limits: Limits) -> dict[str, Any]:
    """The limits that are settings, and under `fixed` those that are not."""
    return structs.asdict(limits) | {
        "fixed": {
            "backtracking_seconds": patterns.BACKTRACKING_SECONDS,
            "backtracking_chars": patterns.MAX_BACKTRACKING_CHARS,
            "regex_timeouts_per_rule": MAX_TIMEOUTS,
            "path_steps": jsonpath.STEP_BUDGET,
            "path_nesting": jsonpath.MAX_NESTING,
            "echo_chars": ECHO_CHARS,
        }
    }
