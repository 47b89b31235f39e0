"""What callers may send to do harm: each is answered, cheaply, and the service goes on for others."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.serving import Served, served

JSON = {"content-type": "application/json"}


def evaluate(client: httpx.Client, rule: dict[str, Any], **item: Any) -> dict[str, Any]:
    answer = client.post("/v1/evaluations", json={"items": [item], "evaluators": [rule]})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][0]["evaluations"][0]  # type: ignore[no-any-return]


def deep(levels: int) -> Any:
    document: Any = 1
    for _ in range(levels):
        document = {"a": document}
    return document


def post_head(size: int) -> bytes:
    """The head of a request, for those tests that speak to the socket themselves."""
    lines = (
        "POST /v1/evaluations HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {size}",
    )
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"items":' * 50_000,
        b'{"items":[{"output":' + b"[" * 100_000 + b"]" * 100_000 + b"}]}",
        b'{"items":[{"output":' + b"[" * 500 + b"]" * 500 + b'}],"evaluators":[{"type":"valid_json"}]}',
        b'{"items":[{"output":1}],"evaluators":[{"type":"json_schema","schema":'
        + b'{"not":' * 300
        + b"{}"
        + b"}" * 302,
    ],
    ids=["brackets", "objects", "inside an item", "just too deep", "a schema"],
)
def test_nesting_is_refused(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/v1/evaluations", content=body, headers=JSON)
    assert answer.status_code in (400, 422)
    if answer.status_code == 422:
        assert answer.json()["errors"][0]["code"] == "limit_exceeded"


def test_nesting_up_to_the_limit_is_read(client: httpx.Client) -> None:
    assert evaluate(client, {"type": "valid_json"}, output=deep(190))["status"] == "passed"


@pytest.mark.parametrize(
    ("rule", "item", "status", "reason"),
    [
        ({"type": "regex", "pattern": "(a|a)*$"}, {"output": "a" * 100_000 + "!"}, "passed", None),
        ({"type": "regex", "pattern": "(a|a)*$x"}, {"output": "a" * 100_000 + "!"}, "failed", None),
        ({"type": "regex", "pattern": r"(a|aa)+\1$(?!x)"}, {"output": "a" * 90_000 + "!"}, "error", "regex_timeout"),
        ({"type": "regex", "pattern": r"(?=a)b"}, {"output": "a" * 200_000}, "error", "limit_exceeded"),
        ({"type": "length", "min": 1, "path": "$..*..*..*..*"}, {"output": deep(90)}, "error", "path_too_costly"),
        ({"type": "json_schema", "schema": {"$ref": "#/$defs/a30", "$defs": {"a0": {}} | {
            f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, 31)}}},
         {"output": "{}"}, "error", "limit_exceeded"),
        ({"type": "json_schema", "schema": {"$ref": "#"}}, {"output": "{}"}, None, None),
        ({"type": "json_schema", "schema": {"pattern": "^(a+)+$"}}, {"output": json.dumps("a" * 40 + "!")}, "failed", None),
        ({"type": "contains", "expected": "{{x.__class__}}"}, {"output": "x", "variables": {"x": 1}}, "error", "unknown_variable"),
        ({"type": "levenshtein"}, {"output": "a" * 900_000, "expected": "b" * 900_000}, "error", "limit_exceeded"),
        ({"type": "list_contains"}, {"output": ["x"] * 20_000, "expected": ["y"] * 20_000}, "error", "limit_exceeded"),
        ({"type": "list_contains", "pairwise_scorer": "json_diff"},
         {"output": [{"a": "x" * 50}] * 5_000, "expected": [{"a": "y" * 50}] * 5_000}, "error", "limit_exceeded"),
        ({"type": "length", "unit": "sentences", "min": 300_000}, {"output": "A. " * 300_000}, "passed", None),
        ({"type": "levenshtein", "path": f"$[{','.join(['0'] * 100)}]"}, {"output": ["a" * 40_000], "expected": "b" * 40_000}, "error", "limit_exceeded"),
        ({"type": "json_diff"}, {"output": [f"{n}" * 40_000 for n in range(8)], "expected": ["z" * 40_000] * 8}, "error", "limit_exceeded"),
        ({"type": "list_contains"}, {"output": ["a" * 20_000, None] * 6, "expected": ["b" * 20_000] * 12}, "error", "limit_exceeded"),
        ({"type": "list_contains", "pairwise_scorer": "numeric_diff"}, {"output": ["1" * 4_000] * 300, "expected": ["2" * 4_000] * 300}, None, None),
        ({"type": "list_contains", "pairwise_scorer": "json_diff"}, {"output": list(range(1_000)), "expected": list(range(1_000))}, "error", "limit_exceeded"),
        ({"type": "contains", "whole_word": True, "expected": "a" * 500_000}, {"output": "a" * 1_000_000}, "failed", None),
        ({"type": "length", "unit": "unicode_words", "min": 1}, {"output": "\U0001f1e6" * 900_000}, "failed", None),
        ({"type": "length", "unit": "sentences", "min": 1}, {"output": "A." + ")" * 400_000}, "passed", None),
        ({"type": "length", "unit": "graphemes", "min": 1}, {"output": "\U0001f1e6" * 900_000}, "passed", None),
        ({"type": "keywords", "keywords": ["a"]}, {"output": "\u0300\u0316" * 400_000}, None, None),
        ({"type": "exact_match", "normalize": ["nfkc"]},
         {"output": "\u0300\u0316" * 400_000, "expected": "x"}, None, None),
        ({"type": "valid_json", "extract": "anywhere"}, {"output": "{" * 900_000}, "failed", None),
        ({"type": "valid_json", "extract": "fences"}, {"output": "```json\n" * 100_000}, "failed", None),
        ({"type": "keywords", "keywords": ["{{x}}" * 1_000]}, {"output": "a", "variables": {"x": "y" * 100_000}}, "error", "limit_exceeded"),
        ({"type": "length", "min": 1, "path": "$.a * 1000000000", "dialect": "jsonpath-ng"}, {"output": {"a": "x"}}, None, None),
        ({"type": "length", "min": 1, "path": "$..*..*..*..*", "dialect": "jsonpath-ng"}, {"output": deep(90)}, "error", "path_too_costly"),
    ],
)  # fmt: skip
def test_costly_rules_stay_within_bounds(
    client: httpx.Client, rule: dict[str, Any], item: dict[str, Any], status: str | None, reason: str | None
) -> None:
    """The time-out of the client is the bound: each of these would run for minutes or for ever if it were run."""
    got = evaluate(client, rule, **item)
    if status is None:
        assert got["status"] in ("passed", "failed", "error", "no_data")
    else:
        assert (got["status"], got["reason"]) == (status, reason)
    assert len(got["explanation"]) < 2_000


def test_a_remote_reference_is_never_fetched(client: httpx.Client) -> None:
    with listening() as (port, connections):
        url = f"http://127.0.0.1:{port}/schema.json"
        for schema in (
            {"$ref": url},
            {"$schema": url, "type": "string"},
            {"$id": url, "$ref": "other.json"},
            {"$dynamicRef": url},
            {"$ref": "file:///etc/hostname"},
        ):
            got = evaluate(client, {"type": "json_schema", "schema": schema}, output="{}")
            assert (got["status"], got["reason"]) == ("error", "invalid_schema"), schema
        assert connections == []


@contextmanager
def listening() -> Iterator[tuple[int, list[Any]]]:
    """A server that notes who connects."""
    connections: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_note, args=(server, connections), daemon=True)
        thread.start()
        yield server.getsockname()[1], connections
        server.shutdown(socket.SHUT_RDWR)
    thread.join(timeout=10)


def _note(server: socket.socket, connections: list[Any]) -> None:
    try:
        while True:
            connection, address = server.accept()
            connections.append(address)
            connection.close()
    except OSError:
        return


def test_an_answer_too_large_to_make_is_refused_before_it_is_made(client: httpx.Client) -> None:
    places = ",".join(["0"] * 400)
    trial = {"path": f"$[{places}]", "document": ["x" * 900_000]}
    answer = client.post("/v1/paths", json=trial)
    assert answer.status_code == 413
    texts = [f"{n}" * 700_000 for n in range(10)]
    body = {
        "items": [{"output": texts, "expected": texts}],
        "evaluators": [{"type": "exact_match"}] * 20,
        "echo": "full",
    }
    assert client.post("/v1/evaluations", json=body).status_code == 413


def test_a_body_of_50_mb_is_refused_by_its_announced_length(service: Served) -> None:
    head = post_head(52_428_800)
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_an_inflated_body_is_refused_at_the_limit(client: httpx.Client) -> None:
    import gzip

    import zstandard

    for coding, packed in (
        ("gzip", gzip.compress(b" " * 100_000_000)),
        ("zstd", zstandard.compress(b" " * 100_000_000)),
    ):
        headers = JSON | {"content-encoding": coding}
        assert client.post("/v1/evaluations", content=packed, headers=headers).status_code == 413


def test_a_slow_body_ends_in_time_and_keeps_nobody_waiting() -> None:
    with served(LIMITS__BODY_SECONDS="1") as service:
        head = post_head(100) + b"{"
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
            connection.sendall(head)
            assert httpx.get(f"{service.url}/livez").status_code == 200
            assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_a_client_that_hangs_up_is_dropped_and_the_lane_is_free_again(client: httpx.Client, service: Served) -> None:
    body = json.dumps(
        {
            "items": [
                {"output": {"a": ["x" * 200 + str(n)] * 20}, "expected": {"a": ["y" * 200] * 20}} for n in range(2000)
            ],
            "evaluators": [{"type": "json_diff"}],
        }
    ).encode()
    head = post_head(len(body))
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(head + body)
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(head + body[: len(body) // 2])
    small = {"items": [{"output": "{}"}], "evaluators": [{"type": "valid_json"}]}
    assert client.post("/v1/evaluations", json=small).json()["summary"]["passed"] == 1
    while "scorewright_queue_requests 0.0" not in client.get("/metrics").text:
        pass


def test_sigterm_lets_a_batch_in_flight_finish() -> None:
    body = {
        "items": [{"output": f"{'a' * 300}{n}", "expected": "b" * 300} for n in range(9_000)],
        "evaluators": [{"type": "levenshtein"}, {"type": "json_diff"}],
    }
    with served() as service:
        answers: list[httpx.Response] = []
        sent = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{service.url}/v1/evaluations", json=body, timeout=60))
        )
        sent.start()
        while b"scorewright_requests_in_flight 2.0" not in httpx.get(f"{service.url}/metrics").content:
            if answers:
                pytest.fail("the batch was done before the service was told to stop")
        status, _ = service.stop()
        sent.join(timeout=60)
    assert status in (0, -15)
    assert answers[0].status_code == 200
    assert answers[0].json()["summary"]["evaluations"] == 18_000


def test_odd_method_and_target(service: Served) -> None:
    for line in (
        b"BREW /livez HTTP/1.1",
        b"GET //v1/limits/..;/x HTTP/1.1",
        b"GET /%00%ff HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
    ):
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
            connection.sendall(line + b"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            status = connection.recv(65536).split(b" ")[1]
        assert status[:1] in (b"2", b"4"), line
