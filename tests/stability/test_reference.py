"""The numbers of the reference, the peer's where it is right."""

from typing import Any

import pytest

from tests.stability.asking import Body, asked, codes, interaction, measured, refused
from tests.stability.cases import CASES, NUMBERS, Case

BY_NAME = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def query(case: Case) -> Body:
    reference = {} if case.reference is None else {"reference_embedding": case.reference, "ground_truth_assistant": "r"}
    return asked(case.embeddings, **reference)


def labels(one: Body) -> list[int]:
    """The cluster of each response."""
    by_member = {member: number for number, group in enumerate(one["clusters"]) for member in group["members"]}
    return [by_member[member] for member in sorted(by_member)]


@BY_NAME
def test_single_linkage(case: Case) -> None:
    one = interaction(query(case), tau=case.tau)
    assert [one[name] for name in NUMBERS] == [
        None if value is None else pytest.approx(value, abs=1e-9) for value in case.wanted
    ]
    assert str(one["stability"]) != "-0.0"
    assert labels(one) == case.labels
    assert [group["size"] for group in one["clusters"]] == [len(group["members"]) for group in one["clusters"]]


@pytest.mark.parametrize("case", [case for case in CASES if case.complete], ids=lambda case: case.name)
def test_complete_linkage(case: Case) -> None:
    assert case.complete is not None
    one = interaction(query(case), tau=case.tau, linkage="complete")
    wanted, csr, stability = case.complete
    assert labels(one) == wanted
    assert (one["csr"], one["stability"]) == (pytest.approx(csr, abs=1e-9), pytest.approx(stability, abs=1e-9))
    assert one["chained"] is False


@pytest.mark.parametrize(
    ("name", "chained"), [("stability-006", True), ("stability-007", True), ("stability-024", True), ("stability-004", False)]
)  # fmt: skip
def test_a_chain_is_told(name: str, chained: bool) -> None:
    (case,) = (case for case in CASES if case.name == name)
    one = interaction(query(case), tau=case.tau)
    assert (one["chained"], "chained" in codes(one)) == (chained, chained)


def split(*sizes: int) -> list[list[float]]:
    """Vectors in clusters of these sizes."""
    return [
        [float(at == dimension) for at in range(len(sizes))]
        for dimension, size in enumerate(sizes)
        for _ in range(size)
    ]


BAYESIAN = [
    # sizes, level, mean, interval
    ((5,), 0.95, 0.8571428571, (0.5407418736, 0.9957892555)),
    ((1, 1, 1), 0.95, 0.4, (0.0675859865, 0.8058795503)),
    ((20,), 0.95, 0.9545454545, (0.8389023848, 0.9987951166)),
    ((30, *[1] * 10), 0.9, None, None),
]


@pytest.mark.parametrize(("sizes", "level", "mean", "interval"), BAYESIAN)
def test_bayesian(sizes: tuple[int, ...], level: float, mean: float | None, interval: Any) -> None:
    mode = {"type": "bayesian", "mc_samples": 200, "ci_level": level}
    one = interaction(asked(split(*sizes)), statistical_mode=mode)
    plain = interaction(asked(split(*sizes)))
    assert one["csr"] == pytest.approx((1 + max(sizes)) / (2 + sum(sizes)), abs=1e-12)
    assert mean is None or one["csr"] == pytest.approx(mean, abs=1e-9)
    assert interval is None or one["csr_interval"] == pytest.approx(interval, abs=1e-8)
    changed = {name for name in one if one[name] != plain[name]}
    assert changed <= {"csr", "csr_interval"}


def test_a_flat_mode_says_what_was_asked() -> None:
    mode = {"type": "bayesian", "mc_samples": 5000, "ci_level": 0.95}
    assert measured({"queries": [asked([[1, 0]])], "statistical_mode": mode})["statistical_mode"] == mode


def test_means_are_of_unrounded_values() -> None:
    session = measured({"queries": [asked(split(3)), asked(split(1, 1, 1))]})
    assert (session["csr"], session["stability"]) == (pytest.approx(2 / 3, abs=1e-12), 0.5)
    assert (session["k"], session["n_queries"]) == (3, 2)


