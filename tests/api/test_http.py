"""The HTTP skin, over a real socket."""

import gzip
import json
import socket
from typing import Any

import httpx
import pytest
import zstandard

from tests.serving import Served, served

BODY = {"items": [{"output": "a"}], "evaluators": [{"type": "contains", "expected": "a"}]}
PROBLEM = "application/problem+json"


def post(client: httpx.Client, content: Any, path: str = "/v1/evaluations", **headers: str) -> httpx.Response:
    return client.post(path, content=content, headers={"content-type": "application/json", **headers})


def test_every_answer_names_the_version_and_the_request(client: httpx.Client) -> None:
    for path in ("/livez", "/nope", "/v1/evaluations"):
        answer = client.get(path, headers={"X-Request-Id": "abc.DEF-1_2"})
        assert answer.headers["x-request-id"] == "abc.DEF-1_2"
        assert answer.headers["scorewright-version"]
    made = client.get("/livez", headers={"X-Request-Id": "not allowed!"}).headers["x-request-id"]
    assert made != "not allowed!"
    assert len(made) == 16


def test_the_same_request_gets_the_same_bytes(client: httpx.Client) -> None:
    body = {
        "items": [{"output": {"b": [1, 2.0, "x"], "a": None}, "expected": {"a": 1, "c": True}}, {"output": "text"}],
        "evaluators": [{"type": "json_diff"}, {"type": "keywords", "keywords": "b,a,x"}, {"type": "exact_match"}],
    }
    assert client.post("/v1/evaluations", json=body).content == client.post("/v1/evaluations", json=body).content


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", "/v1/evaluation", 404, "did you mean '/v1/evaluations'?"),
        ("GET", "/", 404, "/docs"),
        ("GET", "/v1/evaluators/contain", 404, "did you mean 'contains'?"),
        ("GET", "/v1/evaluations", 405, "only POST"),
        ("DELETE", "/v1/limits", 405, "only GET"),
    ],
)
def test_what_is_not_there_is_a_problem_like_any_other(
    client: httpx.Client, method: str, path: str, status: int, detail: str
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
    problem = answer.json()
    assert detail in problem["detail"]
    assert (problem["status"], problem["instance"]) == (status, path)
    assert problem["type"].startswith("urn:scorewright:problem:")


def test_405_says_what_is_allowed(client: httpx.Client) -> None:
    assert "POST" in client.get("/v1/paths").headers["allow"]


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"", "empty"),
        (b"   ", "empty"),
        (b"{", "not JSON"),
        (b'{"items": [NaN]}', "NaN is no JSON number"),
        (b'{"items": [{"output": -Infinity}]}', "-Infinity is no JSON number"),
        (b'{"items": [{"output": 1e400}]}', "number that cannot be held"),
        (b'{"items": [{"output": ' + b"1" * 4301 + b"}]}", "number that cannot be held"),
        (b'{"items": ["\xff"]}', "not"),
        (b"{} {}", "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
    ],
)
def test_what_is_no_json_is_400(client: httpx.Client, content: bytes, detail: str) -> None:
    answer = post(client, content)
    assert (answer.status_code, answer.headers["content-type"]) == (400, PROBLEM)
    assert detail in answer.json()["detail"]


def test_every_fault_is_reported_with_its_place_and_the_nearest_name(client: httpx.Client) -> None:
    body = {
        "items": [{"outptu": 1}, {"id": 7}, "what", {"evaluators": [{"type": "lenght"}]}],
        "evaluators": [
            {"type": "contains", "expectd": "x", "case_sensitive": "false"},
            {"type": "string_comparison", "operator": "equal", "expected": "x"},
            {"expected": "x"},
            {"type": "regex"},
            {"type": "length", "min": -1, "weight": 0},
        ],
        "ech": "full",
    }
    answer = client.post("/v1/evaluations", json=body)
    assert answer.status_code == 422
    faults = {fault["pointer"]: (fault["code"], fault["detail"]) for fault in answer.json()["errors"]}
    assert {pointer: code for pointer, (code, _) in faults.items()} == {
        "/items/0/outptu": "unknown_field",
        "/items/1/id": "wrong_type",
        "/items/2": "wrong_type",
        "/items/3/evaluators/0/type": "unknown_type",
        "/evaluators/0/expectd": "unknown_field",
        "/evaluators/0/case_sensitive": "wrong_type",
        "/evaluators/1/operator": "not_allowed",
        "/evaluators/2/type": "missing_field",
        "/evaluators/3/pattern": "missing_field",
        "/evaluators/4/min": "out_of_range",
        "/evaluators/4/weight": "out_of_range",
        "/ech": "unknown_field",
    }
    assert faults["/items/1/id"][1] == "Expected `string | null`, got `integer`: 7"
    assert faults["/evaluators/4/min"][1] == "Expected `integer` >= 0: -1"
    for pointer, name in {
        "/items/0/outptu": "'output'",
        "/items/3/evaluators/0/type": "'length'",
        "/evaluators/0/expectd": "'expected'",
        "/evaluators/1/operator": "'equals'",
        "/ech": "'echo'",
    }.items():
        assert f"did you mean {name}?" in faults[pointer][1]


