"""Every limit in force, as /v1/limits shows them."""

from typing import Any

from msgspec import structs

from service.config import Limits
from service.core import assess
from service.engine.generating import MAX_PROMPT_CHARS
from service.engine.presenting import ECHO_CHARS
from service.engine.tasks import MAX_TIMEOUTS
from service.primitives import (
    assignment,
    clusters,
    diff,
    distance,
    extraction,
    jsonpath,
    numbers,
    patterns,
    schema,
    schemacost,
)
from service.primitives.jsonpath.run import MAX_VISITS
from service.scorers.text import MAX_KEYWORD_WORK

FIXED: dict[str, float] = {
    "backtracking_seconds": patterns.BACKTRACKING_SECONDS,
    "backtracking_chars": patterns.MAX_BACKTRACKING_CHARS,
    "pattern_items": patterns.MAX_PATTERN_SIZE,
    "pattern_items_x_bytes": patterns.MAX_RE2_WORK,
    "regex_timeouts_per_rule": MAX_TIMEOUTS,
    "path_steps": jsonpath.STEP_BUDGET,
    "path_nesting": jsonpath.MAX_NESTING,
    "path_visits_jsonpath_ng": MAX_VISITS,
    "picked_values": assess.MAX_PICKED_VALUES,
    "picked_chars": assess.MAX_PICKED_CHARS,
    "schemas_unrolled": schemacost.PLAIN.schemas,
    "schema_steps": schemacost.MAX_STEPS,
    "schema_pattern_steps": schemacost.MAX_PATTERN_STEPS,
    "schema_faults_shown": schema.MAX_FAULTS,
    "json_candidates_in_prose": extraction.MAX_CANDIDATES,
    "number_digits": numbers.MAX_DIGITS,
    "distance_cells": distance.MAX_CELLS,
    "list_pairs": assignment.MAX_PAIRS,
    "list_pairs_scored": assignment.MAX_SCORED_PAIRS,
    "keywords_x_chars": MAX_KEYWORD_WORK,
    "differences_shown": diff.MAX_DIFFERENCES,
    "echo_chars": ECHO_CHARS,
    "generated_prompt_chars": MAX_PROMPT_CHARS,
    **{f"clusters_{linkage}": count for linkage, count in clusters.MAX_VECTORS.items()},
    "clusters_tau_curve": clusters.MAX_CURVE,
}


def in_force(limits: Limits) -> dict[str, Any]:
    """The limits that are settings, and under `fixed` those that are not."""
    return structs.asdict(limits) | {"fixed": FIXED}
