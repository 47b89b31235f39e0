"""What holds for any path and any document."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import jsonpath_rfc9535
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from service.primitives import RuleFault
from service.primitives.jsonpath import DIALECTS, STEP_BUDGET, compile_path

NAMES = ["a", "b", "c-d", "é", "it's", "\n"]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**53, 2**53 + 1, 0.5, 1.0, -0.0, 1e300])
    | st.sampled_from(["", "a", "b", "ab", "1", "é", "😀"])
)
documents: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=20,
)

numbers = st.integers(-4, 4)
bounds = st.none() | numbers
constants = st.sampled_from(["1", "1.0", "-0", "9007199254740993", "'a'", '"ab"', "''", "true", "false", "null"])
comparisons = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])


def quoted(name: str) -> str:
    return "'" + name.replace("'", r"\'").replace("\n", r"\n") + "'"


@st.composite
def singular_segments(draw: DrawFn) -> str:
    return draw(
        st.sampled_from([".a", ".b", "['a']", "['it\\'s']", '["c-d"]']) | numbers.map(lambda index: f"[{index}]")
    )


@st.composite
def singular_queries(draw: DrawFn) -> str:
    return draw(st.sampled_from("@@$")) + "".join(draw(st.lists(singular_segments(), max_size=3)))


@st.composite
def slices(draw: DrawFn) -> str:
    written = ["" if bound is None else str(bound) for bound in draw(st.tuples(bounds, bounds, bounds))]
    return ":".join(written)


@st.composite
def calls(draw: DrawFn) -> str:
    many = "@" + "".join(draw(st.lists(segments(-1), min_size=1, max_size=2)))
    return draw(st.sampled_from([f"length({draw(singular_queries())})", f"count({many})", f"value({many})"]))


@st.composite
def conditions(draw: DrawFn, depth: int) -> str:
    kind = draw(st.sampled_from(["compare", "exists", "match", "not", "and", "or"] if depth else ["compare", "match"]))
    if kind == "compare":
        operands = singular_queries() | constants | (calls() if depth else constants)
        return f"{draw(operands)} {draw(comparisons)} {draw(operands)}"
    if kind == "match":
        pattern = draw(st.sampled_from(["a", "a.?", "[^a]*", "(a|b)+", ".", "\\\\p{L}+", "("]))
        return f"{draw(st.sampled_from(['match', 'search']))}({draw(singular_queries())}, '{pattern}')"
    if kind == "exists":
        return (
            draw(st.sampled_from(["", "!"]))
            + "@"
            + "".join(draw(st.lists(segments(depth - 1), min_size=1, max_size=2)))
        )
    if kind == "not":
        return f"!({draw(conditions(depth - 1))})"
    mark = "&&" if kind == "and" else "||"
    return f"({draw(conditions(depth - 1))} {mark} {draw(conditions(depth - 1))})"


@st.composite
def selectors(draw: DrawFn, depth: int) -> str:
    plain = st.sampled_from(NAMES).map(quoted) | numbers.map(str) | st.just("*") | slices()
    return draw(plain | conditions(depth).map("?".__add__) if depth >= 0 else plain)


@st.composite
def segments(draw: DrawFn, depth: int) -> str:
    dotted = st.sampled_from(["a", "b", "é", "*"])
    bracketed = st.lists(selectors(depth), min_size=1, max_size=3).map(lambda picks: f"[{', '.join(picks)}]")
    if draw(st.booleans()):
        return draw(st.sampled_from([".", ".."])) + draw(dotted)
    return draw(st.sampled_from(["", "", ".."])) + draw(bracketed)


paths = st.lists(segments(2), max_size=4).map(lambda parts: "$" + "".join(parts))


def same(left: Any, right: Any) -> bool:
    """The same JSON, and the same type of every number."""
    return repr(left) == repr(right)


@settings(max_examples=200)
@given(paths, documents)
def test_rfc9535_agrees_with_another_implementation(path: str, document: Any) -> None:
    expected = jsonpath_rfc9535.find(path, document)
    assert same(compile_path(path, "rfc9535").select(document), expected.values())
    assert [location for location, _ in compile_path(path, "rfc9535").nodes(document)] == expected.paths()


@given(paths, documents, st.sampled_from(["jayway", "rfc9535"]))
def test_select_gives_the_values_of_nodes(path: str, document: Any, dialect: str) -> None:
    compiled = compile_path(path, dialect)
    assert same(compiled.select(document), [value for _, value in compiled.nodes(document)])


@given(paths, documents, st.sampled_from(["jayway", "rfc9535"]), st.sampled_from(["", ".length()"]))
def test_a_location_selects_its_value_alone(path: str, document: Any, dialect: str, method: str) -> None:
    compiled = compile_path(path + (method if dialect == "jayway" else ""), dialect)
    for location, value in compiled.nodes(document):
        assert same(compile_path(location, dialect).select(document), [value])
        assert compile_path(location, dialect).nodes(document)[0][0] == location


@given(paths, documents, documents)
def test_a_compiled_path_keeps_nothing_of_a_document(path: str, document: Any, other: Any) -> None:
    compiled = compile_path(path)
    first = compiled.select(document)
    compiled.select(other)
    assert same(compiled.select(document), first)


@given(paths, documents)
def test_a_document_is_left_as_it_was(path: str, document: Any) -> None:
    before = repr(document)
    compile_path(path).select(document)
    assert repr(document) == before


marks = st.sampled_from(
    [*"$@.[]()?*:,!&|=<>~/'\\\"`+- \n0123ab", "..", "&&", "=~", "length(", "\ud800", "\U0001f600", "`len`"]
)


@st.composite
def mutated(draw: DrawFn) -> str:
    path = draw(paths)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(path)))
        path = path[:at] + draw(marks | st.just("")) + path[at + draw(st.integers(0, 2)) :]
    return path


@settings(max_examples=200)
@given(
    st.text(max_size=60) | st.lists(marks, max_size=30).map("".join) | mutated(), documents, st.sampled_from(DIALECTS)
)
def test_whatever_fails_is_a_rule_fault(path: str, document: Any, dialect: str) -> None:
    with suppress(RuleFault):
        compiled = compile_path(path, dialect)
        assert same(compiled.select(document), [value for _, value in compiled.nodes(document)])


def chain(length: int) -> Any:
    document: Any = 0
    for _ in range(length):
        document = {"a": document}
    return document


greedy = st.sampled_from(
    [
        "..*",
        ".*",
        "[*,*]",
        "[::1]",
        "..[::-1,*]",
        "..['a','a']",
        "[?@..*]",
        "[?count($..*) > 1]",
        "..[?$ == $ || @]",
        ".a",
    ]
)


@settings(max_examples=40)
@given(
    st.lists(greedy, min_size=1, max_size=8).map(lambda parts: "$" + "".join(parts)),
    st.sampled_from([chain(60), [[0] * 300] * 30, [{"a": [{"a": 0}] * 20}] * 20, {"a": [chain(8)] * 40}]),
    st.sampled_from(["jayway", "rfc9535"]),
)
def test_a_greedy_path_stays_within_its_budget(path: str, document: Any, dialect: str) -> None:
    compiled = compile_path(path, dialect)
    for evaluate in (compiled.select, compiled.nodes):
        assert outcome(evaluate, document) in ("path_too_costly", "within")


def outcome(evaluate: Callable[[Any], list[Any]], document: Any) -> str:
    try:
        return "within" if len(evaluate(document)) <= STEP_BUDGET else "beyond"
    except RuleFault as fault:
        return fault.code
