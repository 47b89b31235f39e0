"""What is counted and logged of suites and prompt metrics, whatever becomes of them."""

import gzip
import json
import socket
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.serving import Served, served

SECRET = "Zanzibar"
TEXTS = [f"{SECRET} {number}" for number in range(3)]
RULES = [{"type": "contains", "expected": f"{SECRET} 1", "id": SECRET}, {"type": "length", "max": 100, "label": SECRET}]

BODIES: dict[str, dict[str, Any]] = {
    "/v1/suites": {
        "name": SECRET,
        "cases": [{"id": SECRET, "input": SECRET}],
        "versions": [{"version": SECRET, "outputs": {SECRET: [*TEXTS, {"error": SECRET}, {"score": 1}]}}],
        "graders": RULES,
    },
    "/v1/prompt-metrics": {
        "session_id": SECRET,
        "queries": [{"qa_id": SECRET, "responses": [*TEXTS, {"error": SECRET}]}],
        "constraints": RULES,
    },
}
FACTS = {"/v1/suites": {"runs": 5, "evaluations": 6}, "/v1/prompt-metrics": {"queries": 1, "responses": 4}}
SETTINGS = {
    "EMBEDDER": "hashing",
    "LIMITS__BODY_BYTES": "20000",
    "LIMITS__BODY_SECONDS": "0.5",
    "LIMITS__RESPONSE_BYTES": "6000",
}
JSON = {"content-type": "application/json"}


def long(path: str) -> bytes:
    """A body with an answer that is over the limit."""
    body = json.loads(json.dumps(BODIES[path]))
    more = [f"{SECRET} {number}" for number in range(1000)]
    if path == "/v1/suites":
        body["versions"][0]["outputs"][SECRET] = more
    else:
        body["queries"][0]["responses"] = more
    return json.dumps(body).encode()


def ask_everything(client: httpx.Client, service: Served, path: str) -> dict[str, int]:
    """What comes of each kind of request."""
    body = json.dumps(BODIES[path]).encode()
    zipped = JSON | {"content-encoding": "gzip"}
    return {
        "answered": client.post(path, content=body, headers=JSON).status_code,
        "answered zipped": client.post(path, content=gzip.compress(body), headers=zipped).status_code,
        "no JSON": client.post(path, content=body[:-1], headers=JSON).status_code,
        "no gzip": client.post(path, content=body, headers=zipped).status_code,
        "slow": slow(service, path, body),
        "long": client.post(path, content=body + b" " * 20_000, headers=JSON).status_code,
        "long in parts": client.post(path, content=iter([body, b" " * 20_000]), headers=JSON).status_code,
        "long inside": client.post(path, content=gzip.compress(body + b" " * 20_000), headers=zipped).status_code,
        "long answer": client.post(path, content=long(path), headers=JSON).status_code,
        "no media type": client.post(path, content=body, headers={"content-type": "text/plain"}).status_code,
        "no field": client.post(path, content=body[:-1] + b', "%b": 1}' % SECRET.encode(), headers=JSON).status_code,
        "no method": client.put(path, content=body, headers=JSON).status_code,
    }


WANTED = {
    "answered": 200,
    "answered zipped": 200,
    "no JSON": 400,
    "no gzip": 400,
    "slow": 408,
    "long": 413,
    "long in parts": 413,
    "long inside": 413,
    "long answer": 413,
    "no media type": 415,
    "no field": 422,
    "no method": 405,
}


def slow(service: Served, path: str, body: bytes) -> int:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head.encode() + body[:-1])
        return int(connection.recv(65536).split()[1])


def metric(text: str, name: str) -> dict[str, float]:
    """The values of a metric, by its labels."""
    lines = [line.removeprefix(name).rsplit(" ", 1) for line in text.splitlines() if line.startswith(f"{name}{{")]
    return {labels: float(value) for labels, value in lines}


@pytest.mark.parametrize("path", BODIES)
def test_every_answer_is_counted_once_and_logged_without_a_word_of_the_caller(path: str) -> None:
    with served(**SETTINGS) as service, httpx.Client(base_url=service.url, timeout=60) as client:
        assert ask_everything(client, service, path) == WANTED
        route = f'{{route="{path}"}}'
        while metric(text := client.get("/metrics").text, "scorewright_request_seconds_count")[route] < len(WANTED):
            pass
        _, logged = service.stop()
    codes = Counter((str(code), "PUT" if code == 405 else "POST") for code in WANTED.values())
    assert {
        labels: count for labels, count in metric(text, "scorewright_requests_total").items() if path in labels
    } == {f'{{code="{code}",method="{method}",route="{path}"}}': count for (code, method), count in codes.items()}
    for histogram in ("request_body_bytes", "response_body_bytes"):
        assert metric(text, f"scorewright_{histogram}_count")[route] == len(WANTED)
    counts = metric(text, "scorewright_evaluations_total")
    assert {labels: count for labels, count in counts.items() if count} == {
        '{status="passed",type="contains"}': 2,
        '{status="failed",type="contains"}': 4,
        '{status="passed",type="length"}': 6,
    }
    lines = [line for line in map(json.loads, logged.splitlines()) if line["event"] == "request"]
    own = [line for line in lines if line["route"] == path]
    assert Counter(line["status"] for line in own) == Counter(WANTED.values())
    assert [line["bytes_in"] > 0 for line in own if line["status"] == 200] == [True, True]
    facts = [{name: line[name] for name in FACTS[path]} for line in own if line["status"] == 200]
    assert facts == [FACTS[path]] * 2
    assert SECRET not in text
    assert SECRET not in logged
