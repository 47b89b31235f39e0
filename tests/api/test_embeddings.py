"""Embeddings, similarity and clusters over HTTP, with the real model and without one."""

import base64
import json
import math
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.embedding import tiny
from tests.embedding.serving import Choosy, running
from tests.model import require_model
from tests.serving import served

PROBLEM = "application/problem+json"
LONG = "word " * 600


@pytest.fixture(scope="module")
def model(client: httpx.Client) -> httpx.Client:
    require_model()
    return client


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service that has no model."""
    with (
        served(DATA_DIR=str(tmp_path_factory.mktemp("empty"))) as service,
        httpx.Client(base_url=service.url, timeout=60) as session,
    ):
        yield session


def embedded(client: httpx.Client, texts: Any, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/embeddings", json={"input": texts} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def vectors(client: httpx.Client, texts: Any, **more: Any) -> list[list[float]]:
    return [row["embedding"] for row in embedded(client, texts, **more)["data"]]


def test_one_text_or_a_list_as_openai_answers(model: httpx.Client) -> None:
    one, many = embedded(model, "hello"), embedded(model, ["hello", "world", "hello"])
    assert one["object"] == many["object"] == "list"
    assert [row["index"] for row in many["data"]] == [0, 1, 2]
    assert many["data"][0]["embedding"] == many["data"][2]["embedding"] == one["data"][0]["embedding"]
    assert len(one["data"][0]["embedding"]) == 384
    assert math.hypot(*one["data"][0]["embedding"]) == pytest.approx(1, abs=1e-6)
    assert one["usage"] == {"prompt_tokens": 3, "total_tokens": 3}


def test_base64_is_the_same_in_float32(model: httpx.Client) -> None:
    texts = ["hello", ""]
    exact = [struct.unpack("<384f", base64.b64decode(text)) for text in vectors(model, texts, encoding_format="base64")]
    assert vectors(model, texts) == [pytest.approx(vector, abs=1e-8) for vector in exact]


def test_the_same_vector_alone_in_any_company_and_at_once(model: httpx.Client) -> None:
    texts = [f"{'many ' * (number % 23)}words of case {number}" for number in range(120)]
    together = embedded(model, texts)["data"]
    with ThreadPoolExecutor(8) as pool:
        alone = list(pool.map(lambda text: vectors(model, text)[0], texts[::7]))
    for row, one in zip(together[::7], alone, strict=True):
        assert row["embedding"] == pytest.approx(one, abs=1e-6)


def test_names_of_the_model(model: httpx.Client) -> None:
    listed = model.get("/v1/models").json()
    names = [row["id"] for row in listed["data"]]
    assert listed["object"] == "list"
    assert names == ["default", "sentence-transformers/all-MiniLM-L6-v2"]
    assert {row["dimensions"] for row in listed["data"]} == {384}
    assert len({str(vectors(model, "x", model=name)) for name in names}) == 1
    assert [model.get(f"/v1/models/{name}").json() for name in names] == listed["data"]
    unknown = model.get("/v1/models/sentence-transformers/all-MiniLM")
    assert unknown.status_code == 404
    assert "did you mean 'sentence-transformers/all-MiniLM-L6-v2'" in unknown.json()["error"]["message"]


HOSTILE = {
    "one megabyte": "a word " * 140_000,
    "a word of 5,000 characters": "x" * 5000,
    "lone surrogate": "half \ud83d pair",
    "nothing": "",
    "control characters": "a\x00b\x1fc",
    "513 tokens": "word " * 511,
    "600 emoji": "🙂" * 600,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_every_text_has_a_vector(model: httpx.Client, text: str) -> None:
    sent = json.dumps({"input": [text, "beside"]})
    answer = model.post("/v1/embeddings", content=sent, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        assert "text_chars" in answer.json()["errors"][0]["detail"] or len(text) > 1_000_000
        return
    rows = answer.json()["data"]
    assert all(math.hypot(*row["embedding"]) == pytest.approx(1, abs=1e-5) for row in rows)
    assert "truncated" not in rows[1]


def test_truncation_is_told_for_each_text_or_refused(model: httpx.Client) -> None:
    rows = embedded(model, ["short", LONG])["data"]
    assert "truncated" not in rows[0]
    assert rows[1]["truncated"] == {"tokens": 602, "read": 256}
    assert embedded(model, [LONG])["data"][0]["embedding"] == rows[1]["embedding"]
    refused = model.post("/v1/embeddings", json={"input": ["short", LONG], "truncate": False})
    assert (refused.status_code, refused.headers["content-type"]) == (422, PROBLEM)
    (fault,) = refused.json()["errors"]
    assert fault["pointer"] == "/input/1"
    assert "602" in fault["detail"]
    assert "256" in fault["detail"]


REFUSED = [
    ({"input": [1, 2, 3]}, 422, "/input/0", "token_list"),
    ({"input": [[1, 2], [3]]}, 422, "/input/0", "token_list"),
    ({"input": ["a", None]}, 422, "/input/1", "wrong_type"),
    ({"input": []}, 422, "/input", "too_short"),
    ({}, 422, "/input", "missing_field"),
    ({"input": "a", "dimensions": 64}, 422, "/dimensions", "unsupported"),
    ({"input": "a", "dimensions": 0}, 422, "/dimensions", "out_of_range"),
    ({"input": "a", "encoding_format": "int8"}, 422, "/encoding_format", "not_allowed"),
    ({"input": "a", "modell": "default"}, 422, "/modell", "unknown_field"),
    ({"input": ["a"] * 10_001}, 422, "/input", "limit_exceeded"),
    ({"input": json.loads("[" * 250 + "]" * 250)}, 422, "/input", "limit_exceeded"),
    ({"input": ["a", "x" * 1_000_001]}, 422, "/input/1", "limit_exceeded"),
]


@pytest.mark.parametrize(("body", "status", "pointer", "code"), REFUSED)
def test_what_is_refused_is_told_to_both_kinds_of_clients(
    model: httpx.Client, body: Any, status: int, pointer: str, code: str
) -> None:
    answer = model.post("/v1/embeddings", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
    told = answer.json()
    assert (pointer, code) in [(fault["pointer"], fault["code"]) for fault in told["errors"]]
    assert told["error"]["message"] == told["detail"]
    assert told["error"]["type"] == "invalid_request_error"


def test_another_model_is_not_found_and_the_nearest_is_named(model: httpx.Client) -> None:
    answer = model.post("/v1/embeddings", json={"input": "a", "model": "defualt"})
    assert answer.status_code == 404
    assert "did you mean 'default'" in answer.json()["detail"]
    assert answer.json()["error"]["code"] == "model_not_found"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/embeddings", 405), ("POST", "/v1/models", 405), ("GET", "/v1/embeddings/default", 404)],
)
def test_problems_where_openais_clients_call_are_told_to_them(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert (answer.status_code, answer.json()["error"]["message"]) == (status, answer.json()["detail"])


def test_similarity(model: httpx.Client) -> None:
    pairs = [["a cat", "a cat"], ["a cat", "kittens"], ["a cat", LONG]]
    got = model.post("/v1/similarity", json={"pairs": pairs}).json()
    assert got["cosines"][0] == 1
    assert 1 > got["cosines"][1] > got["cosines"][2]
    assert got["truncated"] == [{"pointer": "/pairs/2/1", "tokens": 602, "read": 256}]
    assert "truncated" not in model.post("/v1/similarity", json={"pairs": pairs[:1]}).json()
    assert model.post("/v1/similarity", json={"pairs": [["a"]]}).status_code == 422


def test_a_rule_and_the_endpoint_tell_the_same_cosine(model: httpx.Client) -> None:
    texts = ["Yes", "hello world", "a"]
    pairs = [[one, other] for one in texts for other in texts]
    found = model.post("/v1/similarity", json={"pairs": pairs}).json()["cosines"]
    body = {"items": [{"output": one, "expected": other} for one, other in pairs],
            "evaluators": [{"type": "embedding_similarity"}]}  # fmt: skip
    told = [item["evaluations"][0]["details"] for item in model.post("/v1/evaluations", json=body).json()["results"]]
    assert [details["cosine"] for details in told] == found
    assert [cosine for cosine, (one, other) in zip(found, pairs, strict=True) if one == other] == [1.0] * 3


def test_clusters_of_texts(model: httpx.Client) -> None:
    texts = ["The cat sat.", "A cat was sitting.", "Interest rates rose.", "The cat sat."]
    got = model.post("/v1/clusters", json={"texts": texts, "tau": 0.7}).json()
    assert got["labels"] == [0, 0, 1, 0]
    assert [group["size"] for group in got["clusters"]] == [3, 1]
    assert got["clusters"][0]["members"] == [0, 1, 3]
    assert got["tau_curve"] == sorted(got["tau_curve"], key=lambda point: -point["tau"])
    assert got["model"].endswith("all-MiniLM-L6-v2")


CLUSTERS = [
    ({"texts": ["a"], "embeddings": [[1]]}, 422, ""),
    ({}, 422, ""),
    ({"embeddings": [[1, 0], [1]]}, 422, "/embeddings/1"),
    ({"embeddings": [[]]}, 422, "/embeddings/0"),
    ({"embeddings": [[1]], "tau": 1.5}, 422, "/tau"),
    ({"embeddings": [[1]], "linkage": "ward"}, 422, "/linkage"),
    ({"embeddings": [[1.0]] * 10_001}, 422, "/embeddings"),
    ({"embeddings": [[1.0]] * 2_001, "linkage": "average"}, 422, "/embeddings"),
]


@pytest.mark.parametrize(("body", "status", "pointer"), CLUSTERS)
def test_clusters_that_cannot_be(client: httpx.Client, body: Any, status: int, pointer: str) -> None:
    answer = client.post("/v1/clusters", json=body)
    assert answer.status_code == status
    assert pointer in [fault["pointer"] for fault in answer.json()["errors"]]


def test_clusters_of_vectors_need_no_model(bare: httpx.Client) -> None:
    square = [[1, 0], [0.9, 0.1], [0, 1], [0, 0], [0, 2]]
    for linkage in ("single", "complete", "average"):
        got = bare.post("/v1/clusters", json={"embeddings": square, "linkage": linkage}).json()
        assert got["labels"] == [0, 0, 1, 2, 1]
        assert got["model"] is None
        assert got["clusters"][0]["min_similarity"] == pytest.approx(0.9 / math.hypot(0.9, 0.1))


def test_without_a_model(bare: httpx.Client) -> None:
    ready = bare.get("/readyz")
    assert ready.status_code == 200
    assert "scorewright model fetch" in ready.json()["missing"][0]
    assert bare.get("/v1/models").json() == {"object": "list", "data": []}
    assert bare.get("/v1/models/default").status_code == 503
    for path, body in (
        ("/v1/embeddings", {"input": "a"}),
        ("/v1/similarity", {"pairs": [["a", "b"]]}),
        ("/v1/clusters", {"texts": ["a"]}),
    ):
        answer = bare.post(path, json=body)
        assert (answer.status_code, answer.headers["content-type"]) == (503, PROBLEM)
        assert int(answer.headers["retry-after"]) > 0
        assert "scorewright model fetch" in answer.json()["detail"]
    body = {"items": [{"output": "a", "expected": "b"}], "evaluators": [{"type": "embedding_similarity"}]}
    got = bare.post("/v1/evaluations", json=body).json()["results"][0]["evaluations"][0]
    assert (got["status"], got["reason"]) == ("not_graded", "model_unavailable")
    assert "scorewright model fetch" in got["explanation"]


def test_a_model_may_be_required(tmp_path: Path) -> None:
    with served(DATA_DIR=str(tmp_path), REQUIRE_MODEL="true") as service:
        answer = httpx.get(f"{service.url}/readyz")
    assert answer.status_code == 503
    assert "scorewright model fetch" in answer.json()["missing"][0]


def test_texts_that_take_too_long_are_to_be_sent_apart() -> None:
    with served(EMBEDDER="hashing", LIMITS__DEADLINE_MS="1") as service:
        answer = httpx.post(f"{service.url}/v1/embeddings", json={"input": [str(number) for number in range(5000)]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "deadline_exceeded")
    assert "of the 5,000 texts" in answer.json()["detail"]
    assert "(see deadline_ms): send fewer at once" in answer.json()["detail"]


DEADLINES: dict[str, dict[str, Any]] = {
    "/v1/embeddings": {"input": [str(number) for number in range(5000)]},
    "/v1/similarity": {"pairs": [[str(number), "a"] for number in range(5000)]},
    "/v1/clusters": {"texts": [str(number) for number in range(5000)]},
}


@pytest.mark.parametrize("path", DEADLINES)
def test_a_request_may_say_how_long_it_waits(path: str) -> None:
    with served(EMBEDDER="hashing", LIMITS__MAX_DEADLINE_MS="60000") as service:
        url, body = f"{service.url}{path}", DEADLINES[path]
        late = httpx.post(url, json=body | {"deadline_ms": 1}, timeout=60)
        assert (late.status_code, late.json()["title"]) == (503, "The deadline passed first")
        assert httpx.post(url, json=body | {"deadline_ms": 60_000}, timeout=60).status_code == 200
        for wrong, code in ((60_001, "limit_exceeded"), (0, "out_of_range"), ("1", "wrong_type")):
            refused = httpx.post(url, json=body | {"deadline_ms": wrong}, timeout=60)
            assert refused.status_code == 422
            assert [(one["pointer"], one["code"]) for one in refused.json()["errors"]] == [("/deadline_ms", code)]


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    directory = tiny.make(tmp_path / "tiny", pooling="cls")
    settings = {"MODEL_DIR": str(directory), "EMBEDDING__ALIASES": "mine, text-embedding-ada-002", "REQUIRE_MODEL": "1"}
    with served(**settings) as service, httpx.Client(base_url=service.url) as client:
        assert client.get("/readyz").json() == {"status": "ready", "missing": []}
        names = [row["id"] for row in client.get("/v1/models").json()["data"]]
        assert names == ["default", "tiny", "mine", "text-embedding-ada-002"]
        assert len(vectors(client, "the cat", model="mine")[0]) == 32
        metrics = client.get("/metrics").text
    assert 'scorewright_model_info{dimensions="32",' in metrics
    assert "scorewright_embedding_texts_total 1.0" in metrics


def test_a_damaged_model_is_named_and_the_rest_works(tmp_path: Path) -> None:
    directory = tiny.make(tmp_path / "tiny")
    weights = directory / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with served(MODEL_DIR=str(directory)) as service, httpx.Client(base_url=service.url) as client:
        assert "model.safetensors" in client.get("/readyz").json()["missing"][0]
        body = {"items": [{"output": "a"}], "evaluators": [{"type": "contains", "expected": "a"}]}
        assert client.post("/v1/evaluations", json=body).json()["summary"]["passed"] == 1


def test_settings_that_make_no_sense_are_told_at_once() -> None:
    for settings, named in (
        ({"EMBEDDER": "openai"}, "SCOREWRIGHT_EMBEDDER_URL"),
        ({"EMBEDDER": "openai", "EMBEDDER_URL": "ftp://x"}, "SCOREWRIGHT_EMBEDDER_URL"),
        ({"EMBEDDER": "torch"}, "SCOREWRIGHT_EMBEDDER"),
        ({"EMBEDDING__WORKERS": "0"}, "SCOREWRIGHT_EMBEDDING__WORKERS"),
    ):
        with pytest.raises(RuntimeError, match=named), served(**settings):
            pass


def test_the_service_is_an_embedder_for_another_one() -> None:
    with (
        served(EMBEDDER="hashing") as far,
        served(EMBEDDER="openai", EMBEDDER_URL=f"{far.url}/v1", EMBEDDER_MODEL="hashing-64") as near,
        httpx.Client(timeout=60) as client,
    ):
        body = {"input": [f"text {number}" for number in range(100)]}
        mine, theirs = (client.post(f"{url}/v1/embeddings", json=body).json() for url in (near.url, far.url))
        assert mine["model"] == theirs["model"] == "hashing-64"
        for one, other in zip(mine["data"], theirs["data"], strict=True):
            assert one["embedding"] == pytest.approx(other["embedding"], abs=1e-6)
        far.stop()
        answer = client.post(f"{near.url}/v1/embeddings", json={"input": "not cached"})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        ready = client.get(f"{near.url}/readyz").json()
        assert "embedding server" in ready["missing"][0]
        assert "scorewright_embedding_up 0.0" in client.get(f"{near.url}/metrics").text


def test_a_text_that_the_server_refuses_is_the_callers_to_mend() -> None:
    """422 and no 503: whoever tries a 503 again would do so for ever."""
    key = "sk-not-to-be-seen"
    with (
        running(Choosy(), None) as far,
        served(EMBEDDER="openai", EMBEDDER_URL=far.url, EMBEDDER_API_KEY=key) as near,
        httpx.Client(base_url=near.url, timeout=60) as client,
    ):
        far.says = lambda asked: {"error": {"message": f"{key}: at most 512 tokens"}}
        said = "The embedding server refused the text (status 413): [hidden]: at most 512 tokens"
        for path, body, pointers in (
            ("/v1/embeddings", {"input": ["a", "bad", "b", "as bad"]}, ["/input/1", "/input/3"]),
            ("/v1/similarity", {"pairs": [["a", "b"], ["a", "bad"]]}, ["/pairs/1/1"]),
            ("/v1/clusters", {"texts": ["bad", "a"]}, ["/texts/0"]),
        ):
            answer = client.post(path, json=body)
            assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
            assert "retry-after" not in answer.headers
            assert answer.json()["errors"] == [
                {"pointer": pointer, "code": "refused", "detail": said} for pointer in pointers
            ]
        error = client.post("/v1/embeddings", json={"input": ["bad"]}).json()["error"]
        assert (error["type"], error["param"]) == ("invalid_request_error", "input.0")
        items = [{"output": text, "expected": "b"} for text in ("bad", "a")]
        got = client.post("/v1/evaluations", json={"items": items, "evaluators": [{"type": "embedding_similarity"}]})
        ungraded, graded = (one["evaluations"][0] for one in got.json()["results"])
        assert [ungraded[name] for name in ("status", "reason", "explanation")] == [
            "not_graded",
            "model_unavailable",
            said,
        ]
        assert graded["status"] in ("passed", "failed")
        assert client.get("/readyz").json()["missing"] == []
        far.refuses = bool
        answer = client.post("/v1/embeddings", json={"input": [f"{place}" for place in range(9)]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
        assert "refuses any text (status 413)" in answer.json()["detail"]
        assert "model: The embedding server refuses any text" in client.get("/readyz").json()["missing"][0]
