"""Texts of all callers to one model: each distinct text once, in runs of like length, by a few threads."""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from math import inf
from threading import TIMEOUT_MAX, Condition, RLock, Thread
from time import perf_counter

from msgspec import structs

from service.core.errors import ModelUnavailable, Overloaded, ServiceError, TextRefused
from service.core.ports import Embedded, Figures, Model, Reading
from service.embedding.cache import Cache, Made
from service.embedding.encoder import Encoder
from service.embedding.orders import Order, Tally
from service.embedding.pool import Entry, Pool
from service.embedding.portions import portions

log = logging.getLogger("scorewright.embedding")

CLOSING_SECONDS = 5.0
REST_AFTER_SECONDS = 1.0
"""After so long without work the memory that only runs need is given back."""
_PROBE = "Does the model answer?"
_UNKNOWN = "The model has not answered yet"
_CLOSED = "The model is closed: the service is about to stop"


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
        self._queue_texts = queue_texts
        self._cache = Cache(cache_texts)
        self._pool = Pool(run_tokens, run_cells)
        self._errands: deque[Callable[[], None]] = deque()
        self._entries: dict[str, Entry] = {}
        self._orders: set[Order | Tally] = set()
        """What is not answered. Whoever takes one out answers it, and from then on nothing changes it."""
        self._figures = Figures()
        self._has_run = False
        self._is_tired = False
        self._closed = False
        self._lock = RLock()
        self._work_there = Condition(self._lock)
        self._clock = Condition(self._lock)
        self._threads = [Thread(target=self._work, name=f"embedding-{n}", daemon=True) for n in range(workers)]
        self._threads.append(Thread(target=self._keep_time, name="embedding-clock", daemon=True))
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
            if self._fault is not None and not self._learning and not self._closed:
                self._learning = True
                self._add_errand(self._learn)
            return self._fault

    @property
    def figures(self) -> Figures:
        """What has been done so far."""
        with self._lock:
            return structs.replace(self._figures, waiting=len(self._entries), cached=len(self._cache))

    def embed(self, texts: Sequence[str], deadline: float) -> Future[Embedded]:
        """The vectors of texts, in their order."""
        order = Order(texts, deadline)
        with self._lock:
            self._refuse_if_closed()
            self._place(order)
            is_known = order not in self._orders
        if is_known:
            order.settle()
        return order.future

    def count(self, texts: Sequence[str], deadline: float) -> Future[list[int]]:
        """How many tokens each text has, without the special ones."""
        tally = Tally(texts, deadline)
        with self._lock:
            self._refuse_if_closed()
            self._orders.add(tally)
            self._add_errand(partial(self._count, tally))
            self._clock.notify()
        return tally.future

    def close(self) -> None:
        """Stop once the runs under way have ended or CLOSING_SECONDS are over; whoever still waits is told so."""
        with self._lock:
            self._closed = True
            self._work_there.notify_all()
            self._clock.notify_all()
        self._encoder.close()
        give_up = perf_counter() + CLOSING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, give_up - perf_counter()))
        with self._lock:
            left, self._orders = self._orders, set()
            self._entries.clear()
        for one in left:
            one.end(ModelUnavailable(_CLOSED))

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ModelUnavailable(_CLOSED)

    def _learn(self) -> None:
        """Find out whether the model answers, and which it is."""
        try:
            self._encoder.run(self._encoder.prepare([_PROBE]))
            self._model, self._fault = self._encoder.model, None
        except BaseException as exc:
            self._fault = _fault_of(exc)
        self._learning = False

    def _place(self, order: Order) -> None:
        """Answer from the cache what is there, join what is on its way, queue the rest."""
        known = {text: made for text in order.waiting if (made := self._cache.get(text)) is not None}
        unknown = [text for text in order.waiting if text not in known]
        fresh = [text for text in unknown if text not in self._entries]
        if fresh and self._entries and len(self._entries) + len(fresh) > self._queue_texts:
            told = f"{len(self._entries):,} texts wait for the model already (queue_texts at /v1/limits)"
            raise Overloaded(told, {"Retry-After": "1"})
        for text, made in known.items():
            order.take(text, made)
        self._figures.cache_hits += len(known)
        self._figures.cache_misses += len(unknown)
        for text in set(unknown).difference(fresh):
            self._pool.join(self._entries[text], order)
        self._entries.update((text, Entry(text, order)) for text in fresh)
        if unknown:
            parts = deque([self._entries[text] for text in part] for part in portions(unknown))
            self._add_errand(partial(self._prepare, parts))
            self._orders.add(order)
            self._clock.notify()

    def _add_errand(self, errand: Callable[[], None]) -> None:
        self._errands.append(errand)
        self._work_there.notify()

    def _work(self) -> None:
        while (task := self._next_task()) is not None:
            task()
            del task  # a thread that waits would keep the last callers' answers alive

    def _next_task(self) -> Callable[[], None] | None:
        """What a free thread does: an errand and a run by turns, so that neither waits for all of the other."""
        with self._lock:
            while not self._closed:
                if self._errands and (self._has_run or not len(self._pool)):
                    self._has_run = False
                    return self._errands.popleft()
                if run := self._wanted(self._pool.take()) if len(self._pool) else []:
                    self._has_run = True
                    return partial(self._run, run)
                if self._errands or len(self._pool):
                    continue
                if not self._work_there.wait(REST_AFTER_SECONDS if self._is_tired else None) and self._is_tired:
                    self._is_tired = False
                    return self._encoder.rest
        return None

    def _wanted(self, entries: list[Entry]) -> list[Entry]:
        """Those that somebody waits for; the others are dropped."""
        with self._lock:
            wanted = [entry for entry in entries if entry.is_wanted]
            for entry in set(entries).difference(wanted):
                self._entries.pop(entry.text, None)
        return wanted

    def _prepare(self, parts: deque[list[Entry]]) -> None:
        """Make some of an order's texts ready; the others wait behind the other orders'."""
        with self._lock:
            some = parts.popleft()
            if parts:
                self._add_errand(partial(self._prepare, parts))
            entries = self._wanted([entry for entry in some if not entry.is_claimed])
            for entry in some:
                entry.is_claimed = True
        try:
            prepared = self._encoder.prepare([entry.text for entry in entries])
            ready = list(zip(entries, prepared, strict=True))
        except BaseException as exc:  # a panic of the tokenizer is no Exception
            self._refuse(entries, _fault_of(exc))
            return
        with self._lock:
            for entry, one in ready:
                self._pool.add(entry, one)
            self._work_there.notify_all()

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
            self._refuse(entries, self._fault)
        else:
            self._model, self._fault = self._model or self._encoder.model, None
            seconds, waited = perf_counter() - began, sum(began - entry.since for entry in entries)
            with self._lock:
                self._is_tired = True
                self._figures.add_run(readings, max(one.length for one in prepared), seconds, waited)
            self._finish(made)

    def _split(self, entries: list[Entry], fault: TextRefused) -> None:
        """Find out which of several texts it was: the others are not to suffer."""
        if len(entries) == 1:
            self._refuse(entries, fault)
            return
        for half in (entries[::2], entries[1::2]):
            if wanted := self._wanted(half):
                self._run(wanted)

    def _finish(self, made: Mapping[Entry, Made]) -> None:
        with self._lock:
            for entry, one in made.items():
                self._cache.put(entry.text, one)
                self._entries.pop(entry.text, None)
                for order in self._unanswered(entry):
                    order.take(entry.text, one)
        self._settle(made)

    def _refuse(self, entries: list[Entry], fault: ServiceError) -> None:
        with self._lock:
            for entry in entries:
                self._entries.pop(entry.text, None)
                for order in self._unanswered(entry):
                    order.refuse(entry.text, fault)
        self._settle(entries)

    def _unanswered(self, entry: Entry) -> list[Order]:
        return [order for order in entry.orders if order in self._orders]

    def _settle(self, entries: Iterable[Entry]) -> None:
        """Answer orders of which everything is known; not under the lock, for their callers act at once."""
        with self._lock:
            complete = {order for entry in entries for order in self._unanswered(entry) if order.is_complete}
            self._orders -= complete
        for order in complete:
            order.settle()

    def _keep_time(self) -> None:
        """Answer orders whose time is up with what there is."""
        while True:
            with self._lock:
                if self._closed:
                    return
                over = {order for order in self._orders if order.is_over}
                self._orders -= over
                if not over:
                    soonest = min((order.deadline for order in self._orders), default=inf)
                    self._clock.wait(min(soonest - perf_counter(), TIMEOUT_MAX))
            while over:
                over.pop().settle()

    def _count(self, tally: Tally) -> None:
        if tally.is_over:
            return
        try:
            tally.go_on(self._encoder.count)
        except BaseException as exc:
            tally.fail(_fault_of(exc))
        with self._lock:
            if tally.future.done():
                self._orders.discard(tally)
            else:
                self._add_errand(partial(self._count, tally))


def _fault_of(exc: BaseException) -> ServiceError:
    """What to tell of a failure; what nobody foresaw is logged."""
    if isinstance(exc, ServiceError):
        return exc
    log.error("the model failed", exc_info=exc)
    return ModelUnavailable("The model failed; this is a fault of the service")
