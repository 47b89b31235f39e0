"""Few responses, none, blank ones, vectors without a direction, reasoning."""

from time import perf_counter
from typing import Any

import msgspec
import pytest

from service.api.codec import decode
from service.engine.lanes import drain
from service.engine.run import Outside
from service.engine.stability.answering import measuring
from service.engine.stability.reasoning import stripped
from service.engine.stability.wire import PromptMetrics
from tests.judging import LIMITS, NO_JUDGES, NO_MODEL
from tests.stability.asking import answered, asked, codes, interaction, measured

NO_MODEL_NEEDED: dict[str, Any] = {"vectors": {"a": [1, 0], "b": [0, 1], "": [0, 0]}}


def test_one_response_agrees_with_itself() -> None:
    one = interaction(asked([[1, 0]]))
    assert (one["k"], one["csr"], one["stability"], one["n_clusters"]) == (1, 1.0, 1.0, 1)
    assert (one["pair_agreement"], one["mean_pairwise_cosine"], one["tau_curve"]) == (None, None, [])
    assert one["csr_interval"] == [pytest.approx(0.025), 1]
    assert codes(one) == ["low_k"]
    assert "not reliable" in one["warnings"][0]["detail"]


@pytest.mark.parametrize(("count", "few"), [(4, True), (5, False)])
def test_a_few_are_told(count: int, few: bool) -> None:
    assert ("low_k" in codes(interaction(asked([[1, 0]] * count)))) == few


