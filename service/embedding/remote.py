"""An embedder behind an OpenAI-compatible server: text-embeddings-inference, vLLM, ollama, OpenAI and others."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import ceil
from threading import Lock
from time import monotonic
from typing import NoReturn

import httpx
import msgspec
import numpy as np

from service.core.errors import ModelUnavailable, TextRefused
from service.core.ports import Matrix, Model
from service.embedding.encoder import Prepared
from service.embedding.remote_calls import Caller, Passing
from service.embedding.remote_endpoint import Endpoint
from service.embedding.remote_refusals import REFUSING, Refusals, Refused
from service.embedding.remote_replies import RemoteFault, first_model, vectors

PROBE = "How long are your vectors?"
UNLISTED = "default"
"""The model asked for where the server lists none."""
CHARACTERS_PER_TOKEN = 4
MAX_RETRY_AFTER = 3600
PAUSE_SECONDS = 5.0
"""How long nobody asks again for the model after the server failed to tell."""

_LOG = logging.getLogger(__name__)
_SURROGATE = re.compile("[\ud800-\udfff]")


class RemoteEncoder:
    """Asks a server for vectors; safe to use from several threads. Implements `embedding.encoder.Encoder`.

    The server may come and go: whatever it does ends in vectors of length 1 or in ModelUnavailable. A refusal is held
    against the texts, as TextRefused, only if the server has taken another since it last refused one, or takes one
    when asked.
    """

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] | None = None) -> None:
        self._endpoint = endpoint
        self._caller = Caller(endpoint, sleep)
        self._refusals = Refusals(endpoint)
        self._has_taken = False
        """Since the last refusal it has taken a text."""
        self._probing = Lock()
        self._model: Model | None = None
        self._failure = ModelUnavailable("The embedding server has not been asked yet")
        self._quiet_until = 0.0

    @property
    def model(self) -> Model:
        """The model, once the server has told how long its vectors are.

        Until it has, each look asks it, one thread at a time and not within PAUSE_SECONDS of a failure. A look may
        thus last as long as two calls.
        """
        with self._probing:
            if self._model is None:
                self._model = self._probed()
            return self._model

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """The texts as they are sent; lengths are guesses, for nobody knows the server's tokens.

        Half a surrogate pair becomes U+FFFD, and an empty text a space, since many servers refuse it.
        """
        sent = [_SURROGATE.sub("\ufffd", text) or " " for text in texts]
        return [Prepared(text, (), len(text) // CHARACTERS_PER_TOKEN + 1, tokens=0, read=0) for text in sent]

    def run(self, prepared: Sequence[Prepared]) -> Matrix:
        """(texts, dimensions): their vectors, asked for in calls of `texts_per_call`."""
        model = self.model
        step = self._endpoint.texts_per_call
        texts = [one.text for one in prepared]
        with self._told():
            parts = [self._taken(model.id, texts[start : start + step]) for start in range(0, len(texts), step)]
        for part in parts:
            _require_dimensions(part.shape[1], model.dimensions)
        return np.concatenate([np.empty((0, model.dimensions), np.float32), *parts])

    def count(self, texts: Sequence[str]) -> NoReturn:
        """ModelUnavailable: the tokens are the server's own business."""
        raise ModelUnavailable(
            f"The tokens of {len(texts)} texts cannot be counted: a remote embedder has no tokenizer here"
        )

    def rest(self) -> None:
        """Connections are kept."""

    def close(self) -> None:
        """Drop every connection; later calls end in ModelUnavailable."""
        self._caller.close()

    def _probed(self) -> Model:
        if monotonic() < self._quiet_until:
            raise ModelUnavailable(self._failure.detail, self._failure.headers)
        try:
            name = self._endpoint.model or self._listed()
            with self._told():
                dimensions = self._probe(name).shape[1]
        except ModelUnavailable as fault:
            self._failure = fault
            self._quiet_until = monotonic() + PAUSE_SECONDS
            raise
        identity = msgspec.json.encode([self._endpoint.url.rstrip("/"), name, dimensions])
        digest = sha256(identity).hexdigest()
        return Model(id=name, fingerprint=digest, dimensions=dimensions, tau=self._endpoint.tau)

    def _listed(self) -> str:
        with self._told():
            answer = self._caller.call("GET", "/models")
        return (first_model(answer.body) if answer.status == 200 else None) or UNLISTED

    def _taken(self, name: str, texts: list[str]) -> Matrix:
        """The vectors of texts. TextRefused where the server takes a text, but not these; else RemoteFault."""
        try:
            return self._embed(name, texts)
        except Refused as refusal:
            if not self._has_taken:
                self._probe(name)
            self._has_taken = False
            raise TextRefused(str(refusal)) from None

    def _probe(self, name: str) -> Matrix:
        """The vector of a text that nobody has reason to refuse. RemoteFault where there is none."""
        try:
            return self._embed(name, [PROBE])
        except Refused as refusal:
            raise RemoteFault(refusal.of_any) from None

    def _embed(self, name: str, texts: list[str]) -> Matrix:
        body = msgspec.json.encode({"model": name, "input": texts, "encoding_format": "float"})
        answer = self._caller.call("POST", "/embeddings", body)
        if answer.status in REFUSING:
            raise self._refusals.of(answer.status, answer.body)
        if answer.status != 200:
            raise RemoteFault(_failure(answer.status))
        found = vectors(answer.body, len(texts))
        self._has_taken = True
        return found

    @contextmanager
    def _told(self) -> Iterator[None]:
        """A fault in full for the log; for callers, what they may know of it."""
        try:
            yield
        except RemoteFault as fault:
            cause = fault.__cause__
            _LOG.warning("%s [%s] %s", fault, httpx.URL(self._endpoint.url).netloc.decode(), cause or "")
            after = ceil(fault.after) if isinstance(fault, Passing) else 0
            wait = min(max(after, ceil(PAUSE_SECONDS), 1), MAX_RETRY_AFTER)
            raise ModelUnavailable(str(fault), {"Retry-After": str(wait)}) from None


def _require_dimensions(found: int, known: int) -> None:
    # Vectors of two models must never meet in one comparison or one cache, so nothing adapts to the change.
    if found != known:
        raise ModelUnavailable(
            f"The embedding server's vectors have {found} dimensions and had {known} at first: restart the service"
            " if its model was meant to change"
        )


def _failure(status: int) -> str:
    if 300 <= status < 400:
        return f"The embedding server redirects to another address (status {status}), and nobody follows"
    if status in (401, 403):
        return f"The embedding server does not accept the service's key (status {status})"
    if status == 404:
        return "The embedding server knows no such model or no such path (status 404)"
    return f"The embedding server answered with status {status}"
