"""Intervals."""

from math import sqrt

Z95 = 1.959963984540054


def wilson(successes: float, count: int, z: float = Z95) -> tuple[float, float]:
    """The score interval of a proportion (Wilson 1927), within [0, 1]; `count` is at least 1."""
    share = successes / count
    centre = share + z * z / (2 * count)
    margin = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (centre - margin) / scale), min(1.0, (centre + margin) / scale)
