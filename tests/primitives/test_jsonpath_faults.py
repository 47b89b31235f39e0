"""Paths that are refused, and how the refusal helps; what evaluations may cost."""

from collections.abc import Callable
from typing import Any

import pytest

from service.primitives import RuleFault
from service.primitives.jsonpath import MAX_NESTING, MAX_PATH_CHARS, STEP_BUDGET, compile_path

INVALID = [
    ("empty", "", 1, ""),
    ("no root, name first", "store.book[0]", 1, "Put '$.' in front."),
    ("no root, dot first", ".a", 1, "Put '$' in front."),
    ("no root, bracket first", "['a']", 1, "Put '$' in front."),
    ("current node as root", "@.a", 1, "Start at '$'"),
    ("nothing after a dot", "$.a.", 5, ""),
    ("blank after two dots", "$.. ['a']", 4, ""),
    ("blank after a dot", "$. a", 3, ""),
    ("blank before the arguments", "$[?length (@) == 1]", 4, "in quotes"),
    ("three dots", "$...a", 4, "at most two dots"),
    ("dot before a bracket", "$.a.[?(@.b)]", 5, "Leave out the dot"),
    ("dotted index", "$.a.0.b", 5, "Write [0]"),
    ("dotted quotes", "$.'a'", 3, "['name']"),
    ("dotted reserved character", "$.a.#b", 5, "['name']"),
    ("dollar in a dotted name", "$.$x", 3, "['name']"),
    ("blank in a dotted name", "$.a b", 5, "['name']"),
    ("filter without brackets", "$.a?(@.b)", 4, "[?@.a == 1]"),
    ("name without quotes", "$[a]", 3, "['name']"),
    ("text without an end", "$['a", 5, ""),
    ("unknown escape", r"$['\x']", 4, "backslash"),
    ("lone surrogate", r"$['\ud800']", 4, "surrogates in pairs"),
    ("raw control character", "$['a\tb']", 5, r"\t"),
    ("nothing in brackets", "$[]", 3, "* for every child"),
    ("comma at the end", "$[1,]", 5, "Write a selector"),
    ("leading zero", "$[01]", 4, "leading zeros"),
    ("negative zero", "$[-0]", 3, "leading zeros"),
    ("index out of range", "$[9007199254740992]", 3, ""),
    ("slice out of range", "$[:-9007199254740992]", 4, ""),
    ("filter beside a wildcard", "$[*?(@.a == 1)]", 4, "[*][?@.a == 1]"),
    ("script", "$[(@.length-1)]", 3, "[-1]"),
    ("filter without a question mark", "$[@.a]", 3, "Start a filter with '?'"),
    ("empty filter", "$[?()]", 5, "@.a == 1"),
    ("single equals sign", "$[?(@.a = 1)]", 9, "=="),
    ("triple equals sign", "$[?@.a === 1]", 10, "=="),
    ("other inequality", "$[?@.a <> 1]", 9, "!="),
    ("single ampersand", "$[?@.a & @.b]", 8, "&&"),
    ("and", "$[?@.a and @.b]", 8, "&&"),
    ("OR", "$[?@.a OR @.b]", 8, "||"),
    ("not", "$[?not @.a]", 4, "Write !"),
    ("chain of comparisons", "$[?1 < @.a < 3]", 12, "&&"),
    ("negated comparison without parentheses", "$[?!@.a == 1]", 9, "'!'"),
    ("parentheses around a value", "$[?(@.a) == 1]", 10, "parentheses"),
    ("arithmetic", "$[?@.a + 1 == 2]", 8, "arithmetic"),
    ("unquoted text", "$[?@.a == x]", 11, "in quotes"),
    ("capital True", "$[?@.a == True]", 11, "lower case"),
    ("number without a digit in front", "$[?@.a == .5]", 11, "0.5"),
    ("number beyond a double", "$[?@.a == 1e400]", 11, "range of a double"),
    ("list as a value", "$[?@.a == [1]]", 11, "not supported"),
    ("parenthesis not closed", "$[?(@.a == 'x']", 15, "Close the parenthesis"),
    ("filter not closed", "$[?(@.a == 'x').b]", 16, "Close the bracket"),
    ("bracket too many", "$.a[?@.b]]", 10, ""),
    ("many nodes compared", "$[?@.* == 1]", 4, "count()"),
    ("many nodes measured", "$[?length(@..a) == 1]", 11, "count()"),
    ("value counted", "$[?count(1) == 1]", 10, ""),
    ("number as a test", "$[?length(@.a)]", 15, "Compare this value"),
    ("text as a test", "$[?'a']", 7, "Compare this value"),
    ("logical result compared", "$[?match(@.a,'x') == true]", 4, "Use this function alone"),
    ("unknown function", "$[?min(@.a) == 1]", 4, "length, count, value, match and search"),
    ("too few arguments", "$[?match(@.a)]", 13, ""),
    ("too many arguments", "$[?length(@.a, @.b) == 1]", 14, ""),
    ("unquoted pattern", "$[?@.a =~ x]", 11, "/pattern/"),
    ("malformed pattern", "$[?@.a =~ /(/]", 11, "not well-formed"),
    ("unknown flag", "$[?@.a =~ /a/g]", 14, "i, m and s"),
    ("unknown method", "$.a.sum()", 8, ".length()"),
    ("length after a descent", "$..length()", 10, ".length()"),
    *(
        (f"operator {name}", f"$[?(@.a {name} ['x'])]", 9, "not supported")
        for name in ("in", "nin", "subsetof", "anyof", "noneof", "size", "empty", "contains", "startswith", "IN")
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "position", "fix"), [case[1:] for case in INVALID], ids=[case[0] for case in INVALID])
def test_fault_names_position_and_fix(path: str, position: int, fix: str) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_path(path)
    assert caught.value.code == "invalid_path"
    assert f" at character {position} of the path, " in caught.value.detail
    assert fix in caught.value.detail


