"""A server that refuses a text works; one that refuses any does not."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import ModelUnavailable, TextRefused
from service.embedding.batcher import Batcher
from service.embedding.remote import PROBE, RemoteEncoder
from service.embedding.remote_endpoint import Endpoint
from service.embedding.remote_refusals import REFUSING, Refusals, words
from tests.embedding.encoding import vectors
from tests.embedding.recording import WAIT, batching, soon
from tests.embedding.serving import Choosy, Told, echo, running

KEY = "sk-not-to-be-seen"

SAID = {
    "OpenAI": ({"error": {"message": "too long", "type": "invalid_request_error", "code": None}}, "too long"),
    "text-embeddings-inference": ({"error": "too long", "error_type": "Validation"}, "too long"),
    "vLLM": ({"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}, "too long"),
    "FastAPI": ({"detail": [{"loc": ["body", "input"], "msg": "too long", "input": "secret"}]}, "too long"),
    "FastAPI in a sentence": ({"detail": "too long"}, "too long"),
    "Spring": ({"status": 400, "error": "Bad Request", "message": "too long"}, "too long"),
    "a list": ([{"message": ""}, {"message": "too long"}], "too long"),
    "a text": ("too long", "too long"),
    "numbers": ({"error": 413, "message": None, "detail": [1, {"a": "b"}]}, ""),
    "nothing": ({}, ""),
    "too deep": ([[[[[["too long"]]]]]], ""),
}


@pytest.mark.parametrize(("body", "said"), SAID.values(), ids=SAID)
def test_the_words_of_a_refusal(body: Any, said: str) -> None:
    assert words(json.dumps(body).encode()) == said


BODIES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["error", "msg", "x"]), inner, max_size=3)
    ),
)


@given(st.binary() | BODIES.map(lambda body: json.dumps(body).encode()))
def test_any_body_has_words_or_none(body: bytes) -> None:
    assert isinstance(words(body), str)


@pytest.mark.parametrize("body", [b"<html>413</html>", b"[" * 50_000, b'{"error": "', b"\xff", b""], ids=range(5))
def test_a_body_that_is_no_json_has_none(body: bytes) -> None:
    assert words(body) == ""


HIDDEN = {
    "the key": f"Bearer {KEY} may not",
    "the address": "http://10.0.0.7:8080/v1/embeddings may not",
    "a bare address": "10.0.0.7:8080 may not",
    "a host": "vllm.internal may not",
    "a host in capitals": "VLLM.Internal may not",
    "a host and its port": "vllm.internal:8080 may not",
    "a name below a host": "node-2.vllm.internal: may not",
    "the host of the proxy": "squid:3128 may not",
}


@pytest.mark.parametrize("said", HIDDEN.values(), ids=HIDDEN)
def test_no_key_and_no_address_is_repeated(said: str) -> None:
    endpoint = Endpoint(url="http://vllm.internal:8080/v1", key=KEY, proxy="http://me:secret@squid:3128")
    refusal = Refusals(endpoint).of(413, json.dumps({"error": f"a {said}\n\x1b[31m" + "b" * 1000}).encode())
    for told in (str(refusal), refusal.of_any):
        assert "[hidden]" in told
        assert "may not" in told
        assert not any(secret in told.lower() for secret in (KEY, "10.0.0.7", "vllm", "8080", "squid", "3128"))
        assert told.isprintable()
        assert len(told) < 300


@pytest.mark.parametrize("host", ["fd00::7", "::1"])
def test_a_host_of_colons_is_hidden(host: str) -> None:
    refusals = Refusals(Endpoint(url=f"http://[{host}]:8080/v1"))
    for said in (host, f"[{host}]", f"[{host}]:8080"):
        assert refusals.of(413, json.dumps(f"at {said}: too long").encode()).args[0].endswith("at [hidden]: too long")


SHORT = {"a digit": "1", "a letter": "x", "a word": "max", "what a server ignores": "none"}


@pytest.mark.parametrize("short", SHORT.values(), ids=SHORT)
def test_what_is_short_does_not_spoil_the_words(short: str) -> None:
    said = "maximum 512 tokens, 1024 given: nonetheless max none x 1"
    refusal = Refusals(Endpoint(url="http://tok:8080/v1", key=short)).of(413, json.dumps(said).encode())
    assert str(refusal).endswith(f": {said}")


@pytest.fixture
def server() -> Iterator[Choosy]:
    with running(Choosy(), None) as choosy:
        yield choosy


def never(seconds: float) -> None:
    raise AssertionError(f"{seconds} s were to be slept before a refused call is made again")


@pytest.fixture
def encoder(server: Choosy) -> Iterator[RemoteEncoder]:
    """It has learnt its model, and the server's record of that is wiped."""
    endpoint = Endpoint(url=server.url, key=KEY, model="m")
    one = RemoteEncoder(endpoint, never)
    assert one.model.dimensions == 3
    server.asked.clear()
    yield one
    one.close()


