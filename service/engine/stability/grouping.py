"""One query's responses as points: how they group, and how near they are to the reference."""

from collections.abc import Sequence
from math import exp, sqrt

import numpy as np

from service.engine.clustering import groups, tau_curve
from service.engine.lanes import Steps
from service.engine.stability.results import EntropyEstimates, Interaction
from service.engine.stability.vectors import Found, Rows
from service.engine.stability.wire import PromptMetrics, StatisticalMode
from service.primitives.clusters import cluster_units, unit_rows
from service.primitives.clusters.cosines import DECIMALS
from service.primitives.stats import beta_interval, beta_mean, clopper_pearson, entropy, pair_agreement, stability


def group(into: Interaction, request: PromptMetrics, found: Found, kept: Sequence[int]) -> Steps[None]:
    """Tell how responses with vectors, at least one, group; `kept` are their places among all responses."""
    assert found.rows is not None
    unit = yield from unit_rows(found.rows)
    grouping = yield from cluster_units(unit, request.tau, request.linkage)
    centre = unit.sum(axis=0)
    counts = [len(one.members) for one in grouping.clusters]
    estimates = entropy(counts)
    into.csr, into.csr_interval = _csr(counts, request.statistical_mode)
    into.stability = stability(counts)
    into.rss = None if found.reference is None else _rss(centre, found.reference, into.k)
    into.n_clusters = len(counts)
    into.pair_agreement = pair_agreement(counts)
    into.effective_meanings = exp(estimates.plugin)
    into.mean_pairwise_cosine = _mean_pairwise_cosine(centre, into.k)
    into.entropy = EntropyEstimates(*estimates)
    into.chained = any(one.chained for one in grouping.clusters)
    into.tau_curve = tau_curve(grouping, into.k)
    into.clusters = groups(grouping, kept)


def _csr(counts: Sequence[int], mode: StatisticalMode) -> tuple[float, tuple[float, float]]:
    largest, total = max(counts), sum(counts)
    if mode.type == "bayesian":
        others = total - largest
        return beta_mean(largest, others), beta_interval(largest, others, mode.ci_level)
    return largest / total, clopper_pearson(largest, total, mode.ci_level, maxima=len(counts))


def _rss(centre: Rows, reference: Rows, count: int) -> float | None:
    """The mean cosine with the reference; None for one of zeros, which points nowhere."""
    largest = float(np.abs(reference).max())
    if not largest:
        return None
    direction = reference.astype(np.float64) / largest  # before squares overflow or vanish
    return _cosine(float(centre[: len(direction)] @ direction) / sqrt(direction @ direction) / count)


def _mean_pairwise_cosine(centre: Rows, count: int) -> float | None:
    """All pairs at once: the square of a sum has each of them twice, and each row with itself."""
    return _cosine(float(centre @ centre - count) / (count * (count - 1))) if count > 1 else None


def _cosine(mean: float) -> float:
    return min(1.0, max(-1.0, round(mean, DECIMALS) + 0.0))
