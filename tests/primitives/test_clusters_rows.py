"""Rows of length 1, and from which cosine on they are similar."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.engine.lanes import drain
from service.primitives.clusters import cluster, components, threshold, unit_rows
from service.primitives.clusters.cosines import thresholds


@given(st.lists(st.sampled_from([0.0, 1e-300, 1e-170, 1.0, 1e170, 1e300]), min_size=1, max_size=9))
def test_rows_of_any_length(scales: list[float]) -> None:
    unit = drain(unit_rows(np.outer(scales, [3.0, 4.0])))
    directions = [[0.6, 0.8, 0.0] if scale else [0.0, 0.0, 1.0] for scale in scales]
    assert unit == pytest.approx(np.array(directions)[:, : 3 if 0.0 in scales else 2])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_stay_as_they_came(kind: type[np.floating]) -> None:
    vectors = np.array([[3, 4], [0, 0]], kind)
    drain(unit_rows(vectors))
    assert vectors.tolist() == [[3, 4], [0, 0]]


@pytest.mark.parametrize(("tau", "labels"), [(0.96, [0, 0, 1]), (0.960001, [0, 0, 1]), (0.9600011, [0, 1, 2])])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_tolerance_does_not_depend_on_the_precision(kind: type[np.floating], tau: float, labels: list[int]) -> None:
    vectors = np.array([[3, 4], [4, 3], [-4, 3]], kind)
    assert drain(components(drain(unit_rows(vectors)), tau)).tolist() == labels
    assert drain(cluster(vectors, tau, "single")).labels.tolist() == labels


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_thresholds_are_the_same_one_by_one_and_together(taus: list[float]) -> None:
    assert thresholds(np.array(taus)).tolist() == [threshold(tau) for tau in taus]
