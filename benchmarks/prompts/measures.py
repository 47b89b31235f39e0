"""What is measured of a query."""

from typing import NamedTuple


class Measures(NamedTuple):
    """`rss` is None without a reference, `icr` where nothing is checked."""

    csr: float
    stability: float
    rss: float | None
    icr: float | None
