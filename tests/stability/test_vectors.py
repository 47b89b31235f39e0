"""Vectors that the model makes: asked for at once, late, missing, cut."""

from typing import Any

import pytest

from service.config import Limits
from service.core.errors import TooLarge
from service.core.ports import Model
from service.judge.scripted import Scripted as Judges
from tests.engine.test_inquiries import Scripted
from tests.judging import NO_JUDGES, NO_MODEL
from tests.stability.asking import Body, asked, codes, interaction, measured

NULL_WITHOUT_VECTORS = ("csr", "csr_interval", "stability", "rss", "n_clusters", "pair_agreement", "effective_meanings",
                        "mean_pairwise_cosine", "entropy", "chained", "tau_curve", "clusters")  # fmt: skip
QUERY: Body = {"responses": ["one", "two", "three"], "ground_truth_assistant": "four", "query": "q"}
JUDGED: Body = {"constraints": [{"type": "contains", "expected": "t"}], "jq": {"objective": "x"}}


def rating() -> Judges:
    return Judges(lambda _: {"score": 0.5})


def test_distinct_texts_are_asked_for_once_for_all_queries() -> None:
    embedder = Scripted()
    own = asked([[1, 0]], ground_truth_assistant="own", reference_embedding=[1, 0])
    by_text = {"responses": ["mine", "mine"]}
    queries = [
        QUERY,
        own,
        QUERY | {"responses": ["two", "five", "two"]},
        by_text,
        {"responses": ["<think>x</think>six"]},
    ]
    session = measured({"queries": queries, "vectors": {"mine": [1, 2, 3]}}, embedder=embedder)
    assert embedder.asked == [["one", "two", "three", "four", "five", "six"]]
    assert all(one["csr"] is not None for one in session["interactions"])
    assert session["model"] == "scripted"


def test_only_distinct_texts_of_the_model_count_towards_the_limit() -> None:
    queries = [
        asked([[1, 0]] * 50),
        {"responses": ["a"] * 50},
        {"responses": ["b"] * 50, "ground_truth_assistant": "a"},
    ]
    assert measured({"queries": queries}, Limits(texts=2), Scripted())["csr"] == 1


def test_the_model_recommends_its_tau() -> None:
    embedder = Scripted()
    embedder.model = Model(id="scripted", fingerprint="0", dimensions=2, tau=0.97)
    session = measured({"queries": [{"responses": ["a", "b", "a", "b", "a"]}], "tau": 0.5}, embedder=embedder)
    assert session["recommended_tau"] == 0.97
    (warning,) = session["interactions"][0]["warnings"]
    assert (warning["code"], "try 0.97" in warning["detail"]) == ("tau_saturated", True)


WITHOUT = [
    ("no model", NO_MODEL, "model_unavailable"),
    ("a late text", Scripted(late=["two"]), "deadline_exceeded"),
    ("a text that the model fails at", Scripted(faulty=["two"]), "model_unavailable"),
]


@pytest.mark.parametrize(("embedder", "code"), [row[1:] for row in WITHOUT], ids=[row[0] for row in WITHOUT])
def test_without_vectors_the_rest_stands(embedder: Any, code: str) -> None:
    whole = {"responses": ["x"], "query": "q"}
    session = measured({"queries": [QUERY, whole]} | JUDGED, embedder=embedder, judges=rating())
    one, other = session["interactions"]
    assert [one[name] for name in NULL_WITHOUT_VECTORS] == [None] * len(NULL_WITHOUT_VECTORS)
    assert (one["k"], one["icr"], one["jq"]) == (3, pytest.approx(2 / 3), 0.5)
    assert codes(one) == ["low_k", code]
    assert (other["csr"], session["csr"]) == ((None, None) if embedder is NO_MODEL else (1.0, 1.0))


@pytest.mark.parametrize(("embedder", "code"), [(Scripted(late=["four"]), "deadline_exceeded"), (Scripted(faulty=["four"]), "model_unavailable")])  # fmt: skip
def test_a_reference_without_a_vector_takes_rss_alone(embedder: Scripted, code: str) -> None:
    one = interaction(QUERY, embedder)
    assert (one["rss"], one["csr"]) == (None, 1.0)
    assert code in codes(one)