@pytest.mark.parametrize("status", REFUSING)
def test_a_text_is_refused_in_the_words_of_the_server(status: int, server: Choosy, encoder: RemoteEncoder) -> None:
    server.status = status
    server.says = lambda asked: {"error": f"{asked.headers['authorization']} at {server.url} : 513 tokens, not 512"}
    with pytest.raises(TextRefused) as caught:
        vectors(encoder, ["a bad text"])
    wanted = (
        f"The embedding server refused the text (status {status}): Bearer [hidden] at [hidden] : 513 tokens, not 512"
    )
    assert (caught.value.detail, caught.value.headers) == (wanted, {})
    assert server.embedded == [["a bad text"]]


ODD = {
    "no JSON": Told(413, b"<html>at 10.0.0.7</html>"),
    "longer than anybody reads": Told(413, b'{"error": "' + b"a" * 100_000 + b'"}'),
    "compressed": Told(413, b'{"error": "x"}', {"Content-Encoding": "gzip"}),
}


@pytest.mark.parametrize("told", ODD.values(), ids=ODD)
def test_a_refusal_in_no_words_is_one(told: Told, server: Choosy, encoder: RemoteEncoder) -> None:
    server.script = [told]
    with pytest.raises(
        TextRefused, match=r"^The embedding server refused the text \(status 413\): it may be too long$"
    ):
        vectors(encoder, ["a"])
    assert server.embedded == [["a"]]


def test_a_refusal_is_held_against_a_text_if_another_was_taken_since_the_last(
    server: Choosy, encoder: RemoteEncoder
) -> None:
    for text in ("bad", "also bad"):
        with pytest.raises(TextRefused):
            vectors(encoder, [text])
    server.refuses = bool
    with pytest.raises(ModelUnavailable, match=r"refuses any text \(status 413\): 1 of them too long") as caught:
        vectors(encoder, ["good"])
    assert not isinstance(caught.value, TextRefused)
    assert int(caught.value.headers["Retry-After"]) >= 1
    assert server.embedded == [["bad"], ["also bad"], [PROBE], ["good"], [PROBE]]


def test_a_server_that_refuses_any_text_from_the_first_has_no_model(server: Choosy) -> None:
    server.refuses, server.status, server.says = bool, 400, lambda asked: {"error": {"message": "no model m"}}
    encoder = RemoteEncoder(Endpoint(url=server.url, model="m"), never)
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match=r"refuses any text \(status 400\): no model m") as caught:
            vectors(encoder, ["a", "b"])
        assert not isinstance(caught.value, TextRefused)
    assert server.embedded == [[PROBE]]
    encoder.close()


@pytest.mark.parametrize("bad", [{0}, {39}, {3, 4, 20}, set(range(20)), set(range(40))], ids=len)
def test_a_refused_text_takes_no_other_with_it(bad: set[int], server: Choosy, encoder: RemoteEncoder) -> None:
    texts = [f"bad {place}" if place in bad else f"good {place}" for place in range(40)]
    with batching(encoder, run_tokens=8192) as batcher:
        with busy(batcher, server):
            whole, *parts = [batcher.embed(some, soon()) for some in (texts, texts[:20], texts[20:])]
        made = whole.result(WAIT)
        first, second = (part.result(WAIT) for part in parts)
        assert batcher.fault is None
    assert made.faults.keys() == first.faults.keys() | {20 + place for place in second.faults} == bad
    assert all(isinstance(one, TextRefused) and "1 of them too long" in one.detail for one in made.faults.values())
    assert [row.any() for row in made.vectors] == [place not in bad for place in range(40)]
    asked = [texts for texts in server.embedded if texts != [PROBE]]
    assert len(asked[1]) == 32
    assert len(asked) <= 1 + 2 * (2 + min(len(bad) * math.ceil(math.log2(40)), 2 * 39))
    assert server.embedded.count([PROBE]) <= len(asked)


@contextmanager
def busy(batcher: Batcher, server: Choosy) -> Iterator[None]:
    """The one worker waits for the server meanwhile; what was asked for goes out together once this ends."""
    server.arrived.clear()
    gate = Event()
    server.script = [Told(body=lambda asked: echo(asked) if gate.wait(WAIT) else b"")]
    plug = batcher.embed(["plug"], soon())
    assert server.arrived.wait(WAIT)
    yield
    gate.set()
    plug.result(WAIT)


def test_a_server_that_refuses_any_text_is_found_out_in_a_few_calls(server: Choosy, encoder: RemoteEncoder) -> None:
    with batching(encoder, run_tokens=8192) as batcher:
        assert not batcher.embed(["good"], soon()).result(WAIT).faults
        server.refuses = bool
        made = batcher.embed([f"t{place}" for place in range(32)], soon()).result(WAIT)
        assert len(made.faults) == 32
        assert not any(isinstance(fault, TextRefused) for fault in made.faults.values())
        assert len(server.embedded) <= 1 + 5
        assert isinstance(batcher.fault, ModelUnavailable)
        server.refuses = lambda text: False
        assert not batcher.embed(["t0"], soon()).result(WAIT).faults
        assert batcher.fault is None