JAYWAY_ONLY = [
    ("blank in front", " $", "blanks"),
    ("blank at the end", "$ ", "blanks"),
    ("hyphen", "$.a-b", "['name']"),
    ("length of a node", "$.a.length()", "dialect jayway"),
    ("pattern", "$[?@.a =~ /x/]", "match() or search()"),
]


@pytest.mark.parametrize(("path", "fix"), [case[1:] for case in JAYWAY_ONLY], ids=[case[0] for case in JAYWAY_ONLY])
def test_additions_need_the_dialect_jayway(path: str, fix: str) -> None:
    compile_path(path, "jayway")
    with pytest.raises(RuleFault, match="Expected") as caught:
        compile_path(path, "rfc9535")
    assert fix in caught.value.detail


def test_unknown_dialect() -> None:
    with pytest.raises(RuleFault, match="jayway, rfc9535, jsonpath-ng") as caught:
        compile_path("$", "goessner")
    assert caught.value.code == "invalid_params"


@pytest.mark.parametrize("dialect", ["jayway", "rfc9535", "jsonpath-ng"])
def test_length_of_a_path_is_limited(dialect: str) -> None:
    longest = "$['" + "a" * (MAX_PATH_CHARS - 5) + "']"
    compile_path(longest, dialect)
    with pytest.raises(RuleFault) as caught:
        compile_path(longest + " ", dialect)
    assert caught.value.code == "limit_exceeded"


NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda depth: "$[?" + "(" * (depth - 1) + "@" + ")" * (depth - 1) + "]",
    "filters": lambda depth: "$" + "[?@" * depth + "]" * depth,
    "negations": lambda depth: "$[?" + "!(" * (depth - 1) + "@.a" + ")" * (depth - 1) + "]",
    "calls": lambda depth: "$[?" + "length(value(" * (depth // 2) + "@" + "))" * (depth // 2) + "==1]",
}


