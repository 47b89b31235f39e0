"""Texts of all callers to one model: each distinct text once, in runs of like length, by a few threads."""

import logging
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from threading import RLock, Thread
from time import perf_counter

from service.core.errors import ModelUnavailable, ServiceError, TextRefused
from service.core.ports import Embedded, Figures, Model, Reading
from service.embedding.cache import Cache, Made
from service.embedding.encoder import Encoder
from service.embedding.ledger import Ledger
from service.embedding.orders import Order, Tally
from service.embedding.pool import Entry, Pool
from service.embedding.turns import Task, Turns

log = logging.getLogger("scorewright.embedding")

CLOSING_SECONDS = 5.0
_PROBE = "Does the model answer?"
_UNKNOWN = "The model has not answered yet"


class Batcher:
    """Implements `core.ports.Embedder` over an Encoder.

    `model` is given where it is known before it is asked. `workers` threads share the encoder. `run_tokens` is the most
    that a run computes, padding included, `run_cells` the most numbers of one of its attention heads. Past
    `queue_texts` waiting texts new ones are refused, unless nothing waits.
    """

    def __init__(  # noqa: PLR0913
        self,
        encoder: Encoder,
        *,
        model: Model | None = None,
        workers: int,
        run_tokens: int,
        run_cells: int | None = None,
        queue_texts: int,
        cache_texts: int,
    ) -> None:
        self._encoder = encoder
        self._model = model
        self._fault: ServiceError | None = None if model else ModelUnavailable(_UNKNOWN, {"Retry-After": "1"})
        self._learning = False
        self._lock = RLock()
        self._ledger = Ledger(self._lock, Pool(run_tokens, run_cells), Cache(cache_texts), queue_texts)
        self._turns = Turns(self._lock, self._next_run, encoder.rest)
        self._threads = [Thread(target=self._work, name=f"embedding-{n}", daemon=True) for n in range(workers)]
        self._threads.append(Thread(target=self._ledger.keep_time, name="embedding-clock", daemon=True))
        for thread in self._threads:
            thread.start()

    @property
    def model(self) -> Model:
        """Whose vectors they are, at once; ModelUnavailable as long as that is not known, which a worker then asks."""
        with self._lock:
            if self._model is not None:
                return self._model
            fault = self.fault
        raise ModelUnavailable(fault.detail if fault else _UNKNOWN, fault.headers if fault else {})

    @property
    def fault(self) -> ServiceError | None:
        """Why nothing could be embedded when it was last tried; a worker then tries again."""
        with self._lock:
            if self._fault is not None and not self._learning:
                self._learning = True
                self._turns.add(self._learn)
            return self._fault

    @property
    def figures(self) -> Figures:
        """What has been done so far."""
        return self._ledger.figures

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:
        """The vectors of texts, in their order."""
        order = Order(texts, deadline)
        parts = self._ledger.place(order)
        if parts:
            self._turns.add(partial(self._prepare, parts))
        else:
            order.settle()
        return order.future

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:
        """How many tokens each text has, without the special ones."""
        tally = Tally(texts, deadline)
        self._ledger.add(tally)
        self._turns.add(partial(self._count, tally))
        return tally.future

    def close(self) -> None:
        """Stop once the runs under way have ended or CLOSING_SECONDS are over; whoever still waits is told so."""
        self._ledger.close()
        self._turns.close()
        self._encoder.close()
        give_up = perf_counter() + CLOSING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, give_up - perf_counter()))
        self._ledger.fail_rest()

    def _work(self) -> None:
        while (task := self._turns.next()) is not None:
            task()
            del task  # a thread that waits would keep the last callers' answers alive

    def _learn(self) -> None:
        """Find out whether the model answers, and which it is."""
        try:
            self._encoder.run(self._encoder.prepare([_PROBE]))
            self._model, self._fault = self._encoder.model, None
        except BaseException as exc:
            self._fault = _fault_of(exc)
        self._learning = False

    def _prepare(self, parts: deque[list[Entry]]) -> None:
        """Make some of an order's texts ready; the others wait behind the other orders'."""
        part = parts.popleft()
        if parts:
            self._turns.add(partial(self._prepare, parts))
        entries = self._ledger.claim(part)
        try:
            prepared = self._encoder.prepare([entry.text for entry in entries])
            ready = list(zip(entries, prepared, strict=True))
        except BaseException as exc:  # a panic of the tokenizer is no Exception
            self._ledger.refuse(entries, _fault_of(exc))
        else:
            self._ledger.make_ready(ready)
            self._turns.wake()

    def _next_run(self) -> Task | None:
        entries = self._ledger.next_run()
        return partial(self._run, entries) if entries else None

    def _run(self, entries: list[Entry]) -> None:
        began = perf_counter()
        prepared = [entry.prepared for entry in entries if entry.prepared is not None]
        try:
            vectors = self._encoder.run(prepared)
            readings = [Reading(one.tokens, one.read) for one in prepared]
            made = dict(zip(entries, map(Made, vectors, readings), strict=True))
        except TextRefused as fault:
            self._split(entries, fault)
        except BaseException as exc:
            self._fault = _fault_of(exc)
            self._ledger.refuse(entries, self._fault)
        else:
            self._model, self._fault = self._model or self._encoder.model, None
            self._turns.ran()
            self._ledger.count_run(made, began)
            self._ledger.finish(made)

    def _split(self, entries: list[Entry], fault: TextRefused) -> None:
        """Find out which of several texts it was: the others are not to suffer."""
        if len(entries) == 1:
            self._ledger.refuse(entries, fault)
            return
        for half in (entries[::2], entries[1::2]):
            if wanted := self._ledger.wanted(half):
                self._run(wanted)

    def _count(self, tally: Tally) -> None:
        """Count the tokens of some of the texts; the others wait behind other errands."""
        if tally.is_over:
            return
        try:
            tally.go_on(self._encoder.count)
        except BaseException as exc:
            tally.fail(_fault_of(exc))
        if tally.future.done():
            self._ledger.discard(tally)
        else:
            self._turns.add(partial(self._count, tally))


def _fault_of(exc: BaseException) -> ServiceError:
    """What to tell of a failure; what nobody foresaw is logged."""
    if isinstance(exc, ServiceError):
        return exc
    log.error("the model failed", exc_info=exc)
    return ModelUnavailable("The model failed; this is a fault of the service")
