"""Texts of all callers that are ready for the model, and which of them run together."""

from bisect import bisect_left, insort
from collections import OrderedDict
from heapq import heappop, heappush
from itertools import count
from operator import attrgetter
from time import perf_counter

from service.embedding.encoder import Prepared
from service.embedding.orders import Order

SLACK = 32
"""A text beside a longer one is shorter by at most this part of `run_tokens`: another run would cost less."""

ENOUGH = 4
"""A run that holds this part of `run_tokens` takes no shorter texts: it is as efficient as a full one."""

_BY_KEY = attrgetter("key")


class Entry:
    """A text that callers wait for; several may wait for the same one."""

    def __init__(self, text: str, order: Order) -> None:
        self.text = text
        self.orders = [order]
        self.is_claimed = False
        """Somebody makes it ready, or has, or has found that nobody waits for it."""
        self.prepared: Prepared | None = None
        self.since = 0.0
        self.key = 0, 0
        """Length, and a number that no other entry of the pool has."""

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return any(not order.is_over for order in self.orders)


class Pool:
    """Entries sorted by length. Callers take turns; what runs beside the one whose turn it is goes by length.

    So a large order delays a small one that comes later by little, and runs are of like length whoever asked.
    """

    def __init__(self, run_tokens: int, run_cells: int | None = None) -> None:
        self._run_tokens = run_tokens
        self._run_cells = run_cells
        self._slack = run_tokens // SLACK
        self._enough = run_tokens // ENOUGH
        self._by_length: list[Entry] = []
        self._turns: OrderedDict[Order, list[tuple[int, int, Entry]]] = OrderedDict()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._by_length)

    def add(self, entry: Entry, prepared: Prepared) -> None:
        """Put in a text that is ready."""
        entry.prepared, entry.since = prepared, perf_counter()
        entry.key = prepared.length, next(self._numbers)
        insort(self._by_length, entry, key=_BY_KEY)
        for order in entry.orders:
            self._give_turn(order, entry)

    def join(self, entry: Entry, order: Order) -> None:
        """One more caller waits for a text: it runs in the turn of whoever comes first."""
        entry.orders.append(order)
        if self._place(entry) is not None:
            self._give_turn(order, entry)

    def take(self) -> list[Entry]:
        """The texts of the next run: a caller's longest, with the nearest of anybody's that are no longer.

        Their number times the longest is at most `run_tokens`, and times its square at most `run_cells`, unless the one
        alone is longer.
        """
        place = self._next()
        longest, _ = self._by_length[place].key
        size = self._size(longest)
        end = place + 1
        while end < len(self._by_length) and end - place < size and self._by_length[end].key[0] == longest:
            end += 1
        start = max(0, end - size, self._first_like(end, longest))
        taken = self._by_length[start:end]
        del self._by_length[start:end]
        if not self._by_length:
            self._turns.clear()  # what is left ran in other turns, and would be kept alive until the next order
        return taken

    def _first_like(self, end: int, longest: int) -> int:
        """Where the texts begin that are near enough in length to those before `end` to run beside them."""
        near = bisect_left(self._by_length, (longest - self._slack, 0), key=_BY_KEY)
        enough = max(0, end - max(1, self._enough // longest))
        length, _ = self._by_length[enough].key
        return max(near, bisect_left(self._by_length, (length, 0), key=_BY_KEY))

    def _give_turn(self, order: Order, entry: Entry) -> None:
        length, number = entry.key
        heappush(self._turns.setdefault(order, []), (-length, -number, entry))

    def _size(self, longest: int) -> int:
        """How many texts of a length run together."""
        most = self._run_tokens // longest
        if self._run_cells is not None:
            most = min(most, self._run_cells // longest**2)
        return max(1, most)

    def _next(self) -> int:
        """Where the longest text is of the caller whose turn it is; what ran in other turns is passed over."""
        while True:
            order, own = self._turns.popitem(last=False)
            while own:
                _, _, entry = heappop(own)
                if (place := self._place(entry)) is not None:
                    self._turns[order] = own
                    return place

    def _place(self, entry: Entry) -> int | None:
        place = bisect_left(self._by_length, entry.key, key=_BY_KEY)
        is_here = place < len(self._by_length) and self._by_length[place] is entry
        return place if is_here else None