@pytest.mark.parametrize("form", NESTED)
def test_nesting_is_limited(form: str) -> None:
    path = NESTED[form]
    if form != "calls":
        compile_path(path(MAX_NESTING)).nodes([[[1]]])
    for depth in (MAX_NESTING + 2, 400 if form != "calls" else 200):
        with pytest.raises(RuleFault) as caught:
            compile_path(path(depth)[:MAX_PATH_CHARS])
        assert caught.value.code == "invalid_path"


def chain(length: int) -> Any:
    document: Any = {}
    for _ in range(length):
        document = {"a": document}
    return document


OBJECTS = [{"a": i} for i in range(2000)]
NUMBERS = list(range(100_000))
TEXTS = {"a": "x" * 1_000_000, "b": "x" * 1_000_000, "c": [0] * 20_000}

COSTLY = [
    ("results of descents", "$..*..*..*", chain(90)),
    ("deeper still", "$..*..*..*..*..*", chain(60)),
    ("slices", "$" + "[::1]" * 200, NUMBERS),
    ("scan of the root for each element", "$[?$[?@.a > 1]]", OBJECTS),
    ("filters that find nothing", "$[" + ",".join(["?@ < 0"] * 200) + "]", NUMBERS),
    ("names that are not there", "$[*][" + ",".join(["'a'"] * 400) + "]", NUMBERS),
    ("comparisons of constants", "$[?" + "&&".join(["1==1"] * 300) + "]", NUMBERS),
    ("long queries in a test", "$[?@" + ".a" * 900 + "]", NUMBERS),
    ("large arrays compared", "$[?$ == $]", NUMBERS),
    ("large texts compared", "$.c[?$.a == $.b]", TEXTS),
    ("large texts ordered", "$.c[?$.a <= $.b]", TEXTS),
    ("counts of many", "$..[?count($..*) > 1]", OBJECTS),
    ("union of everything", "$" + "[*,*]" * 30, [[[[[[]]]]]] * 50_000),
]


@pytest.mark.parametrize("method", ["select", "nodes"])
@pytest.mark.parametrize(("path", "document"), [case[1:] for case in COSTLY], ids=[case[0] for case in COSTLY])
def test_costly_path_is_stopped(path: str, document: Any, method: str) -> None:
    compiled = compile_path(path)
    with pytest.raises(RuleFault) as caught:
        getattr(compiled, method)(document)
    assert caught.value.code == "path_too_costly"


def test_budget_is_for_each_evaluation() -> None:
    path = compile_path("$[*]")
    within = [0] * (STEP_BUDGET - 1)
    assert path.select(within) == path.select(within) == within
    with pytest.raises(RuleFault):
        path.select([0] * STEP_BUDGET)


def test_long_locations_count() -> None:
    document = {"k" * 1_000_000: [0] * 1_000}
    assert len(compile_path("$.*[*]").select(document)) == 1_000
    with pytest.raises(RuleFault, match="steps"):
        compile_path("$.*[*]").nodes(document)


def test_patterns_share_a_time_limit() -> None:
    patterns = ["(" + "a|" * number + "b)" for number in range(450)]
    with pytest.raises(RuleFault) as caught:
        compile_path("$[?match('aaaa', @)]").select(patterns * 40)
    assert caught.value.code == "regex_timeout"


def test_backtracking_is_stopped() -> None:
    with pytest.raises(RuleFault) as caught:
        compile_path("$[?@ =~ /(?=a)(a|a)*$/]").select(["a" * 40 + "!"])
    assert caught.value.code == "regex_timeout"


def test_pattern_of_the_document_can_be_too_long() -> None:
    with pytest.raises(RuleFault) as caught:
        compile_path("$[?match('a', @)]").select(["a" * 10_001])
    assert caught.value.code == "limit_exceeded"


def test_depth_costs_no_stack() -> None:
    document = chain(5_000)
    assert len(compile_path("$..a").select(document)) == 5_000
    assert compile_path("$" + ".a" * 900).nodes(document)[0][0] == "$" + "['a']" * 900
    assert len(compile_path("$[?@ == $[0]]").select([[document], [chain(5_000)], [chain(4_999)]])) == 2
