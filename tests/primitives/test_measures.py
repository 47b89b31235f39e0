"""Distances, numbers, units of length, assignments, intervals."""

import math
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives import RuleFault
from service.primitives.assignment import best_pairs, refuse_long_lists, similarity_matrix
from service.primitives.distance import closeness, levenshtein_similarity
from service.primitives.numbers import is_number, read_number, within
from service.primitives.stats import wilson
from service.primitives.units import Unit, count

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "unit", "size"),
    [
        ("", "characters", 0),
        ("👨‍👩‍👧", "characters", 5),
        ("👨‍👩‍👧", "graphemes", 1),
        ("e\u0301", "graphemes", 1),
        ("\r\n", "graphemes", 1),
        ("한국어", "graphemes", 3),
        ("é", "bytes", 2),
        ("a\u00a0b\u2003c d", "words", 4),
        ("a\u200bb", "words", 1),
        ("well-known fact", "words", 2),
        ("a - b", "words", 3),
        ("don't stop!", "unicode_words", 2),
        ("3.14 and 1,000", "unicode_words", 3),
        ("今天天气", "unicode_words", 4),
        ("... !", "unicode_words", 0),
        ("One. Two? Three!", "sentences", 3),
        ("He paid 3.50 dollars.", "sentences", 1),
        ("  \n ", "sentences", 0),
    ],
)
def test_units(text: str, unit: Unit, size: int) -> None:
    assert count(text, unit) == size


@given(st.text())
def test_units_are_ordered(text: str) -> None:
    assert count(text, "graphemes") <= count(text, "characters") <= count(text, "bytes")
    assert count(text, "words") <= count(text, "characters")


@pytest.mark.parametrize(
    ("text", "unit", "size"),
    [
        ("🇩🇪" * 200_000, "graphemes", 200_000),
        ("🇩" * 200_001, "graphemes", 100_001),
        (" " * 400_000, "sentences", 0),
        ("a." + " " * 400_000 + "B", "sentences", 2),
        ("a." + ")" * 400_000, "sentences", 1),
        ("A. 1" * 100_000, "sentences", 100_001),
        ("\n" * 400_000, "sentences", 0),
        ("今天" * 200_000, "unicode_words", 400_000),
    ],
)
def test_long_texts_are_counted_in_linear_time(text: str, unit: Unit, size: int) -> None:
    assert count(text, unit) == size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0),
        ("No end", 1),
        ("Is it 3.5? Yes.", 2),
        ("U.S.A. is big. Ok", 2),
        ("One. two", 1),
        ('Wait... what? "Yes." he said.', 2),
        ('He said "Go." Then left.', 2),
        ("今天天气很好。我们走吧！", 2),
        ("a\r\n\r\nb\u2029c", 3),
        ("One.\u0301 Two\u00ad.", 2),
    ],
)
def test_sentences_by_the_rules_of_uax_29(text: str, size: int) -> None:
    assert count(text, "sentences") == size


def plain_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


TEXTS = st.text(alphabet="abc😀\u0301", max_size=12)


@given(TEXTS, TEXTS)
def test_edit_distance_is_the_textbooks(one: str, other: str) -> None:
    longest = max(len(one), len(other))
    want = 1 - plain_distance(one, other) / longest if longest else 1
    assert levenshtein_similarity(one, other) == pytest.approx(want, abs=1e-12)
    assert levenshtein_similarity(other, one) == levenshtein_similarity(one, other)


def test_edit_distance_of_very_long_texts_is_refused_unless_they_are_equal() -> None:
    with pytest.raises(RuleFault) as caught:
        levenshtein_similarity("a" * 100_000, "b" * 100_000)
    assert caught.value.code == "limit_exceeded"
    assert levenshtein_similarity("a" * 100_000, "a" * 100_000) == 1


