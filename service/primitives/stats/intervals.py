"""What a proportion may be, given how often it was seen."""

from math import sqrt

Z95 = 1.959963984540054


def wilson(successes: float, count: int, z: float = Z95) -> tuple[float, float]:
    """The score interval of a proportion (Wilson 1927): within [0, 1], around the share; `count` is at least 1."""
    share = successes / count
    centre = share + z * z / (2 * count)
    margin = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, min(share, (centre - margin) / scale)), min(1.0, max(share, (centre + margin) / scale))


def wilson_variance(mean: float, count: int) -> float:
    """A variance for the mean of `count` scores that show none: z roots of it reach the farther end of Wilson's.

    Half the width would leave a mean of 0 or 1 with half of the doubt that Wilson has.
    """
    low, high = wilson(mean * count, count)
    return (max(mean - low, high - mean) / Z95) ** 2


def clopper_pearson(successes: int, count: int, level: float = 0.95, maxima: int = 1) -> tuple[float, float]:
    """The exact interval of a proportion (Clopper and Pearson 1934), for the largest of `maxima` counts.

    The largest of several is seen too large rather than too small, so the lower tail is shared out among them
    (Bonferroni 1936). It begins at 0 without a success, and ends at 1 without a failure.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - few need it, and it takes 27 MB

    failures, tail = count - successes, (1 - level) / 2
    low = float(betaincinv(successes, failures + 1, tail / maxima)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def beta_mean(successes: int, failures: int) -> float:
    """What to expect of a proportion that was uniform on [0, 1] beforehand (Laplace's rule of succession)."""
    return (1 + successes) / (2 + successes + failures)


def beta_interval(successes: int, failures: int, level: float) -> tuple[float, float]:
    """Where the proportion of `beta_mean` lies with the probability `level`, as much of the rest below as above."""
    from scipy.special import betaincinv  # noqa: PLC0415 - few need it, and it takes 27 MB

    tail = (1 - level) / 2
    low, high = (float(betaincinv(1 + successes, 1 + failures, share)) for share in (tail, 1 - tail))
    return low, high
