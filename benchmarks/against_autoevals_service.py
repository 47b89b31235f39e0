"""POST /v1/evaluations beside FastAPI, pydantic and autoevals: what it saves over writing one's own."""

import json
from contextlib import ExitStack
from random import Random
from typing import Any

import msgspec

from benchmarks import servers, workload
from benchmarks.client import answer_of, cpu_per_request, post
from benchmarks.comparison import Comparison, interleaved
from benchmarks.in_process import SCHEMA
from benchmarks.servers import Server

ITEMS = 100
ITEM_CHARS = 500
REQUESTS = 60
LEAST_ON_TEXTS = 1.0
LEAST_ON_RECORDS = 5.0

TEXT_RULES: list[dict[str, Any]] = [{"type": "levenshtein"}, {"type": "exact_match"}, {"type": "valid_json"}]
RECORD_RULES: list[dict[str, Any]] = [{"type": "json_diff"}, {"type": "valid_json", "schema": SCHEMA}]


def compare() -> list[Comparison]:
    """CPU a request of 100 items, for plain texts and for extracted records."""
    chance = workload.source("against_autoevals_service")
    texts = [_text(chance) for _ in range(ITEMS)]
    records = [_record(chance) for _ in range(ITEMS)]
    return [
        _compared("100 texts x 3 scorers, and FastAPI + autoevals", workload.batch(texts, TEXT_RULES), LEAST_ON_TEXTS),
        _compared("100 records x 2, and FastAPI + autoevals", workload.batch(records, RECORD_RULES), LEAST_ON_RECORDS),
    ]


def _compared(name: str, body: bytes, least_ratio: float) -> Comparison:
    """RuntimeError if the scores are not the same."""
    request = post("/v1/evaluations", body)
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
        name=name,
        unit="us",
        ours=least["ours"],
        peer=least["theirs"],
        sense="at least",
        target=least_ratio,
        rounds=rounds,
        note=f"with the collector of FastAPI tuned like ours: {least['theirs_tuned'] / least['ours']:.2f}",
    )


def _text(chance: Random) -> dict[str, Any]:
    """Half of the texts are JSON; a third is as expected, the others nearly so."""
    text = workload.prose(chance, ITEM_CHARS)
    if chance.random() < 0.5:
        text = json.dumps({"answer": text[:-15]}, ensure_ascii=False)
    return {"output": text, "expected": text if chance.random() < 0.33 else workload.edited(chance, text)}


def _record(chance: Random) -> dict[str, Any]:
    """A record of 30 values that a model wrote as JSON, and the record that was expected."""
    document = workload.nested(chance)
    return {"output": json.dumps(document, ensure_ascii=False), "expected": workload.altered(chance, document)}


def _scores(server: Server, request: bytes) -> list[float]:
    """Every score of an answer, to nine digits."""
    answer = msgspec.json.decode(answer_of(server, request))
    return [round(one["score"], 9) for result in answer["results"] for one in result["evaluations"]]