@given(NUMBERS, NUMBERS)
def test_closeness_is_its_formula_computed_exactly(one: float, other: float) -> None:
    a, b = Fraction(one), Fraction(other)
    want = float(1 - abs(a - b) / (abs(a) + abs(b))) if a or b else 1.0
    assert closeness(one, other) == pytest.approx(want, abs=1e-12)
    assert closeness(other, one) == closeness(one, other)
    assert 0 <= closeness(one, other) <= 1


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [
        (1.5e308, 1e308, 0.8),
        (1e308, -1e308, 0),
        (10**400, 2.5, 0),
        (10**400, -(10**400), 0),
        (5e-324, 0, 0),
        (0, 0.0, 1),
    ],
)
def test_closeness_at_the_edges(one: float, other: float, want: float) -> None:
    assert closeness(one, other) == pytest.approx(want)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("12", 12), (" -1.5e3\n", -1500.0), ("0", 0), ("1E+2", 100.0), ("9007199254740993", 9007199254740993),
        ("1" * 4300, int("1" * 4300)), ("1" * 4301, None), ("1e400", None), ("01", None), ("+1", None), ("1.", None),
        (".5", None), ("1_000", None), ("1,000", None), ("٣", None), ("NaN", None), ("Infinity", None), ("", None),
        ("0x10", None), ("1 2", None), ("\u00a01", None), ("true", None),
    ],
)  # fmt: skip
def test_numbers_are_read_by_jsons_grammar(text: str, want: float | None) -> None:
    got = read_number(text)
    assert got == want
    assert type(got) is type(want)


@given(st.text() | NUMBERS.map(str))
def test_what_is_read_is_a_number_or_nothing(text: str) -> None:
    got = read_number(text)
    assert got is None or is_number(got)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [(1, True), (1.5, True), (True, False), ("1", False), (None, False), (math.nan, False), (math.inf, False)],
)
def test_what_is_a_number(value: object, is_one: bool) -> None:
    assert is_number(value) is is_one


@given(NUMBERS, NUMBERS, st.floats(0, 1e6))
def test_within_is_exact_and_symmetric(one: float, other: float, tolerance: float) -> None:
    a, b, allowed = (Fraction(repr(number)) for number in (one, other, tolerance))
    assert within(one, other, tolerance) == within(other, one, tolerance) == (abs(a - b) <= allowed)
    assert within(one, one, 0)


@pytest.mark.parametrize(
    ("one", "other", "tolerance", "holds"), [(1.1, 1, 0.1, True), (0.3, 0.1, 0.2, True), (1.11, 1, 0.1, False)]
)
def test_within_is_what_the_decimals_say(one: float, other: float, tolerance: float, holds: bool) -> None:
    assert within(one, other, tolerance) is holds


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.floats(0, 1), min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
def test_an_assignment_is_the_best_of_all(matrix: list[list[float]]) -> None:
    rows, columns = len(matrix), len(matrix[0])
    pairs = best_pairs(matrix)
    assert pairs == sorted(pairs)
    assert len(pairs) == min(rows, columns)
    small, large = sorted([rows, columns])
    at = (lambda i, j: matrix[i][j]) if rows <= columns else (lambda i, j: matrix[j][i])
    best = max(sum(at(i, j) for i, j in enumerate(chosen)) for chosen in permutations(range(large), small))
    assert sum(matrix[i][j] for i, j in pairs) == pytest.approx(best)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=4))
def test_a_matrix_of_similarities_is_made_of_them(rows: list[str], columns: list[str]) -> None:
    matrix = similarity_matrix(rows, columns)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            assert matrix[i][j] == pytest.approx(levenshtein_similarity(row, column), abs=1e-12)


def test_pairs_are_bounded() -> None:
    with pytest.raises(RuleFault):
        refuse_long_lists(1_001, 1_000)
    with pytest.raises(RuleFault):
        similarity_matrix(["a" * 200_000], ["b" * 200_000])


@pytest.mark.parametrize(
    ("successes", "size", "low", "high"),
    [
        (1, 1, 0.20654931, 1.0),
        (0, 1, 0.0, 0.79345069),
        (5, 10, 0.23659309, 0.76340691),
        (0, 10, 0.0, 0.27753279),
        (9.5, 10, 0.66, 0.995),
    ],
)
def test_wilson(successes: float, size: int, low: float, high: float) -> None:
    assert wilson(successes, size) == pytest.approx((low, high), abs=6e-3 if successes == 9.5 else 1e-7)


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_contains_its_estimate(counts: tuple[int, int]) -> None:
    successes, size = counts
    low, high = wilson(successes, size)
    assert 0 <= low <= successes / size + 1e-12
    assert successes / size - 1e-12 <= high <= 1
