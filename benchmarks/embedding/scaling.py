"""What a second worker adds, and what it costs to come as many callers instead of one."""

from benchmarks.comparison import Comparison, interleaved
from benchmarks.embedding.contestant import Contestant, Turns, contestant
from benchmarks.embedding.loads import MIXED, SHARED
from benchmarks.machine import CLIENT_CORE, SERVER_CORE

LEAST_OF_TWO = 1.7
FREE = 1.85
"""What two processes side by side reach, at least, where two cores are free."""

LEAST_OF_MANY = 0.9
CALLERS = 16


def compare() -> list[Comparison]:
    """Time by the clock. Two workers are only judged where two cores are free."""
    return [*_workers(), _callers()]


def _workers() -> list[Comparison]:
    cores = {SERVER_CORE, CLIENT_CORE}
    with (
        contestant("ours", "1", cores=cores) as one,
        contestant("ours", "1", cores=cores) as another,
        contestant("ours", "2", cores=cores) as two,
    ):
        rounds = interleaved(
            {
                "one": Turns(one, MIXED).wall,
                "two": Turns(two, MIXED).wall,
                "two_processes": Pair(one, another).wall,
            }
        )
    apart = min(rounds["one"]) / min(rounds["two_processes"])
    if apart < FREE:
        print(f"two workers are not judged: two processes side by side are {apart:.2f} times as fast as one")
        return []
    row = Comparison(
        name=f"{MIXED.name} by two workers, and by one",
        unit="ms",
        ours=min(rounds["two"]),
        peer=min(rounds["one"]),
        sense="at least",
        target=LEAST_OF_TWO,
        rounds=rounds,
        note=f"two processes of one worker each: {apart:.2f}",
    )
    return [row]


class Pair:
    """Two contestants side by side, each on the load that the other contestants have alone."""

    def __init__(self, *pair: Contestant) -> None:
        self._pair = pair
        self._turn = 0

    def wall(self) -> float:
        """Milliseconds a text by the clock until both are done."""
        texts = MIXED.texts(self._turn)
        self._turn += 1
        for one in self._pair:
            one.begin([texts])
        return max(one.end().wall_seconds for one in self._pair) * 1000 / len(texts) / len(self._pair)


def _callers() -> Comparison:
    with contestant("ours", "1", cores={SERVER_CORE}) as ours:
        rounds = interleaved({"many": Turns(ours, SHARED, CALLERS).wall, "one": Turns(ours, SHARED).wall})
    return Comparison(
        name=f"{SHARED.name} of {CALLERS} callers, and of one",
        unit="ms",
        ours=min(rounds["many"]),
        peer=min(rounds["one"]),
        sense="at least",
        target=LEAST_OF_MANY,
        rounds=rounds,
    )
