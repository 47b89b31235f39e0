"""Scorers that compare through vectors; here the request's own."""

from time import perf_counter
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.primitives import RuleFault
from service.primitives.jsontext import as_text
from service.primitives.vectors import cosine, cosine_of_units, cosines, paired_cosines, rescaled, unit
from tests.judging import evaluation, results

VECTORS = {
    "a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0], "opposite": [-1.0, 0.0], "twice a": [2.0, 0.0],
    "zero": [0.0, 0.0], "long": [1.0, 0.0, 0.0], "empty": [], "code: a": [0.0, 1.0], "code: b": [0.0, 2.0],
    "huge": [1e300, 1e300], "tiny": [5e-324, 5e-324], "": [1.0, 1.0],
}  # fmt: skip

SIMILARITY = [
    # name, rule, output, expected, status, score, reason
    ("rescaled from 0.7", {}, "a", "b", "failed", 1 / 3, None),
    ("below the floor is 0", {}, "a", "c", "failed", 0.0, None),
    ("length does not matter", {}, "a", "twice a", "passed", 1.0, None),
    ("equal texts need one vector", {}, "a", "a", "passed", 1.0, None),
    ("a lower floor", {"expected_min": -1}, "a", "c", "passed", 0.5, None),
    ("the lowest cosine", {"expected_min": -1}, "a", "opposite", "failed", 0.0, None),
    ("the floor at 1", {"expected_min": 1}, "a", "b", "error", None, "invalid_params"),
    ("a zero vector", {}, "zero", "a", "failed", 0.0, None),
    ("two zero vectors", {}, "zero", "zero", "failed", 0.0, None),
    ("unequal lengths", {}, "a", "long", "error", None, "invalid_embedding"),
    ("no numbers", {}, "empty", "empty", "error", None, "invalid_embedding"),
    ("a mixture of the request's and the model's", {}, "a", "elsewhere", "error", None, "invalid_embedding"),
    ("none of the request's, and no model", {}, "there", "elsewhere", "not_graded", None, "model_unavailable"),
    ("the prefix is part of the text", {"prefix": "code: "}, "a", "b", "passed", 1.0, None),
    ("numbers whose squares overflow", {}, "huge", "", "passed", 1.0, None),
    ("numbers whose squares vanish", {}, "tiny", "huge", "passed", 1.0, None),
    ("negated", {"negate": True}, "a", "b", "passed", 2 / 3, None),
    ("a threshold", {"threshold": 0.3}, "a", "b", "passed", 1 / 3, None),
    ("null", {}, None, "a", "no_data", None, "null_value"),
    ("nothing expected", {}, "a", None, "no_data", None, "missing_expected"),
]


@pytest.mark.parametrize(("rule", "output", "expected", "status", "score", "reason"), [row[1:] for row in SIMILARITY],
                         ids=[row[0] for row in SIMILARITY])  # fmt: skip
def test_similarity(
    rule: Any, output: Any, expected: Any, status: str, score: float | None, reason: str | None
) -> None:
    rule = {"type": "embedding_similarity"} | rule
    got = evaluation(rule, vectors=VECTORS, output=output, expected=expected)
    assert (got["status"], got["reason"]) == (status, reason)
    assert got["score"] == (None if score is None else pytest.approx(score, abs=1e-12))
    assert got["explanation"]


def test_the_explanation_names_the_values_and_the_details_the_numbers() -> None:
    got = evaluation({"type": "embedding_similarity"}, vectors=VECTORS, output="a", expected="b")
    assert got["explanation"] == "similarity 0.3333 (cosine 0.8) of 'a' and 'b'"
    assert got["details"] == {"cosine": pytest.approx(0.8), "model": None}


def test_each_picked_value_is_compared_and_all_are_asked_for_at_once() -> None:
    rule = {"type": "embedding_similarity", "path": "$[*]", "expected": "a", "expected_min": 0}
    got = evaluation(rule, vectors=VECTORS, output=["twice a", "b", None])
    assert (got["status"], got["score"], got["details"]["decided_by"]) == ("failed", 0.0, 3)
    got = evaluation(rule | {"values": "any"}, vectors=VECTORS, output=["c", "b"])
    assert (got["score"], got["details"]["decided_by"]) == (pytest.approx(0.8), 2)


@pytest.mark.parametrize("value", ["a", 1.5, {"a": 1}], ids=type)
def test_equal_values_that_a_path_picks_are_judged_once(value: Any) -> None:
    """Each by itself would take ten minutes."""
    long = {as_text(value): [0.5] * 1_000_000, "b": [0.25] * 1_000_000}
    began = perf_counter()
    got = evaluation(
        {"type": "embedding_similarity", "path": "$[*]"}, vectors=long, output=[value] * 9_000, expected="b"
    )
    assert (got["status"], got["score"]) == ("passed", 1.0)
    assert perf_counter() - began < 30


LISTS = [
    (["a", "b"], ["twice a", "b"], {}, 1.0),
    (["b"], ["a"], {}, 1 / 3),
    (["a", "c"], ["a"], {}, 0.5),
    (["a", "c"], ["a"], {"allow_extra_entities": True}, 1.0),
    ([], [], {}, 1.0),
    ([], ["a"], {}, 0.0),
    ([None, "a"], [None, "a"], {}, 1.0),
    ([None], ["a"], {}, 0.0),
    ([None, "a"], ["b"], {}, 1 / 6),
    ([None, None], [None], {}, 0.5),
    (["a", "a", "b", None], ["b", "a", None, "a"], {}, 1.0),
    (["a", "c", "a"], ["c", "b", "b"], {}, (1 + 1 / 3 + 1 / 3) / 3),
    ([None, None], ["a", "b"], {}, 0.0),
]


