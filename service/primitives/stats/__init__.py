"""Intervals, repeats, entropies and tests. Formulas name their source."""

from service.primitives.stats.entropy import Entropy, entropy, pair_agreement, stability
from service.primitives.stats.intervals import (
    Z95,
    beta_interval,
    beta_mean,
    clopper_pearson,
    wilson,
    wilson_variance,
)
from service.primitives.stats.power import min_cases, min_repeats
from service.primitives.stats.repeats import (
    deviation,
    flaky,
    mean_interval,
    pass_at,
    pass_hat,
    repeat_interval,
    repeats_to_decide,
    standard_error,
)
from service.primitives.stats.significance import Test, holm, least_adjusted, mcnemar, sign_flip
from service.primitives.stats.tables import Row, Table, fisher, mantel_haenszel

__all__ = [
    "Z95",
    "Entropy",
    "Row",
    "Table",
    "Test",
    "beta_interval",
    "beta_mean",
    "clopper_pearson",
    "deviation",
    "entropy",
    "fisher",
    "flaky",
    "holm",
    "least_adjusted",
    "mantel_haenszel",
    "mcnemar",
    "mean_interval",
    "min_cases",
    "min_repeats",
    "pair_agreement",
    "pass_at",
    "pass_hat",
    "repeat_interval",
    "repeats_to_decide",
    "sign_flip",
    "stability",
    "standard_error",
    "wilson",
    "wilson_variance",
]