def test_texts_that_were_cut_are_told() -> None:
    one = interaction({"responses": ["a b c d e", "a"] * 3}, Scripted())
    (detail,) = [warning["detail"] for warning in one["warnings"] if warning["code"] == "truncated_texts"]
    assert "3 responses" in detail


def test_constraints_may_need_the_model_too() -> None:
    constraints = [{"type": "embedding_similarity"}, {"type": "length", "unit": "tokens", "max": 3}]
    one = interaction(QUERY, Scripted(), constraints=constraints)
    assert one["icr_by_constraint"] == {"embedding_similarity": 1, "length": 1}
    one = interaction(QUERY | {"embeddings": [[1, 0]] * 3}, NO_MODEL, constraints=constraints)
    assert (one["icr"], one["csr"]) == (None, 1.0)
    assert "constraint_not_graded" in codes(one)


def test_own_vectors_serve_constraints_by_text() -> None:
    vectors = {"one": [1.0, 0], "two": [0, 1.0], "three": [1.0, 0], "four": [1.0, 0]}
    one = interaction(QUERY, constraints=[{"type": "embedding_similarity"}], vectors=vectors)
    assert (one["icr"], one["rss"], one["csr"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(2 / 3))


UNREAD = [
    # query, more of the request, texts that nobody reads
    ({"responses": ["a", "b"]}, {}, ["c"]),
    ({"responses": ["a", "b"], "ground_truth_assistant": "c"}, {}, []),
    ({"responses": ["a", "b"], "ground_truth_assistant": "c", "reference_embedding": [1]}, {}, ["c"]),
    ({"responses": ["a", "b"], "ground_truth_assistant": " "}, {}, ["c"]),
    ({"responses": ["<think>c</think>a", "b"]}, {}, ["c"]),
    ({"responses": ["a", {"error": "c"}, "b"]}, {}, ["c"]),
    ({"responses": ["a", "b"], "embeddings": [[1], [1]]}, {}, ["a", "b", "c"]),
    ({"responses": ["x", "y"]}, {}, ["a", "b", "c"]),
    ({"responses": ["a", "b"]}, {"constraints": [{"type": "embedding_similarity", "expected": "c"}]}, []),
    ({"responses": ["a", "b"]}, {"constraints": [{"type": "embedding_similarity", "active": False}]}, ["c"]),
    ({"responses": ["a", "b"]}, {"constraints": [{"type": "contains", "expected": "c"}]}, ["c"]),
]


@pytest.mark.parametrize(("query", "more", "unread"), UNREAD)
def test_vectors_that_nobody_reads_are_told(query: Body, more: Body, unread: list[str]) -> None:
    session = measured({"queries": [query], "vectors": {"a": [1], "b": [1], "c": [1]}} | more, embedder=Scripted())
    told = [warning["detail"] for warning in session["warnings"] if warning["code"] == "unused_vectors"]
    assert len(told) == bool(unread)
    assert not unread or told[0].startswith(
        f"{len(unread)} of 3 `vectors` are not read, the first for '{unread[0]}': they are looked up by"
    )


def test_vectors_that_one_of_the_queries_reads_are_read() -> None:
    queries = [{"responses": ["a"]}, {"responses": ["b"]}, asked([[1, 0]])]
    assert measured({"queries": queries, "vectors": {"a": [1], "b": [1]}})["warnings"] == []


def test_more_than_the_linkage_can_show_a_curve_of() -> None:
    one = interaction(asked([[float(place % 7), 1.0] for place in range(2_001)]), tau=0.99)
    assert (one["tau_curve"], one["k"]) == (None, 2_001)
    assert sum(group["size"] for group in one["clusters"]) == 2_001


def test_an_answer_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLarge, match="response_bytes"):
        measured({"queries": [asked([[1, 0]] * 50)] * 20}, Limits(response_bytes=10_000), judges=NO_JUDGES)
