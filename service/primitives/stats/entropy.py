"""How much answers differ in meaning, from the sizes of their clusters: whole numbers of at least 1, K in all.

Entropies are in nats.
"""

from collections.abc import Sequence
from math import fsum, log
from typing import NamedTuple


class Entropy(NamedTuple):
    """Estimates of the entropy of meanings.

    `plugin` takes the shares as they are: too low for small K, at most ln K. `miller_madow` adds the first term of that
    bias (Miller 1955). `coverage` is how much of all meaning the clusters are likely to be (Good 1953), and `chao_shen`
    makes up for the rest (Chao and Shen 2003). `posterior_mean` is the expected entropy where, beforehand, all shares
    of the clusters seen were as likely (Wolpert and Wolf 1995): it draws them towards equal ones, and makes up for no
    cluster that was not seen.
    """

    plugin: float
    miller_madow: float
    coverage: float
    chao_shen: float
    posterior_mean: float


def entropy(counts: Sequence[int]) -> Entropy:
    """The estimates."""
    total = sum(counts)
    plugin = (1 - stability(counts)) * log(total)
    coverage = _coverage(counts)
    return Entropy(
        plugin=plugin,
        miller_madow=plugin + (len(counts) - 1) / (2 * total),
        coverage=coverage,
        chao_shen=_chao_shen(counts, coverage),
        posterior_mean=_posterior_mean(counts),
    )


def stability(counts: Sequence[int]) -> float:
    """1 - entropy / ln K, in [0, 1]: 0 where all answers differ, 1 where none do or there is but one."""
    total = sum(counts)
    if total <= 1:
        return 1.0
    return fsum(count * log(count) for count in counts) / (total * log(total))  # exact at both ends


def pair_agreement(counts: Sequence[int]) -> float | None:
    """The share of pairs that agree: what two answers do on average, whatever K (Simpson 1949). None without a pair."""
    total = sum(counts)
    if total <= 1:
        return None
    return sum(count * (count - 1) for count in counts) / (total * (total - 1))


def _coverage(counts: Sequence[int]) -> float:
    """Of nothing but single answers one is taken as seen twice, since they cannot cover nothing."""
    total = sum(counts)
    return (total - min(counts.count(1), total - 1)) / total


def _chao_shen(counts: Sequence[int], coverage: float) -> float:
    total = sum(counts)
    shares = [coverage * count / total for count in counts]
    return fsum([share * log(1 / share) / (1 - (1 - share) ** total) for share in shares])


def _posterior_mean(counts: Sequence[int]) -> float:
    """psi(A + 1) - sum of a / A psi(a + 1), with a = n + 1 of each cluster and A their sum."""
    from scipy.special import psi  # noqa: PLC0415 - few need it, and it takes 27 MB

    weights = [count + 1 for count in counts]
    total = sum(weights)
    *each, of_total = psi([*(weight + 1 for weight in weights), total + 1]).tolist()
    return float(of_total - fsum([weight / total * value for weight, value in zip(weights, each, strict=True)]))