def test_at_most_a_hundred_faults(client: httpx.Client) -> None:
    answer = client.post("/v1/evaluations", json={"items": [{"x": 1}] * 500, "evaluators": [{"type": "nope"}] * 50})
    assert len(answer.json()["errors"]) == 100


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
def test_other_media_types_are_415(client: httpx.Client, content_type: str) -> None:
    answer = client.post("/v1/evaluations", content=json.dumps(BODY), headers={"content-type": content_type})
    assert (answer.status_code, answer.headers["content-type"]) == (415, PROBLEM)
    assert "application/json" in answer.json()["detail"]


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "application/vnd.x+json", "Application/JSON"]
)
def test_json_by_any_name_is_read(client: httpx.Client, content_type: str) -> None:
    answer = client.post("/v1/evaluations", content=json.dumps(BODY), headers={"content-type": content_type})
    assert answer.status_code == 200


@pytest.mark.parametrize("size", [1, 50_000])
@pytest.mark.parametrize(
    ("coding", "compress"),
    [
        ("gzip", gzip.compress),
        ("gzip", lambda data: gzip.compress(data[:20]) + gzip.compress(data[20:])),
        ("zstd", zstandard.compress),
        ("identity", bytes),
    ],
)
def test_compressed_bodies_are_read(client: httpx.Client, coding: str, compress: Any, size: int) -> None:
    body = {
        "items": [{"output": "a" * size + "é"}],
        "evaluators": [{"type": "length", "min": size + 1, "max": size + 1}],
    }
    answer = post(client, compress(json.dumps(body).encode()), **{"content-encoding": coding})
    assert answer.json()["summary"]["passed"] == 1


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, zstd"])
def test_other_codings_are_415_and_say_what_is_read(client: httpx.Client, coding: str) -> None:
    answer = post(client, b"x", **{"content-encoding": coding})
    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "gzip, zstd, identity"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("content", [b"plain", b""])
def test_a_body_that_is_not_as_coded_is_400(client: httpx.Client, coding: str, content: bytes) -> None:
    assert post(client, content, **{"content-encoding": coding}).status_code == 400


def test_a_cut_gzip_body_is_400(client: httpx.Client) -> None:
    cut = gzip.compress(json.dumps(BODY).encode())[:-9]
    assert post(client, cut, **{"content-encoding": "gzip"}).status_code == 400


@pytest.mark.parametrize(
    ("written", "read", "count"),
    [
        (r'"a\ud800b"', "a\ufffdb", 1),
        (r'"\udc00\ud800"', "\ufffd\ufffd", 2),
        (r'"\ud83d\ude00"', "😀", 0),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀", 1),
        (r'"\\ud800"', "\\ud800", 0),
        (r'"\\\ud800"', "\\\ufffd", 1),
    ],
)
def test_lone_surrogates_are_read_as_replacement_and_counted(
    client: httpx.Client, written: str, read: str, count: int
) -> None:
    body = f'{{"items":[{{"output":{written}}}],"evaluators":[{{"type":"exact_match","expected":"-"}}]}}'
    answer = post(client, body.encode()).json()
    assert answer["results"][0]["evaluations"][0]["actual"] == read
    assert answer["summary"].get("replaced_surrogates", 0) == count


def test_the_catalogue_and_the_limits(client: httpx.Client) -> None:
    rows = client.get("/v1/evaluators").json()["evaluators"]
    for row in rows:
        assert client.get(f"/v1/evaluators/{row['type']}").json() == row
    limits = client.get("/v1/limits").json()
    assert (limits["items"], limits["body_bytes"], limits["fixed"]["path_steps"]) == (10_000, 16 * 1024 * 1024, 200_000)


def test_health_documentation_and_head(client: httpx.Client) -> None:
    for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/docs"):
        got, head = client.get(path), client.head(path)
        assert (got.status_code, head.status_code, head.content) == (200, 200, b""), path
    page = client.get("/docs").text
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page


@pytest.mark.parametrize(
    ("body", "values", "locations"),
    [
        ({"path": "$.a[-1]", "document": {"a": [1, 2]}}, [2], ["$['a'][1]"]),
        ({"path": "$", "document": "[1]"}, ["[1]"], ["$"]),
        ({"path": "$.x", "document": None}, [], []),
        ({"path": "$[?@ == 1]", "document": {"p": 1}, "dialect": "rfc9535"}, [1], ["$['p']"]),
    ],
)
def test_a_path_can_be_tried(client: httpx.Client, body: Any, values: list[Any], locations: list[str]) -> None:
    assert client.post("/v1/paths", json=body).json() == {"values": values, "locations": locations}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("$[", "invalid_path"),
        ("a.b", "invalid_path"),
        ("$" + ".a" * 1000, "limit_exceeded"),
        ("$..*..*..*", "path_too_costly"),
    ],
)
def test_a_path_that_cannot_be_tried_is_422_at_its_place(client: httpx.Client, path: str, code: str) -> None:
    document: Any = {"a": 1}
    for _ in range(90):
        document = {"a": document}
    answer = client.post("/v1/paths", json={"path": path, "document": document})
    assert answer.status_code == 422
    assert [(fault["pointer"], fault["code"]) for fault in answer.json()["errors"]] == [("/path", code)]


