"""POST /v1/evaluations beside a bare application that gives the same answer: what the service itself costs."""

from typing import Any

import msgspec

from benchmarks import servers, workload
from benchmarks.client import answer_of, cpu_per_request, post
from benchmarks.comparison import Comparison, interleaved

ITEMS = 100
ITEM_CHARS = 500
REQUESTS = 600
MOST = 1.5

RULES: list[dict[str, Any]] = [
    {"type": "contains", "expected": "refund"},
    {"type": "regex", "pattern": "[A-Z]{2}-[0-9]{4,6}"},
    {"type": "length", "max": 75, "unit": "words"},
]


def compare() -> Comparison:
    """CPU a request: 100 items of 500 characters x 3 rules. RuntimeError if the two do not answer alike."""
    chance = workload.source("against_bare")
    items = [{"output": workload.prose(chance, ITEM_CHARS)} for _ in range(ITEMS)]
    request = post("/v1/evaluations", workload.batch(items, RULES))
    with servers.scorewright() as ours, servers.peer("bare", "tuned") as bare:
        if msgspec.json.decode(answer_of(ours, request)) != msgspec.json.decode(answer_of(bare, request)):
            raise RuntimeError("the bare application answers otherwise than the service")
        rounds = interleaved(
            {
                "ours": lambda: cpu_per_request(ours, request, REQUESTS),
                "bare": lambda: cpu_per_request(bare, request, REQUESTS),
            }
        )
    return Comparison(
        name="100 items x 3 rules, and a bare application",
        unit="us",
        ours=min(rounds["ours"]),
        peer=min(rounds["bare"]),
        sense="at most",
        target=MOST,
        rounds=rounds,
    )
