"""POST /v1/evaluations beside FastAPI, pydantic and autoevals: what it saves over writing one's own."""

import json
from contextlib import ExitStack
from random import Random
from typing import Any

import msgspec

from benchmarks import servers, workload
from benchmarks.client import answer_of, cpu_per_request, post
from benchmarks.comparison import Comparison, interleaved
from benchmarks.servers import Server

ITEMS = 100
ITEM_CHARS = 500
REQUESTS = 150
LEAST = 5.0

RULES = [{"type": "levenshtein"}, {"type": "exact_match"}, {"type": "valid_json"}]


def compare() -> Comparison:
    """CPU a request: 100 items of 500 characters x 3 scorers. RuntimeError if the scores are not the same."""
    chance = workload.source("against_autoevals_service")
    request = post("/v1/evaluations", workload.batch([_item(chance) for _ in range(ITEMS)], RULES))
    with ExitStack() as stack:
        ours = stack.enter_context(servers.scorewright())
        theirs = stack.enter_context(servers.peer("autoevals_service"))
        tuned = stack.enter_context(servers.peer("autoevals_service", "tuned"))
        if _scores(ours, request) != _scores(theirs, request):
            raise RuntimeError("autoevals scores otherwise than the service")
        rounds = interleaved(
            {
                "ours": lambda: cpu_per_request(ours, request, REQUESTS * 3),
                "theirs": lambda: cpu_per_request(theirs, request, REQUESTS),
                "theirs_tuned": lambda: cpu_per_request(tuned, request, REQUESTS),
            }
        )
    least = {name: min(figures) for name, figures in rounds.items()}
    return Comparison(
        name="100 items x 3 scorers, and FastAPI + autoevals",
        unit="us",
        ours=least["ours"],
        peer=least["theirs"],
        sense="at least",
        target=LEAST,
        rounds=rounds,
        note=f"with the collector of FastAPI tuned like ours: {least['theirs_tuned'] / least['ours']:.2f}",
    )


def _item(chance: Random) -> dict[str, Any]:
    """Half of the texts are JSON; a third is as expected, the others nearly so."""
    text = workload.prose(chance, ITEM_CHARS)
    if chance.random() < 0.5:
        text = json.dumps({"answer": text[:-15]}, ensure_ascii=False)
    return {"output": text, "expected": text if chance.random() < 0.33 else workload.edited(chance, text)}


def _scores(server: Server, request: bytes) -> list[float]:
    """Every score of an answer, to nine digits."""
    answer = msgspec.json.decode(answer_of(server, request))
    return [round(one["score"], 9) for result in answer["results"] for one in result["evaluations"]]
