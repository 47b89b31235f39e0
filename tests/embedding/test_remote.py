import gzip
import itertools
import logging
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import msgspec
import numpy as np
import pytest

from service.core.errors import ModelUnavailable
from service.core.ports import Matrix
from service.embedding import remote, remote_calls
from service.embedding.encoder import Encoder
from service.embedding.remote import RemoteEncoder
from service.embedding.remote_endpoint import Endpoint
from tests.embedding.serving import RIGHT, Server, Told, base64_of, certified, data, serving, vector_of

KEY = "sk-not-to-be-seen"
Make = Callable[..., RemoteEncoder]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def naps() -> list[float]:
    """How long was slept between tries: nobody sleeps here."""
    return []


@pytest.fixture
def make(server: Server, naps: list[float], monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """An encoder of the server, with settings of its own; one that has failed is asked again at once."""
    monkeypatch.setattr(remote, "PAUSE_SECONDS", 0)
    made = []

    def encoder(**settings: object) -> RemoteEncoder:
        endpoint = msgspec.convert({"url": server.url, "key": KEY} | settings, Endpoint)
        made.append(RemoteEncoder(endpoint, naps.append))
        return made[-1]

    yield encoder
    for one in made:
        one.close()


def embed(encoder: Encoder, *texts: str) -> Matrix:
    return encoder.run(encoder.prepare(texts))


def unit(*texts: str) -> Matrix:
    rows = np.array([vector_of(text) for text in texts])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)


def known(make: Make, server: Server, **settings: object) -> RemoteEncoder:
    """An encoder that has learnt its model, the server's record of that wiped."""
    encoder = make(**settings)
    assert encoder.model.dimensions == 3
    server.asked.clear()
    return encoder


def test_vectors_have_length_1_and_the_order_of_the_texts(make: Make, server: Server) -> None:
    got = embed(make(), "one", "three", "fifteen")
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, unit("one", "three", "fifteen"), atol=1e-7)


def test_a_run_is_one_call_or_as_many_as_texts_per_call_asks(make: Make, server: Server) -> None:
    encoder = known(make, server, texts_per_call=2)
    np.testing.assert_allclose(embed(encoder, *"abcde"), unit(*"abcde"), atol=1e-7)
    assert server.embedded == [["a", "b"], ["c", "d"], ["e"]]
    assert embed(encoder).shape == (0, 3)


def test_what_is_sent(make: Make, server: Server) -> None:
    embed(make(model="mine"), "a text")
    last = server.asked[-1]
    assert (last.method, last.path) == ("POST", "/v1/embeddings")
    assert last.json == {"model": "mine", "input": ["a text"], "encoding_format": "float"}
    wanted = {"authorization": f"Bearer {KEY}", "accept-encoding": "identity"}
    assert wanted.items() <= last.headers.items()
    embed(make(key=None, url=server.url + "/"), "a text")
    assert "authorization" not in server.asked[-1].headers
    assert server.asked[-1].path == "/v1/embeddings"


def test_texts_are_made_fit_to_send(make: Make, server: Server) -> None:
    prepared = make().prepare(["", "a\ud800b", "\U0001f600" * 9])
    assert [one.text for one in prepared] == [" ", "a\ufffdb", "\U0001f600" * 9]
    assert [(one.length, one.tokens, one.read) for one in prepared] == [(1, 0, 0), (1, 0, 0), (3, 0, 0)]


def test_tokens_are_not_counted(make: Make) -> None:
    with pytest.raises(ModelUnavailable, match="no tokenizer"):
        make().count(["a"])


WRONG = {
    "too few": (data([[1, 2, 3]]), "1 vectors for 2 texts"),
    "other lengths than before": (data([[1, 2]] * 2), "have 2 dimensions and had 3 at first"),
    "base64 of NaN": (data([base64_of(1, 2, float("nan")), [1, 2, 3]]), "not finite"),
    "no JSON": (b"<html>busy</html>", "no JSON"),
    "an error under 200": (b'{"error": {"message": "at 10.0.0.7"}}', "an error in place of vectors"),
}