def test_metrics_tell_of_every_answer(client: httpx.Client) -> None:
    client.post("/v1/evaluations", json=BODY)
    client.get("/nope")
    client.get("/v1/evaluations")
    text = client.get("/metrics").text
    assert 'scorewright_requests_total{code="404",method="GET",route="unmatched"}' in text
    assert 'code="405"' in text
    assert 'scorewright_requests_total{code="200",method="POST",route="/v1/evaluations"}' in text
    assert 'scorewright_evaluations_total{status="passed",type="contains"}' in text
    assert 'scorewright_evaluation_seconds_total{type="contains"}' in text
    assert "nope" not in text


def test_more_than_one_host_is_none(service: Served) -> None:
    request = b"GET /livez HTTP/1.1\r\nHost: elsewhere.example\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(request)
        assert connection.recv(65536).startswith(b"HTTP/1.1 421 ")


def test_a_gzip_body_of_many_members_is_refused(client: httpx.Client) -> None:
    body = gzip.compress(b"") * 100 + gzip.compress(json.dumps(BODY).encode())
    answer = post(client, body, **{"content-encoding": "gzip"})
    assert answer.status_code == 400
    assert "members" in answer.json()["detail"]


def test_no_cors_is_offered(client: httpx.Client) -> None:
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}
    answer = client.options("/v1/evaluations", headers=asked)
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_host_is_checked_on_a_loopback_bind(client: httpx.Client) -> None:
    answer = client.get("/livez", headers={"host": "rebound.example"})
    assert (answer.status_code, answer.headers["content-type"]) == (421, PROBLEM)
    for name in ("localhost", "127.0.0.1:9", "[::1]:80", "LOCALHOST"):
        assert client.get("/livez", headers={"host": name}).status_code == 200


def test_keys_hosts_limits_and_logs_by_settings() -> None:
    settings = {"API_KEYS": "one, two", "ALLOWED_HOSTS": "scores.example", "LIMITS__BODY_BYTES": "2000",
                "LIMITS__ITEMS": "2", "LIMITS__PATTERN_CHARS": "5", "LIMITS__BODY_SECONDS": "0.5"}  # fmt: skip
    with served(**settings) as service:
        _keys_and_hosts(service.url)
        _limits(service.url)
        status, logged = service.stop()
    assert status in (0, -15)
    lines = [json.loads(line) for line in logged.splitlines()]
    served_lines = [line for line in lines if line["event"] == "request"]
    assert {"id", "method", "route", "status", "ms", "bytes_in", "bytes_out"} <= served_lines[-1].keys()
    assert "secret text" not in logged
    assert "two" not in logged


def _keys_and_hosts(url: str) -> None:
    host = {"host": "scores.example"}
    with httpx.Client(base_url=url, headers=host) as client:
        assert client.get("/livez").status_code == 200
        refused = client.get("/v1/limits")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert client.get("/v1/limits", headers={"authorization": "Bearer three"}).status_code == 401
        assert client.get("/v1/limits", headers={"authorization": "Basic two"}).status_code == 401
        assert client.get("/v1/limits", headers={"authorization": "Bearer two"}).status_code == 200
        assert client.get("/livez", headers={"host": "localhost"}).status_code == 421


def _limits(url: str) -> None:
    headers = {"host": "scores.example", "authorization": "Bearer one", "content-type": "application/json"}
    with httpx.Client(base_url=url, headers=headers) as client:
        limits = client.get("/v1/limits").json()
        assert (limits["items"], limits["body_bytes"]) == (2, 2000)
        assert client.post("/v1/evaluations", json=BODY | {"items": [{"output": "secret text"}]}).status_code == 200
        for content in (b"x" * 2001, iter([b"x" * 1500, b"x" * 1500]), gzip.compress(b" " * 5000)):
            coded = {"content-encoding": "gzip"} if isinstance(content, bytes) and content[:2] == b"\x1f\x8b" else {}
            answer = client.post("/v1/evaluations", content=content, headers=coded)
            assert answer.status_code == 413
            assert "2,000 bytes (body_bytes" in answer.json()["detail"]
        assert client.post("/v1/evaluations", json=BODY | {"items": [{}] * 3}).status_code == 422
        rule = {"type": "regex", "pattern": "abcdef"}
        got = client.post("/v1/evaluations", json=BODY | {"evaluators": [rule]}).json()
        assert got["results"][0]["evaluations"][0]["reason"] == "limit_exceeded"
