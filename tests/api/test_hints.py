"""What is written at the wrong place, or as a text instead of an object, is told where and how it belongs."""

from typing import Any

import msgspec
import pytest

from service.api.codec import decode
from service.core.errors import Invalid
from service.engine.batch import Batch
from service.engine.stability.wire import PromptMetrics
from service.engine.suites.wire import Suite

VERSION: dict[str, Any] = {"version": "v", "outputs": {"1": ["a"]}}
SUITE: dict[str, Any] = {"cases": [{}], "versions": [VERSION]}
BATCH: dict[str, Any] = {"items": [{"output": "a"}]}
METRICS: dict[str, Any] = {"queries": [{"responses": ["a"]}]}

CASES: list[tuple[Any, dict[str, Any], str]] = [
    (PromptMetrics, METRICS | {"k": 3}, "'k' here: `k` is a field of `generate`"),
    (PromptMetrics, METRICS | {"ci_level": 0.9}, "'ci_level' here: `ci_level` is a field of `statistical_mode`"),
    (Suite, SUITE | {"temperature": 1}, "'temperature' here: `temperature` is a field of `generate`"),
    (Suite, SUITE | {"versions": [VERSION | {"top_k": 1}]}, "'top_k' here: `top_k` is a field of `sampling`"),
    (Suite, SUITE | {"versionz": []}, "'versionz' here: did you mean 'versions'?"),
    (Batch, BATCH | {"k": 3}, "'k' here"),
    (Batch, BATCH | {"evaluators": ["contains"]}, '"contains": did you mean {"type": "contains"}?'),
    (Batch, BATCH | {"evaluators": ["contain"]}, 'got `string`: "contain"'),
    (Suite, SUITE | {"graders": ["valid_json"]}, '"valid_json": did you mean {"type": "valid_json"}?'),
    (PromptMetrics, METRICS | {"statistical_mode": "bayesian"}, '"bayesian": did you mean {"type": "bayesian"}?'),
    (PromptMetrics, METRICS | {"statistical_mode": 'x"y'}, 'got `string`: "x\\"y"'),
    (PromptMetrics, METRICS | {"jq": "bayesian"}, 'got `string`: "bayesian"'),
]


@pytest.mark.parametrize(("kind", "body", "end"), CASES)
def test_a_refusal_ends_with_what_was_meant(kind: Any, body: dict[str, Any], end: str) -> None:
    with pytest.raises(Invalid) as caught:
        decode(msgspec.json.encode(body), kind, 200)
    (fault,) = caught.value.faults
    assert fault.detail.endswith(end)