@pytest.mark.parametrize(("body", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_no_vector(body: bytes, sentence: str, make: Make, server: Server, naps: list[float]) -> None:
    encoder = known(make, server)
    server.script = [Told(body=body)]
    with pytest.raises(ModelUnavailable, match=sentence):
        embed(encoder, "a", "b")
    assert naps == []
    np.testing.assert_allclose(embed(encoder, "a"), unit("a"), atol=1e-7)


REFUSED = {
    302: "redirects",
    400: "refused the text ",
    401: "key",
    403: "key",
    404: "no such model",
    413: "too long",
    422: "too long",
    500: "status 500",
    204: "status 204",
}


@pytest.mark.parametrize(("status", "sentence"), REFUSED.items())
def test_a_refusal_is_told_and_not_tried_again(status: int, sentence: str, make: Make, server: Server) -> None:
    encoder = known(make, server)
    server.script = [Told(status, b"at 10.0.0.7", {"Location": f"{server.url}/elsewhere"})]
    with pytest.raises(ModelUnavailable, match=sentence) as caught:
        embed(encoder, "a")
    assert "10.0.0.7" not in caught.value.detail
    assert len(server.asked) == 1


PASSING = {
    "429": Told(429),
    "502": Told(502),
    "503": Told(503),
    "504": Told(504),
    "hangs up": Told(hang_up=True),
    "ends early": Told(body=data([[1]]), headers={"Content-Length": "9999"}),
}


@pytest.mark.parametrize("told", PASSING.values(), ids=PASSING)
def test_what_passes_is_tried_again(told: Told, make: Make, server: Server, naps: list[float]) -> None:
    encoder = known(make, server)
    server.script = [told, told]
    np.testing.assert_allclose(embed(encoder, "a"), unit("a"), atol=1e-7)
    assert len(server.asked) == 3
    assert len(naps) == 2


@pytest.mark.parametrize("told", PASSING.values(), ids=PASSING)
def test_tries_end(told: Told, make: Make, server: Server, naps: list[float]) -> None:
    encoder = known(make, server)
    server.script = [told] * 4
    with pytest.raises(ModelUnavailable) as caught:
        embed(encoder, "a")
    assert int(caught.value.headers["Retry-After"]) >= 1
    assert len(server.asked) == 3
    assert len(naps) == 2
    assert len(server.script) == 1


@pytest.mark.parametrize(("header", "least"), [("0", 0), ("1", 1), ("7", 7), ("soon", 0), ("-3", 0), ("9" * 5000, 0)])
def test_retry_after_is_honoured(header: str, least: float, make: Make, server: Server, naps: list[float]) -> None:
    encoder = known(make, server)
    server.script = [Told(429, headers={"Retry-After": header})]
    embed(encoder, "a")
    assert len(naps) == 1
    assert least <= naps[0] <= least + 0.25


def test_nobody_waits_past_the_end(make: Make, server: Server, naps: list[float]) -> None:
    encoder = known(make, server)
    server.script = [Told(503, headers={"Retry-After": "30"})]
    with pytest.raises(ModelUnavailable, match="not ready") as caught:
        embed(encoder, "a")
    assert caught.value.headers == {"Retry-After": "30"}
    assert naps == []


def test_a_server_that_says_nothing_is_left(make: Make, server: Server) -> None:
    server.script = [Told(hold=True)] * 3
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        embed(make(model="m", read_seconds=0.05), "a")
    assert len(server.asked) == 3


def test_a_server_that_never_ends_is_left(make: Make, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_calls, "REPLY_BYTES", 2**40)
    server.script = [Told(chunks=itertools.repeat(b" "))]
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        embed(make(model="m", total_seconds=0.5), "a")


def test_a_long_answer_is_not_read_to_its_end(make: Make, server: Server) -> None:
    encoder = known(make, server)
    server.script = [Told(chunks=itertools.repeat(b" " * 50_000))]
    with pytest.raises(ModelUnavailable, match="over 8,388,608 bytes"):
        embed(encoder, "a")


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br", "deflate, gzip"])
def test_a_compressed_answer_is_not_inflated(coding: str, make: Make, server: Server) -> None:
    encoder = known(make, server)
    server.script = [Told(body=gzip.compress(b" " * 10_000_000), headers={"Content-Encoding": coding})]
    with pytest.raises(ModelUnavailable, match="compressed"):
        embed(encoder, "a")


def test_the_model_is_known_after_the_first_call(make: Make, server: Server) -> None:
    encoder = make()
    assert encoder.model == encoder.model
    assert (encoder.model.id, encoder.model.dimensions, encoder.model.max_tokens) == ("first", 3, None)
    embed(encoder, "a")
    assert [asked.path for asked in server.asked] == ["/v1/models", "/v1/embeddings", "/v1/embeddings"]


def test_equal_fingerprints_mean_equal_address_name_and_dimensions(make: Make, server: Server) -> None:
    prints = [make(url=url, model=name).model.fingerprint for url in (server.url, server.url + "/") for name in "ab"]
    server.script = [Told(body=data([[1, 2]]))]
    assert prints[:2] == prints[2:]
    assert len({*prints, make(model="a").model.fingerprint}) == 3


UNLISTED = {
    "no such path": Told(404),
    "no JSON": Told(body=b"ok"),
    "none": Told(body=b'{"data": []}'),
    "no text": Told(body=b'{"data": [{"id": 5}]}'),
    "a page for a name": Told(body=b'{"data": [{"id": "' + b"x" * 201 + b'"}]}'),
    "endless nesting": Told(body=b'{"x": ' + b"[" * 100_000),
}


@pytest.mark.parametrize("listing", UNLISTED.values(), ids=UNLISTED)
def test_a_server_without_a_list_is_asked_for_the_default(listing: Told, make: Make, server: Server) -> None:
    server.listing = listing
    assert make().model.id == "default"
    assert server.asked[-1].json["model"] == "default"


def test_a_server_that_comes_up_late(make: Make, server: Server, naps: list[float]) -> None:
    server.listing = Told(503)
    encoder = make()
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="not ready"):
            embed(encoder, "a")
    server.listing = Told(404)
    assert embed(encoder, "a").shape == (1, 3)


def test_a_failed_look_is_not_repeated_at_once(make: Make, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.script = [Told(500)]
    encoder = make()
    monkeypatch.setattr(remote, "PAUSE_SECONDS", 3600)
    faults = []
    for look in (lambda: encoder.model, lambda: encoder.model, lambda: embed(encoder, "a")):
        with pytest.raises(ModelUnavailable, match="status 500") as caught:
            look()
        faults.append(caught.value.headers)
    assert faults == [{"Retry-After": "3600"}] * 3
    assert len(server.embedded) == 1


def test_nobody_is_there(make: Make, naps: list[float], caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(ModelUnavailable, match="cannot be reached") as caught:
        embed(make(url=f"http://127.0.0.1:{port}/v1"), "a")
    assert len(naps) == 2
    assert str(port) not in caught.value.detail
    assert "127.0.0.1" not in caught.value.detail
    assert f"127.0.0.1:{port}" in caplog.text


SPEAKING = [Told(401, KEY.encode()), Told(503), Told(hang_up=True), Told(body=f'{{"error": "{KEY}"}}'.encode())]


def test_the_key_is_in_no_error_log_or_repr(make: Make, server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    encoder = make(tries=1)
    server.script = list(SPEAKING)
    for _ in SPEAKING:
        with pytest.raises(ModelUnavailable) as caught:
            embed(encoder, "a")
        assert KEY not in repr(caught.value) + str(caught.value.headers)
    assert len(caplog.records) > len(SPEAKING)
    assert KEY not in caplog.text + repr(Endpoint(url=server.url, key=KEY))


def test_cookies_are_not_kept(make: Make, server: Server) -> None:
    encoder = known(make, server)
    server.script = [Told(body=RIGHT.body, headers={"Set-Cookie": "a=b; Path=/"})]
    embed(encoder, "a")
    embed(encoder, "a")
    assert "cookie" not in server.asked[-1].headers


def test_proxies_of_the_environment_do_not_count(make: Make, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, server.url.removesuffix("/v1"))
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        embed(make(url="http://127.0.0.1:1/v1", tries=1), "a")
    assert server.asked == []


def test_a_proxy_may_be_named(make: Make, server: Server) -> None:
    embed(make(url="http://127.0.0.1:1/v1", proxy=server.url.removesuffix("/v1")), "a")
    assert server.asked[-1].path == "http://127.0.0.1:1/v1/embeddings"


def test_a_certificate_that_nobody_vouches_for_is_refused(make: Make, tmp_path: Path) -> None:
    with serving(certified(tmp_path)) as secure:
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            embed(make(url=secure.url.replace("http:", "https:")), "a")
        assert secure.asked == []


def test_eight_threads_share_an_encoder(make: Make, server: Server) -> None:
    encoder = make()
    together = Barrier(8)

    def many(thread: int) -> None:
        together.wait()
        for turn in range(5):
            texts = [f"{thread} {turn} {'x' * number}" for number in range(thread + 1)]
            np.testing.assert_allclose(embed(encoder, *texts), unit(*texts), atol=1e-7)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(many, range(8)))
    assert len(server.asked) == 2 + 8 * 5


def test_connections_are_kept(make: Make, server: Server) -> None:
    opened = []
    accept = server.get_request
    server.get_request = lambda: opened.append(accept()) or opened[-1]  # type: ignore[method-assign, func-returns-value]
    encoder = make()
    for _ in range(5):
        embed(encoder, "a")
    assert len(opened) == 1


def test_a_closed_encoder_says_so(make: Make, server: Server) -> None:
    encoder = known(make, server)
    encoder.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        embed(encoder, "a")


CLOSED = {
    "for an answer": Told(hold=True),
    "for another try": Told(503, headers={"Retry-After": "3600"}),
}


@pytest.mark.parametrize("told", CLOSED.values(), ids=CLOSED)
def test_closing_ends_a_call_that_waits(told: Told, server: Server) -> None:
    encoder = RemoteEncoder(Endpoint(url=server.url, total_seconds=7200))
    assert encoder.model.dimensions == 3
    server.arrived.clear()
    server.script = [told]
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(embed, encoder, "a")
        assert server.arrived.wait(60)
        encoder.close()
        server.released.set()
        with pytest.raises(ModelUnavailable, match="closed"):
            call.result(60)