@pytest.mark.parametrize(("output", "expected", "rule", "score"), LISTS)
def test_lists_are_paired_by_meaning(output: Any, expected: Any, rule: dict[str, Any], score: float) -> None:
    rule = {"type": "list_contains", "pairwise_scorer": "embedding_similarity"} | rule
    got = evaluation(rule, vectors=VECTORS, output=output, expected=expected)
    assert got["score"] == pytest.approx(score)


DOCUMENTS = [
    ({"x": "a", "n": 1}, {"x": "b", "n": 1}, (1 / 3 + 1) / 2),
    ({"x": "a"}, {"x": "a"}, 1.0),
    ({"n": 1}, {"n": 2}, 2 / 3),
    ("a", "b", 1 / 3),
    (["a", ["b"]], ["twice a", ["a"]], (1 + 1 / 3) / 2),
    (["a", "zero"], ["b", "zero"], (1 / 3 + 1) / 2),
]


@pytest.mark.parametrize(("output", "expected", "score"), DOCUMENTS)
def test_texts_inside_json_are_compared_by_meaning(output: Any, expected: Any, score: float) -> None:
    rule = {"type": "json_diff", "string_scorer": "embedding_similarity"}
    got = evaluation(rule, vectors=VECTORS, output=output, expected=expected)
    assert got["score"] == pytest.approx(score)


def test_json_whose_texts_are_equal_needs_no_model() -> None:
    rule = {"type": "json_diff", "string_scorer": "embedding_similarity"}
    got = evaluation(rule, output={"a": 1, "b": "same"}, expected={"a": 1, "b": "same"})
    assert (got["status"], got["score"], got["details"]) == ("passed", 1.0, {"differences": [], "model": None})


def test_texts_of_vectors_of_unequal_lengths_are_told() -> None:
    rule = {"type": "json_diff", "string_scorer": "embedding_similarity"}
    got = evaluation(rule, vectors=VECTORS, output=["a", "empty"], expected=["long", "b"])
    assert (got["status"], got["reason"]) == ("error", "invalid_embedding")


def test_a_vector_of_many_numbers_is_read_once_however_often_its_text_occurs() -> None:
    rule = {"type": "json_diff", "string_scorer": "embedding_similarity"}
    long = {"a": [0.5] * 100_000, "b": [0.25] * 100_000}
    began = perf_counter()
    got = evaluation(rule, vectors=long, output=["a"] * 20_000, expected=["b"] * 20_000)
    assert got["score"] == pytest.approx(1)
    assert perf_counter() - began < 30


def test_a_list_of_one_text_takes_no_memory_for_each_of_its_places() -> None:
    """Each place with a vector of its own would be 80 GB."""
    rule = {"type": "list_contains", "pairwise_scorer": "embedding_similarity", "allow_extra_entities": True}
    long = {"a": [0.5] * 100_000, "b": [0.25] * 100_000}
    got = evaluation(rule, vectors=long, output=["a"] * 100_000, expected=["b"])
    assert got["score"] == 1


def test_faulty_vectors_stay_with_their_own_evaluations() -> None:
    items = [{"output": "a", "expected": one} for one in ("b", "long", "zero", "elsewhere")]
    answer = results({"items": items, "evaluators": [{"type": "embedding_similarity"}], "vectors": VECTORS})
    assert [one["status"] for one in answer["results"]] == ["failed", "error", "failed", "error"]


NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3)


@given(NUMBERS, NUMBERS, st.floats(1e-3, 1e3))
def test_a_cosine_is_symmetric_bounded_and_blind_to_length(one: list[float], other: list[float], factor: float) -> None:
    found = cosine(one, other)
    assert -1 <= found <= 1
    assert cosine(other, one) == pytest.approx(found, abs=1e-12)
    assert cosine([number * factor for number in one], other) == pytest.approx(found, abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.sampled_from([1.0, 3.0, 1e-9, 1e9]))
def test_vectors_of_one_direction_have_a_cosine_of_1_and_no_less(vector: list[float], factor: float) -> None:
    assume(max(map(abs, vector)) > 1e-6)
    other = [number * factor for number in vector]
    assert cosine(vector, other) == cosine_of_units(unit(vector), unit(other)) == 1.0
    assert paired_cosines([vector], [other]) == [1.0]


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.lists(NUMBERS, min_size=1, max_size=4))
def test_a_table_of_cosines_is_made_of_single_ones(rows: list[list[float]], columns: list[list[float]]) -> None:
    table = cosines(rows, columns)
    assert table == [[pytest.approx(cosine(row, column), abs=1e-12) for column in columns] for row in rows]


@given(st.floats(-1, 1), st.floats(-1, 0.99))
def test_rescaling_stays_in_bounds(found: float, floor: float) -> None:
    score = rescaled(found, floor)
    assert 0 <= score <= 1
    assert (score == 0) == (found <= floor)


def test_vectors_of_other_lengths_are_refused() -> None:
    with pytest.raises(RuleFault, match="2 and 3 numbers"):
        cosine([1.0, 0.0], [1.0, 0.0, 0.0])
