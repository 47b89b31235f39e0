"""The embedder that the settings ask for."""

import logging
import os
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NoReturn

import msgspec
from msgspec import structs

from service.config import ConfigError, Settings
from service.core.errors import ModelUnavailable
from service.core.ports import Embedded, Embedder, Figures
from service.embedding import weights
from service.embedding.batcher import Batcher
from service.embedding.hashing import HashingEncoder
from service.embedding.layout import Options
from service.embedding.local import LocalEncoder, load, load_default

log = logging.getLogger("scorewright.embedding")

SERVER_WORKERS = 8
SERVER_RUN_TOKENS = 8192

RUN_CELLS = 256 * 256
"""Attention of one text of 256 tokens, or of four of 128: more is slower on a CPU, and takes more memory."""


class NoModel:
    """Implements `core.ports.Embedder` where there is nothing to embed with; `fault` says why and what to do."""

    def __init__(self, fault: ModelUnavailable) -> None:
        self.fault = fault
        self.figures = Figures()

    @property
    def model(self) -> NoReturn:
        """ModelUnavailable, always."""
        raise ModelUnavailable(self.fault.detail)

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:  # noqa: ARG002
        """ModelUnavailable, always."""
        raise ModelUnavailable(self.fault.detail)

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:  # noqa: ARG002
        """ModelUnavailable, always."""
        raise ModelUnavailable(self.fault.detail)

    def close(self) -> None:
        """Nothing is held."""


def embedder_of(settings: Settings) -> Embedder:
    """What embeds texts. ConfigError where the settings make no sense; without a model, one that says so when asked."""
    if settings.embedder == "openai":
        return _remote(settings)
    if settings.embedder == "hashing":
        return _run_here(HashingEncoder(), settings)
    try:
        return _run_here(_local(settings), settings, weights.MINILM.tau if settings.model_dir is None else None)
    except ModelUnavailable as fault:
        log.warning("no embedding model: %s", fault.detail)
        return NoModel(fault)


def default_directory(settings: Settings) -> Path:
    """Where the default model's files are, or would be."""
    return Path(settings.data_dir) / "models" / weights.MINILM.name


def _run_here(encoder: LocalEncoder | HashingEncoder, settings: Settings, tau: float | None = None) -> Batcher:
    own = settings.embedding
    return Batcher(
        encoder,
        model=structs.replace(encoder.model, tau=tau if own.tau is None else own.tau),
        workers=own.workers or len(os.sched_getaffinity(0)),
        run_tokens=own.run_tokens,
        run_cells=RUN_CELLS,
        queue_texts=settings.limits.queue_texts,
        cache_texts=own.cache_texts,
    )


def _local(settings: Settings) -> LocalEncoder:
    own = settings.embedding
    options = Options(
        id=own.name,
        model_file=own.model_file,
        max_tokens=own.max_tokens,
        prompt=own.prompt,
        dimensions=own.dimensions,
        threads=own.threads,
        providers=own.providers,
    )
    if settings.model_dir is not None:
        return load(Path(settings.model_dir), options)
    return load_default(default_directory(settings), options)


def _remote(settings: Settings) -> Embedder:
    from service.embedding.remote import RemoteEncoder  # noqa: PLC0415 - few have a server, and httpx takes 5 MB
    from service.embedding.remote_endpoint import Endpoint  # noqa: PLC0415

    own = settings.embedding
    if settings.embedder_url is None:
        raise ConfigError(
            "SCOREWRIGHT_EMBEDDER=openai needs SCOREWRIGHT_EMBEDDER_URL, such as http://127.0.0.1:9000/v1"
        )
    try:
        endpoint = msgspec.convert(
            {
                "url": settings.embedder_url,
                "model": settings.embedder_model,
                "key": settings.embedder_api_key,
                "connect_seconds": own.connect_seconds,
                "read_seconds": own.read_seconds,
                "total_seconds": own.total_seconds,
                "tries": own.tries,
                "texts_per_call": own.texts_per_call,
                "tau": own.tau,
                "proxy": own.proxy,
            },
            Endpoint,
        )
    except (msgspec.ValidationError, ValueError) as exc:
        raise ConfigError(f"SCOREWRIGHT_EMBEDDER=openai: {exc}") from None
    return Batcher(
        RemoteEncoder(endpoint),
        workers=own.workers or SERVER_WORKERS,
        run_tokens=SERVER_RUN_TOKENS,
        queue_texts=settings.limits.queue_texts,
        cache_texts=own.cache_texts,
    )
