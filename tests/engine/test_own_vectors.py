"""Vectors that come with the request: what the run and its validation make of them."""

from time import perf_counter

import msgspec
import pytest

from service.config import Limits
from service.engine.batch import Batch
from service.engine.validating import validating
from tests.engine.test_inquiries import SIMILAR, Scripted, statuses
from tests.judging import drain, results

VECTORS = {"x": [1.0, 0.0], "same": [0.0, 1.0], "short": [1.0], "empty": []}
FAULTY_VECTORS = [
    ("all there", [("x", "same")], []),
    ("none there", [("a", "b")], []),
    ("a mixture", [("x", "same"), ("x", "b"), ("a", "same")], [("/evaluators/0", "invalid_embedding")]),
    ("unequal lengths", [("x", "short")], [("/evaluators/0", "invalid_embedding")]),
    ("no numbers", [("empty", "empty")], [("/evaluators/0", "invalid_embedding")]),
    ("too many texts", [("a", "b"), ("c", "d"), ("x", "same")], [("/items", "limit_exceeded")]),
]


@pytest.mark.parametrize(
    ("pairs", "faults"), [row[1:] for row in FAULTY_VECTORS], ids=[row[0] for row in FAULTY_VECTORS]
)
def test_validation_and_the_run_agree_on_vectors(pairs: list[tuple[str, str]], faults: list[tuple[str, str]]) -> None:
    body = {"items": [{"output": one, "expected": other} for one, other in pairs], "evaluators": [SIMILAR],
            "vectors": VECTORS}  # fmt: skip
    limits = Limits(texts=3)
    told = drain(validating(msgspec.convert(body, Batch), limits, (), perf_counter(), 100))
    assert [(fault.pointer, fault.code) for fault in told.errors] == faults
    assert told.valid == (not faults)
    reasons = {reason for ((_, reason),) in statuses(results(body, limits=limits, embedder=Scripted()))}
    assert reasons - {None} == {code for _, code in faults}


def test_validation_past_the_deadline_says_so_and_calls_nothing_unused() -> None:
    body = {"items": [{"output": "x", "expected": "same"}], "evaluators": [SIMILAR], "vectors": VECTORS}
    told = drain(validating(msgspec.convert(body, Batch), Limits(), (), perf_counter() - 60, 100))
    assert [fault.code for fault in told.warnings] == ["deadline_exceeded"]


def test_equal_texts_count_once_towards_the_limit() -> None:
    body = {"items": [{"output": "a", "expected": "a"}], "evaluators": [SIMILAR]}
    assert statuses(results(body, limits=Limits(texts=1), embedder=Scripted())) == [[("passed", None)]]