def test_what_failed_is_left_out_and_places_stay() -> None:
    query = {"responses": [{"error": "429"}, "a", {"error": None}, "b", "a"]}
    one = interaction(query, **NO_MODEL_NEEDED, constraints=[{"type": "contains", "expected": "a"}])
    assert (one["k"], one["failed"]) == (3, 2)
    assert [(group["members"], group["medoid"]) for group in one["clusters"]] == [([1, 4], 1), ([3], 3)]
    assert (one["csr"], one["icr"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert codes(one) == ["failed_responses", "low_k"]
    assert one["warnings"][0]["detail"] == "2 of 5 responses failed and are left out; the first, at 0: 429"


def test_a_vector_beside_an_error_is_null_and_places_stay() -> None:
    query = {"responses": ["a", {"error": "x"}, "b"], "embeddings": [[1, 0], None, [0, 1]]}
    assert [group["members"] for group in interaction(query)["clusters"]] == [[0], [2]]


def test_nothing_left_is_null() -> None:
    failed = {"responses": [{"error": "x"}], "ground_truth_assistant": "r", "embeddings": [None]}
    session = measured({"queries": [failed, asked([[1, 0]] * 5)], "constraints": [{"type": "valid_json"}]})
    one = session["interactions"][0]
    for name in (
        "csr",
        "csr_interval",
        "stability",
        "rss",
        "icr",
        "jq",
        "n_clusters",
        "entropy",
        "clusters",
        "tau_curve",
    ):
        assert one[name] is None, name
    assert codes(one) == ["failed_responses", "no_responses"]
    assert (session["k"], session["csr"], session["icr"]) == (None, 1.0, 0.0)


def test_a_reference_of_nothing_is_no_mixture() -> None:
    one = interaction({"responses": [{"error": "x"}], "reference_embedding": [1]})
    assert codes(one) == ["failed_responses", "no_responses"]


def test_blank_responses_are_counted_and_measured() -> None:
    one = interaction({"responses": ["a", "", "", "  "]}, vectors=NO_MODEL_NEEDED["vectors"] | {"  ": [0, 0]})
    assert (one["k"], one["empty"]) == (4, 3)
    assert one["csr"] == 0.75
    assert codes(one) == ["low_k", "empty_responses", "zero_embeddings"]


@pytest.mark.parametrize(("others", "csr"), [([], 1), ([[1, 0], [0, 1]], 0.6)])
def test_vectors_of_zeros_are_alike_and_unlike_all_else(others: list[list[float]], csr: float) -> None:
    one = interaction(asked([[0, 0]] * 3 + others))
    assert one["csr"] == csr
    (detail,) = [warning["detail"] for warning in one["warnings"] if warning["code"] == "zero_embeddings"]
    assert detail == "3 vectors are zero: their cosine counts as 1 with each other, and as 0 with all else"


def test_equal_texts_are_told() -> None:
    one = interaction({"responses": ["a"] * 5}, **NO_MODEL_NEEDED)
    assert (one["csr"], codes(one)) == (1.0, ["identical_responses"])


def test_own_vectors_of_equal_texts_stand_as_given() -> None:
    one = interaction({"responses": ["a", "a"], "embeddings": [[1, 0], [0, 1]]})
    assert (one["n_clusters"], "identical_responses" in codes(one)) == (2, True)


def test_one_cluster_of_different_texts_is_told() -> None:
    one = interaction(asked([[1, 0.01 * place] for place in range(5)]))
    assert (one["n_clusters"], codes(one)) == (1, ["tau_saturated"])


@pytest.mark.parametrize(("reference", "rss", "warning"), [([0, 0], None, ["zero_reference"]), ([-1, 0], -1.0, [])])
def test_a_reference_may_point_nowhere_or_away(reference: list[float], rss: float | None, warning: list[str]) -> None:
    one = interaction(asked([[1, 0]] * 5, ground_truth_assistant="r", reference_embedding=reference))
    assert (one["rss"], [code for code in codes(one) if "reference" in code]) == (rss, warning)


def test_a_reference_without_a_vector_beside_own_ones_is_told() -> None:
    one = interaction(asked([[1, 0]] * 5, ground_truth_assistant="r"))
    assert (one["rss"], "reference_not_embedded" in codes(one)) == (None, True)
    assert interaction(asked([[1, 0]], reference_embedding=[1, 0]))["rss"] == 1


@pytest.mark.parametrize("by_text", [[0, 1], [1, 2, 3]], ids=["as long", "of another model"])
def test_beside_embeddings_nothing_is_looked_up_among_the_vectors(by_text: list[float]) -> None:
    own, given = asked([[1, 0]] * 5, ground_truth_assistant="r"), {"r": by_text, "response 0": by_text}
    constraints = [{"type": "embedding_similarity"}]
    one = interaction(own, vectors=given, constraints=constraints)
    assert (one["csr"], one["rss"], "reference_not_embedded" in codes(one)) == (1, None, True)
    assert one["icr"] == 1
    assert interaction(own | {"reference_embedding": [1, 0]}, vectors=given)["rss"] == 1


def test_a_reference_embedding_goes_before_a_vector_of_its_text() -> None:
    given = {"a": [1, 0], "r": [0, 1]}
    query = {"responses": ["a"], "ground_truth_assistant": "r"}
    assert interaction(query, vectors=given)["rss"] == 0
    assert interaction(query | {"reference_embedding": [1, 0]}, vectors=given)["rss"] == 1


def test_vectors_as_long_as_a_double_holds() -> None:
    one = interaction(asked([[1e308, 1e308], [5e-324, 5e-324], [-1e308, 0]], reference_embedding=[1e300, 1e300]))
    assert (one["n_clusters"], one["csr"]) == (2, pytest.approx(2 / 3))


def test_equal_vectors_are_one_cluster_at_tau_one() -> None:
    assert interaction(asked([[0.1, 0.7, 0.3]] * 6), tau=1)["n_clusters"] == 1


def test_no_points_between_responses_and_constraints_that_could_not_be_judged() -> None:
    constraints = [
        {"type": "levenshtein"},
        {"type": "contains", "expected": "a"},
        {"type": "valid_json", "active": False},
    ]
    one = interaction({"responses": ["a", "b"]}, **NO_MODEL_NEEDED, constraints=constraints)
    assert (one["icr"], one["icr_all"]) == (0.5, 0.5)
    assert one["icr_by_constraint"] == {"levenshtein": None, "contains": 0.5, "valid_json": None}
    assert codes(one) == ["low_k", "constraint_not_graded"]
    assert "2 checks" in one["warnings"][1]["detail"]
    one = interaction({"responses": ["a"]}, **NO_MODEL_NEEDED, constraints=constraints[:1])
    assert (one["icr"], one["icr_all"]) == (None, None)


def test_constraints_see_the_reference_the_query_and_the_context() -> None:
    constraints = [
        {"type": "levenshtein", "id": "expected"},
        {"type": "contains", "from": "input", "expected": "who", "id": "input"},
        {"type": "contains", "from": "context", "expected": "own", "id": "context"},
    ]
    query = {"responses": ["a"], "ground_truth_assistant": "a", "query": "who?", "context": "my own"}
    one = interaction(query, **NO_MODEL_NEEDED | {"vectors": {"a": [1]}}, constraints=constraints, context="another")
    assert one["icr_by_constraint"] == {"expected": 1, "input": 1, "context": 1}


def test_constraints_are_weighed_alike_and_equal_checks_made_once() -> None:
    constraints = [{"type": "contains", "expected": "a", "weight": 9}, {"type": "contains", "expected": "b"}]
    session = measured({"queries": [{"responses": ["a"] * 6}], "constraints": constraints} | NO_MODEL_NEEDED)
    assert session["icr"] == 0.5
    assert session["summary"] == {"evaluations": 12, "computed": 2, "deduplicated": 10}


def test_what_came_is_given_back() -> None:
    told = {
        "session_id": "s",
        "assistant_id": "a",
        "language": "english",
        "seed_prompt": "p",
        "tau": 0.7,
        "linkage": "average",
    }
    session = measured({"queries": [asked([[1, 0]])]} | told)
    assert told.items() <= session.items()
    assert (session["model"], session["recommended_tau"]) == (None, None)


def test_half_surrogates_are_counted() -> None:
    body = {"queries": [{"responses": ["a"], "query": "MARK"}], **NO_MODEL_NEEDED}
    assert "replaced_surrogates" not in measured(body)["summary"]
    sent = msgspec.json.encode(body).replace(b"MARK", b"\\ud800")
    request, replaced = decode(sent, PromptMetrics, 200)
    answer = drain(measuring(request, LIMITS, Outside(NO_MODEL, NO_JUDGES), perf_counter(), len(sent), replaced))
    assert msgspec.json.decode(answer.body)["summary"]["replaced_surrogates"] == 1
    assert answer.facts == {"queries": 1, "responses": 1}


def test_equal_requests_have_equal_bytes() -> None:
    body = {
        "queries": [asked([[1, 0], [0.9, 0.1], [0, 1]], reference_embedding=[1, 1])],
        "constraints": [{"type": "valid_json"}],
    }
    assert answered(body) == answered(body)


STRIPPED = [
    ("answer", ("answer", False, False)),
    (" a < b > c ", (" a < b > c ", False, False)),
    ("<think>hm</think>\n\nanswer", ("answer", True, False)),
    ("<THINK>hm</Think>answer", ("answer", True, False)),
    ("a <thinking>1</thinking>b <thought>2</thought>c<reasoning>3</reasoning>", ("a b c", True, False)),
    ("<think>a</thinking>b</think>c", ("c", True, False)),
    ("<think>\n</think>", ("", True, False)),
    ("answer <think>and then", ("answer", True, True)),
    ("<think>hm", ("", True, True)),
    ("hm, so</think>answer", ("answer", True, False)),
    ("hm</think>answer<think>more</think>", ("answer", True, False)),
    ("<thinker>a</thinker>", ("<thinker>a</thinker>", False, False)),
    ("", ("", False, False)),
]


@pytest.mark.parametrize(("text", "wanted"), STRIPPED)
def test_reasoning_is_taken_out(text: str, wanted: tuple[str, bool, bool]) -> None:
    assert stripped(text) == wanted


def test_reasoning_does_not_count_unless_it_is_asked_for() -> None:
    query = {"responses": ["<think>x</think>a", "<think>y</think>a", "a<think>"]}
    one = interaction(query, **NO_MODEL_NEEDED, constraints=[{"type": "exact_match", "expected": "a"}])
    assert (one["stripped"], one["csr"], one["icr"]) == (3, 1.0, 1.0)
    assert codes(one) == ["low_k", "identical_responses", "unclosed_reasoning"]
    vectors = {text: [float(place), 1.0] for place, text in enumerate(query["responses"])}
    one = interaction(
        query, vectors=vectors, strip_reasoning=False, constraints=[{"type": "exact_match", "expected": "a"}]
    )
    assert (one["stripped"], one["icr"], codes(one)) == (0, 0.0, ["low_k"])
