"""What one caller asked for, on its way."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from time import perf_counter
from typing import Generic, TypeVar

import numpy as np

from service.core.errors import Late, ServiceError
from service.core.ports import Embedded, Reading
from service.embedding.cache import Made
from service.embedding.portions import portions

UNREAD = Reading(0, 0)

Answer = TypeVar("Answer")


class Request(Generic[Answer]):
    """An answer that a caller waits for until `deadline`."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.future: Future[Answer] = Future()

    @property
    def is_over(self) -> bool:
        """Nothing more can come of it: it was answered, its caller has gone, or its time is up."""
        return self.future.done() or perf_counter() >= self.deadline

    def answer(self, answer: Answer) -> None:
        """End it; a caller that has gone hears nothing."""
        with suppress(InvalidStateError):
            self.future.set_result(answer)

    def fail(self, fault: ServiceError) -> None:
        """End it with a fault; a caller that has gone hears nothing."""
        with suppress(InvalidStateError):
            self.future.set_exception(fault)


class Tally(Request[list[int]]):
    """Texts whose tokens one caller wants to know."""

    def __init__(self, texts: Sequence[str], deadline: float) -> None:
        super().__init__(deadline)
        self._parts = deque(portions(texts))
        self._counts: list[int] = []

    def go_on(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        """Count in some of the texts; answer if they were the last."""
        self._counts += count(self._parts.popleft())
        if not self._parts:
            self.answer(self._counts)

    def settle(self) -> None:
        """Say that it is too late."""
        self.fail(Late("The deadline passed before the tokens were counted"))

    def end(self, fault: ServiceError) -> None:
        """Say why nothing will come of it."""
        self.fail(fault)


class Order(Request[Embedded]):
    """Texts of one caller; its future ends when each of them has a vector, a fault, or no time left."""

    def __init__(self, texts: Sequence[str], deadline: float) -> None:
        super().__init__(deadline)
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            self._places[text].append(place)
        self._made: list[Made | None] = [None] * len(texts)
        self._faults: dict[int, ServiceError] = {}

    @property
    def waiting(self) -> list[str]:
        """The distinct texts of which nothing is known yet."""
        return list(self._places)

    @property
    def is_complete(self) -> bool:
        """Whether something is known of every text."""
        return not self._places

    def take(self, text: str, made: Made) -> None:
        """A text has its vector."""
        for place in self._places.pop(text, ()):
            self._made[place] = made

    def refuse(self, text: str, fault: ServiceError) -> None:
        """A text will have none."""
        for place in self._places.pop(text, ()):
            self._faults[place] = fault

    def settle(self) -> None:
        """Answer with what there is; texts still waiting come too late."""
        late = frozenset(place for places in self._places.values() for place in places)
        width = next((made.vector.size for made in self._made if made is not None), 0)
        blank = np.zeros(width, dtype=np.float32)
        rows = [blank if made is None else made.vector for made in self._made]
        vectors = np.array(rows, dtype=np.float32).reshape(len(rows), width)
        readings = [UNREAD if made is None else made.reading for made in self._made]
        self.answer(Embedded(vectors, readings, late, self._faults))

    def end(self, fault: ServiceError) -> None:
        """Answer with what there is, and say why there will be no more."""
        for text in self.waiting:
            self.refuse(text, fault)
        self.settle()
