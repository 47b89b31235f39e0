"""Who waits for which text, and what becomes of it."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from threading import TIMEOUT_MAX, Condition, RLock
from time import perf_counter

from msgspec import structs

from service.core.errors import ModelUnavailable, Overloaded, ServiceError
from service.core.ports import Figures
from service.embedding.cache import Cache, Made
from service.embedding.encoder import Prepared
from service.embedding.orders import Order, Tally
from service.embedding.pool import Entry, Pool
from service.embedding.portions import portions

CLOSED = "The model is closed: the service is about to stop"


class Ledger:
    """Every text that callers wait for, once, and every caller that is not answered; safe to use from any thread.

    Past `queue_texts` waiting texts new ones are refused, unless nothing waits. Callers are answered outside `lock`,
    for they act at once.
    """

    def __init__(self, lock: RLock, pool: Pool, cache: Cache, queue_texts: int) -> None:
        self._lock = lock
        self._pool = pool
        self._cache = cache
        self._queue_texts = queue_texts
        self._entries: dict[str, Entry] = {}
        self._orders: set[Order | Tally] = set()
        """What is not answered. Whoever takes one out answers it, and from then on nothing changes it."""
        self._figures = Figures()
        self._closed = False
        self._clock = Condition(lock)

    @property
    def figures(self) -> Figures:
        """What has been done so far."""
        with self._lock:
            return structs.replace(self._figures, waiting=len(self._entries), cached=len(self._cache))

    def place(self, order: Order) -> deque[list[Entry]]:
        """Answer from the cache what is there, join what is on its way; what is left to make ready, by portions.

        Where nothing is left, it is for the caller of this to settle the order. ModelUnavailable once this is closed.
        """
        with self._lock:
            self._require_open()
            known = {text: made for text in order.waiting if (made := self._cache.get(text)) is not None}
            unknown = [text for text in order.waiting if text not in known]
            fresh = [text for text in unknown if text not in self._entries]
            self._require_room(len(fresh))
            for text, made in known.items():
                order.take(text, made)
            self._figures.cache_hits += len(known)
            self._figures.cache_misses += len(unknown)
            for text in set(unknown).difference(fresh):
                self._pool.join(self._entries[text], order)
            self._entries.update((text, Entry(text, order)) for text in fresh)
            if not unknown:
                return deque()
            self.add(order)
            return deque([self._entries[text] for text in part] for part in portions(unknown))

    def add(self, order: Order | Tally) -> None:
        """Answer it when its time is up, unless it is answered before. ModelUnavailable once this is closed."""
        with self._lock:
            self._require_open()
            self._orders.add(order)
            self._clock.notify()

    def discard(self, tally: Tally) -> None:
        """Forget a tally that has been answered."""
        with self._lock:
            self._orders.discard(tally)

    def claim(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those that the caller of this is to make ready: nobody else does, and somebody waits for them."""
        with self._lock:
            unclaimed = [entry for entry in entries if not entry.is_claimed]
            for entry in unclaimed:
                entry.is_claimed = True
            return self.wanted(unclaimed)

    def make_ready(self, ready: Iterable[tuple[Entry, Prepared]]) -> None:
        """Have texts run."""
        with self._lock:
            for entry, prepared in ready:
                self._pool.add(entry, prepared)

    def next_run(self) -> list[Entry]:
        """The texts of the next run, none where nothing is ready that somebody waits for."""
        with self._lock:
            while len(self._pool):
                if run := self.wanted(self._pool.take()):
                    return run
        return []

    def wanted(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those that somebody waits for; the others are dropped."""
        with self._lock:
            wanted = [entry for entry in entries if entry.is_wanted]
            for entry in set(entries).difference(wanted):
                self._entries.pop(entry.text, None)
        return wanted

    def count_run(self, made: Mapping[Entry, Made], began: float) -> None:
        """Count a run that has just ended."""
        seconds, waited = perf_counter() - began, sum(began - entry.since for entry in made)
        longest = max(entry.key[0] for entry in made)
        with self._lock:
            self._figures.add_run([one.reading for one in made.values()], longest, seconds, waited)

    def finish(self, made: Mapping[Entry, Made]) -> None:
        """Texts have their vectors."""
        with self._lock:
            for entry, one in made.items():
                self._cache.put(entry.text, one)
                self._entries.pop(entry.text, None)
                for order in self._unanswered(entry):
                    order.take(entry.text, one)
        self._settle(made)

    def refuse(self, entries: Sequence[Entry], fault: ServiceError) -> None:
        """Texts will have none."""
        with self._lock:
            for entry in entries:
                self._entries.pop(entry.text, None)
                for order in self._unanswered(entry):
                    order.refuse(entry.text, fault)
        self._settle(entries)

    def keep_time(self) -> None:
        """Answer orders whose time is up with what there is, until this is closed."""
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

    def close(self) -> None:
        """Take no more orders."""
        with self._lock:
            self._closed = True
            self._clock.notify_all()

    def fail_rest(self) -> None:
        """Tell whoever still waits that nothing will come of it."""
        with self._lock:
            left, self._orders = self._orders, set()
            self._entries.clear()
        for one in left:
            one.end(ModelUnavailable(CLOSED))

    def _require_open(self) -> None:
        if self._closed:
            raise ModelUnavailable(CLOSED)

    def _require_room(self, fresh: int) -> None:
        if fresh and self._entries and len(self._entries) + fresh > self._queue_texts:
            told = f"{len(self._entries):,} texts wait for the model already (queue_texts at /v1/limits)"
            raise Overloaded(told, {"Retry-After": "1"})

    def _unanswered(self, entry: Entry) -> list[Order]:
        return [order for order in entry.orders if order in self._orders]

    def _settle(self, entries: Iterable[Entry]) -> None:
        """Answer orders of which everything is known."""
        with self._lock:
            complete = {order for entry in entries for order in self._unanswered(entry) if order.is_complete}
            self._orders -= complete
        for order in complete:
            order.settle()