def test_equal_queries_have_equal_numbers() -> None:
    body = {"queries": [asked(split(7, 3))] * 2, "statistical_mode": {"type": "bayesian"}}
    session = measured(body)
    assert session["csr"] == pytest.approx(2 / 3, abs=1e-12)
    one, other = session["interactions"]
    assert one | {"qa_id": "2"} == other


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_reference_is_none_whatever_its_embedding(blank: str) -> None:
    queries = [
        asked(split(3), ground_truth_assistant=blank),
        asked(split(3), ground_truth_assistant=blank, reference_embedding=[0.5]),
    ]
    session = measured({"queries": queries})
    assert [session["rss"], *(one["rss"] for one in session["interactions"])] == [None] * 3


def test_standard_errors_are_those_of_the_means() -> None:
    near, far = (
        asked(split(3), reference_embedding=[1], replies=[{"score": 1}] * 3),
        asked(split(1, 1, 1), reference_embedding=[1, 0, 0], replies=[{"score": 0.5}, None, {"score": 0}]),
    )
    more = {
        "jq": {"objective": "x", "judge": "caller"},
        "constraints": [{"type": "contains", "expected": "0"}, {"type": "length", "max": 99, "id": "short"}],
    }
    session = measured({"queries": [near, far | {"responses": ["0", "0", "b"]}]} | more)
    errors = session["standard_errors"]
    assert errors == {
        "csr": pytest.approx(1 / 3),
        "stability": pytest.approx(0.5),
        "rss": pytest.approx(1 / 3),
        "icr": pytest.approx((5 / 6 - 2 / 3) / 2),
        "jq": pytest.approx(0.375),
        "pair_agreement": pytest.approx(0.5),
    }
    alone = measured({"queries": [near]} | more)
    assert alone["standard_errors"] == dict.fromkeys(errors)
    assert [alone[name] for name in errors] == [1, 1, 1, pytest.approx(2 / 3), 1, 1]


def test_only_queries_that_have_a_number_count_in_its_standard_error() -> None:
    queries = [asked(split(2), reference_embedding=[1])] + [asked(split(2))] * 3
    errors = measured({"queries": queries})["standard_errors"]
    assert (errors["rss"], errors["icr"], errors["csr"]) == (None, None, 0)


JSON, EMPTY_KEYWORD = (
    {"type": "valid_json", "allow_scalars": True, "extract": "whole"},
    {"type": "keywords", "keywords": [""]},
)
ICR = [
    # responses, constraints, icr, all of them, by constraint
    (['{"answer": "a", "confidence": 0.9}', "the confidence is high", '{"answer": "a b c d e f g h i"}'],
     [JSON, {"type": "length", "unit": "words", "max": 8},
      {"type": "keywords", "keywords": ["confidence"], "whole_word": False}],
     2 / 3, 1 / 3, {"valid_json": 2 / 3, "length": 2 / 3, "keywords": 2 / 3}),
    (["refund issued", "REFUND", "Refund ok"],
     [{"type": "keywords", "keywords": ["Refund"], "whole_word": False},
      {"type": "keywords", "keywords": ["Refund"], "whole_word": False, "case_sensitive": True},
      {"type": "regex", "pattern": "refund"}],
     5 / 9, 0, {"keywords": 1, "keywords-2": 1 / 3, "regex": 1 / 3}),
    (['{"a":1}', "x"], [JSON, JSON], 0.5, 0.5, {"valid_json": 0.5, "valid_json-2": 0.5}),
    (["[" * 100_000], [JSON], 0, 0, {"valid_json": 0}),
    (["", "x"], [{"type": "length", "unit": "words", "max": 0}], 0.5, 0.5, {"length": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("responses", "constraints", "icr", "of_all", "by_constraint"), ICR)
def test_icr(responses: list[str], constraints: list[Body], icr: float, of_all: float, by_constraint: Body) -> None:
    one = interaction({"responses": responses}, constraints=constraints)
    assert one["icr"] == pytest.approx(icr, abs=1e-12)
    assert one["icr_all"] == pytest.approx(of_all, abs=1e-12)
    assert one["icr_by_constraint"] == {name: pytest.approx(share) for name, share in by_constraint.items()}


REFUSED = [
    ({"queries": []}, "/queries"),
    ({"queries": [{"responses": [], "embeddings": []}]}, "/queries/0/responses"),
    ({"queries": [{"responses": ["", "x"]}], "constraints": [EMPTY_KEYWORD]}, "/constraints/0"),
]


@pytest.mark.parametrize(("body", "pointer"), REFUSED)
def test_what_the_peer_fails_at_is_refused(body: Body, pointer: str) -> None:
    assert [found for found, _ in refused(body)] == [pointer]
