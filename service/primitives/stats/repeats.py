"""What repeats of the same cases tell. Scores are in [0, 1]."""

from collections.abc import Sequence
from math import comb, floor, fsum, sqrt

from service.primitives.stats.intervals import Z95, wilson_variance

_NO_DIFFERENCE = 1e-9
_MOST_REPEATS = 1_000_000_000
_SURE = 0.05
"""A case that passes less often than this, or fails less often, is as good as decided."""


def deviation(scores: Sequence[float]) -> float | None:
    """The sample standard deviation (over n - 1); None of fewer than two scores."""
    return sqrt(_variance(scores)) if len(scores) > 1 else None


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean of values; None of fewer than two."""
    spread = deviation(values)
    return None if spread is None else spread / sqrt(len(values))


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where the mean of such values lies at 95 %, by Student's t (1908).

    None of fewer than two, and where all are equal: that they show no spread does not make their mean certain.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - few need it, and it takes 27 MB

    error = standard_error(values)
    if error is None or max(values) - min(values) <= _NO_DIFFERENCE:
        return None
    mean, margin = _mean(values), float(stdtrit(len(values) - 1, 0.975)) * error
    return mean - margin, mean + margin


def repeat_interval(cases: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Where the mean over the cases would lie, at 95 %, if these same cases were run again; None without a repeat.

    Each case is given by the scores of its runs, and counts alike; one without runs is left out. It is the mean of N
    cases +- z sqrt(sum s_i^2 / n_i) / N. Equal runs do not show that others would be equal: the variance of their mean,
    and of a single run, is Wilson's.
    """
    if max(map(len, cases), default=0) < 2:
        return None
    seen = [scores for scores in cases if scores]
    mean = fsum(map(_mean, seen)) / len(seen)
    margin = Z95 * sqrt(fsum(map(_variance_of_mean, seen))) / len(seen)
    return max(0.0, mean - margin), min(1.0, mean + margin)


def repeats_to_decide(rate: float, threshold: float) -> int | None:
    """How many repeats, all going as so far, Wilson's interval takes to leave the threshold outside; at least 1.

    It is the least n > z^2 t (1 - t) / (rate - t)^2. None where the rate is the threshold, or so close that it takes
    more than a billion.
    """
    distance = abs(rate - threshold)
    if distance <= _NO_DIFFERENCE:
        return None
    needed = floor(Z95**2 * threshold * (1 - threshold) / distance**2) + 1
    return needed if needed <= _MOST_REPEATS else None


def pass_at(n: int, c: int, k: int) -> float:
    """The chance that of k runs, drawn from n of which c passed, one or more pass (Chen et al. 2021); k is 1 to n."""
    every = comb(n, k)
    return (every - comb(n - c, k)) / every


def pass_hat(n: int, c: int, k: int) -> float:
    """The chance that k runs, drawn from n of which c passed, all pass (Yao et al. 2024); k is 1 to n."""
    return comb(c, k) / comb(n, k)


def flaky(passes: int, count: int) -> float:
    """The probability that a case neither passes nor fails nearly always: that its rate is over 5 % and under 95 %.

    The rate was uniform on [0, 1] beforehand: three passes of three leave much of it in between.
    """
    from scipy.special import betainc  # noqa: PLC0415 - few need it, and it takes 27 MB

    below, not_above = betainc(1 + passes, 1 + count - passes, [_SURE, 1 - _SURE])
    return float(not_above - below)


def _variance_of_mean(scores: Sequence[float]) -> float:
    if max(scores) - min(scores) <= _NO_DIFFERENCE:
        return wilson_variance(_mean(scores), len(scores))
    return _variance(scores) / len(scores)


def _variance(scores: Sequence[float]) -> float:
    least = min(scores)
    offsets = [score - least for score in scores]  # equal scores vary by exactly 0
    mean = _mean(offsets)
    return fsum((offset - mean) ** 2 for offset in offsets) / (len(scores) - 1)


def _mean(scores: Sequence[float]) -> float:
    return fsum(scores) / len(scores)
