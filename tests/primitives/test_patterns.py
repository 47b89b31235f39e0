"""Patterns: one meaning, whichever engine answers."""

import re
from typing import NamedTuple

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from service.primitives import RuleFault
from service.primitives.patterns import (
    MAX_BACKTRACKING_CHARS,
    MAX_PATTERN_CHARS,
    Match,
    compile_pattern,
    escape,
)


class Case(NamedTuple):
    name: str
    pattern: str
    text: str
    found: str | None
    engine: str = "re2"
    flags: str = ""
    whole: bool = False


CASES = [
    Case("search", r"\d{3}-\d{2}-\d{4}", "My SSN is 123-45-6789.", "123-45-6789"),
    Case("all of the text", r"\d{3}-\d{2}-\d{4}", "My SSN is 123-45-6789.", None, whole=True),
    Case("a newline counts in all of the text", "YES", "YES\n", None, whole=True),
    Case("dollar before a last newline", "^YES$", "YES\n", "YES", "backtracking"),
    Case("dollar with m", "^YES$", "no\nYES\n", "YES", flags="m"),
    Case("dollar with m inside", "(?m)^YES$", "no\nYES\n", "YES"),
    Case("dollar with m turned off again", "(?-m:YES$)", "YES\n", "YES", "backtracking", flags="m"),
    Case("dot and newline", "a.b", "a\nb", None),
    Case("dot and newline with s", "a.b", "a\nb", "a\nb", flags="s"),
    Case("case", "yes", "YES", None),
    Case("case ignored", "yes", "YES", "YES", flags="i"),
    Case("case ignored inside", "(?i)yes", "YES", "YES"),
    Case("flags in any order", "^a.b$", "X\nA\nB", "A\nB", flags="smi"),
    Case("letters of any script", r"^\w+$", "naïve", "naïve", "backtracking"),
    Case("digits of any script", r"^\d+$", "٣５", "٣５", "backtracking"),
    Case("boundary after an accent", r"\bnoir\b", "cafénoir", None, "backtracking"),
    Case("boundary around an accent", r"\bcafé\b", "un café noir", "café", "backtracking"),
    Case("no-break space", r"^a\sb$", "a\u00a0b", "a\u00a0b", "backtracking"),
    Case("vertical tab", r"a\sb", "a\vb", "a\vb", "backtracking"),
    Case("literals beyond ASCII", "(日本|é+)", "caféé", "éé"),
    Case("dotless i", "(?i)I", "ı", "ı", "backtracking"),
    Case("dotted capital in a range", "(?i)^[à-ž]$", "i", "i", "backtracking"),
    Case("look-ahead", "^(?!.*password).*$", "all fine", "all fine", "backtracking"),
    Case("back-reference", r"\b(\w+) \1\b", "this is is odd", "is is", "backtracking"),
    Case("twelfth group, no octal number", "()" * 12 + r"x\12", "x\n", "x", "backtracking"),
    Case("no least count", "a{,3}b", "aab", "aab", "backtracking"),
    Case("zero-led count", "a{02}", "aa", "aa", "backtracking"),
    Case("count beyond RE2", "a{1001}", "a" * 1001, "a" * 1001, "backtracking"),
    Case("braces that are no count", "Dear {e}, x{}", "Dear {e}, x{}", "Dear {e}, x{}"),
    Case("named character", r"\N{LATIN SMALL LETTER A}{2}", "baa", "aa", "backtracking"),
    Case("verbose", "(?x) a {2} # [ twice\n b", "aab", "aab", "backtracking"),
    Case("loop that may go round on nothing", "(a|b??)*c?", "ab", "a", "backtracking"),
    Case("empty branch first", "(|a)*b", "aab", "aab", "backtracking"),
    Case("hyphen before a named class", "[.-[:digit:]]+", "3-.", "3-.", "backtracking"),
    Case("a set that leaves nothing", r"[^\s\S]", "S", None),
    Case("half a surrogate pair", "a", "\ud800a", "a", "backtracking"),
    Case("first branch wins", "a|ab", "ab", "a"),
    Case("nothing", "", "abc", ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_found(case: Case) -> None:
    pattern = compile_pattern(case.pattern, case.flags)
    found = pattern.find(case.text, whole=case.whole)
    assert (found and found.text) == case.found
    assert pattern.engine_for(case.text) == case.engine


@pytest.mark.parametrize("text", ["xx é 下 ab", "xx e x ab", "xx é 下 ab\ud800"])
def test_offsets_are_code_points(text: str) -> None:
    start = text.index("ab")
    assert compile_pattern("ab").find(text) == Match("ab", start, start + 2)


@pytest.mark.parametrize(
    ("pattern", "code", "detail"),
    [
        ("(a", "invalid_pattern", "missing ) at position 2"),
        ("{x}{(a", "invalid_pattern", "missing ) at position 6"),
        ("a)", "invalid_pattern", "position 1"),
        ("a**", "invalid_pattern", "position 2"),
        ("[b-a]", "invalid_pattern", "position"),
        (r"\p{Nonsense}", "invalid_pattern", "property"),
        ("a{2,1}", "invalid_pattern", "position"),
        ("(?R)", "invalid_pattern", "flag at position 0"),
        ("a(*FAIL)", "invalid_pattern", "group at position 1"),
        ("(?|a|b)", "invalid_pattern", "group at position 0"),
        ("(?V1)a", "invalid_pattern", "at position 0"),
        ("(?r)a", "invalid_pattern", "flag at position 0"),
        ("(?au)a", "invalid_pattern", "incompatible"),
        ("a" * (MAX_PATTERN_CHARS + 1), "limit_exceeded", "10,000"),
        ("(" * 51 + "a" + ")" * 51, "limit_exceeded", "50 deep"),
        ("a{3001}", "limit_exceeded", "3,000"),
        ("(?:(?:a{900}){900}){900}", "limit_exceeded", "3,000"),
        ("(?:" * 25 + "a" + ")+" * 25, "limit_exceeded", "3,000"),
        ("(?:a{900000}){0}", "limit_exceeded", "3,000"),
        ("(?x)# [\na{900000}# ]", "limit_exceeded", "3,000"),
        (r"\p{900000,}", "limit_exceeded", "3,000"),
        ("[]]a{900000}[]]", "limit_exceeded", "3,000"),
    ],
)
def test_faults(pattern: str, code: str, detail: str) -> None:
    with pytest.raises(RuleFault) as caught:
        compile_pattern(pattern)
    assert caught.value.code == code
    assert detail in caught.value.detail


def test_catastrophic_patterns_are_answered_at_once_by_re2() -> None:
    assert compile_pattern("(a|a)*$x").find("a" * 60 + "!") is None
    assert compile_pattern(r"(?:a|aa)+\z").find("a" * 100_000 + "!") is None


def test_catastrophic_backtracking_runs_out_of_time() -> None:
    with pytest.raises(RuleFault, match="50 ms") as caught:
        compile_pattern(r"^(a|aa)+(?!x)$\1").find("a" * 60 + "!")
    assert caught.value.code == "regex_timeout"


@pytest.mark.parametrize(
    ("pattern", "text", "detail"),
    [
        ("(?=a)a", "b" * (MAX_BACKTRACKING_CHARS + 1), "100,000"),
        ("(?:a|b)*a(?:a|b){900}c", "a" * 200_000, "bytes"),
    ],
)
def test_texts_too_long_for_the_pattern(pattern: str, text: str, detail: str) -> None:
    with pytest.raises(RuleFault, match=detail) as caught:
        compile_pattern(pattern).find(text)
    assert caught.value.code == "limit_exceeded"
    assert compile_pattern("a").find("b" * 1_000_000) is None


def test_equal_patterns_are_compiled_once() -> None:
    assert compile_pattern("a", "sim") is compile_pattern("a", "mis")
    assert compile_pattern("a") is not compile_pattern("a", "i")


@given(st.text(max_size=80))
def test_an_escaped_text_matches_itself_alone(text: str) -> None:
    found = compile_pattern(escape(text)).find(text, whole=True)
    assert found == Match(text, 0, len(text))
    assert compile_pattern(f"<{escape(text)}>").find(f"a<{text}>b") == Match(f"<{text}>", 1, len(text) + 3)


@given(st.characters(exclude_categories=["Cs"]), st.text(max_size=5))
def test_an_escaped_character_is_itself_in_a_set(character: str, text: str) -> None:
    found = compile_pattern(f"[{escape(character)}]").find(text + character)
    assert found
    assert found.text == character


CHARACTERS = st.sampled_from("aabbckKsSiIx0_ -\n\v\r\té\u0301ßſKİıµΣς日٣\u00a0\u2003\u0085👍ɤꟋ")
LITERALS = CHARACTERS.map(escape)
CLASSES = st.sampled_from([r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "."])
ANCHORS = st.sampled_from(["^", "$", r"\b", r"\B", r"\A"])
OTHERS = st.sampled_from([r"\n", r"\x41", r"\xe9", r"\0", r"\012", r"\pL", r"\p{Lu}", "{", "{e}", "]", "}", "-"])
RANGES = st.tuples(CHARACTERS, CHARACTERS).map(lambda ends: "-".join(escape(end) for end in sorted(ends)))
MEMBERS = LITERALS | RANGES | st.sampled_from([r"\d", r"\w", r"\s", r"\n", "&", "["])
SETS = st.lists(MEMBERS, min_size=1, max_size=4).map(lambda members: f"[{''.join(members)}]")
NEGATED_SETS = st.lists(MEMBERS, min_size=1, max_size=3).map(lambda members: f"[^{''.join(members)}]")
REPEATS = st.sampled_from(
    ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", "{,2}", "{0}"]
)
OPENINGS = st.sampled_from(["(", "(?:", "(?P<name>", "(?i:", "(?s:", "(?m:", "(?-m:", "(?im-s:"])


def alternatives(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.tuples(items, REPEATS).map("".join)
    branches = st.lists(st.lists(repeated, max_size=4).map("".join), min_size=1, max_size=3)
    return branches.map("|".join)


ATOMS = LITERALS | CLASSES | ANCHORS | SETS | NEGATED_SETS | OTHERS
GROUPS = st.recursive(
    ATOMS,
    lambda items: st.tuples(OPENINGS, alternatives(items)).map(lambda parts: f"{parts[0]}{parts[1]})"),
    max_leaves=6,
)
PATTERNS = st.tuples(st.sampled_from(["", "", "(?i)", "(?m)", "(?s)(?i)"]), alternatives(GROUPS)).map("".join)
TEXTS = st.lists(CHARACTERS | st.sampled_from("ab"), max_size=10).map("".join)
FLAGS = st.sampled_from(["", "", "i", "m", "s", "ims"])


def spans(engine: "regex.Pattern[str] | re.Pattern[str]", text: str) -> list[tuple[int, int] | None]:
    return [found and found.span() for found in (engine.search(text), engine.fullmatch(text))]


def options(flags: str) -> int:
    return sum({"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[flag] for flag in flags)


@settings(max_examples=300)
@given(PATTERNS, FLAGS, st.lists(TEXTS, min_size=5, max_size=8))
def test_where_re2_answers_it_finds_what_regex_finds(text_of_pattern: str, flags: str, texts: list[str]) -> None:
    """`regex` errs where sets or branches cover every character between them; there Python's `re` must agree with RE2."""
    try:
        pattern = compile_pattern(text_of_pattern, flags)
    except RuleFault as fault:
        assert fault.code in {"invalid_pattern", "limit_exceeded"}  # noqa: PT017 - most patterns compile
        return
    literal_braces = re.sub(r"(?<!\\)(?<!\\p)\{(?!\d|,)", r"\\{", text_of_pattern)
    reference = regex.compile(literal_braces, options(flags) | regex.VERSION0)
    for text in texts:
        if pattern.engine_for(text) == "backtracking":
            continue
        found = [pattern.find(text), pattern.find(text, whole=True)]
        got = [(match.start, match.end) if match else None for match in found]
        assert all(match is None or match.text == text[match.start : match.end] for match in found)
        if got != spans(reference, text):
            assert got == spans(re.compile(text_of_pattern, options(flags)), text)


@given(PATTERNS, FLAGS, st.text("ab0 -K", max_size=8))
def test_a_linear_pattern_is_answered_by_re2(text_of_pattern: str, flags: str, text: str) -> None:
    try:
        pattern = compile_pattern(text_of_pattern, flags)
    except RuleFault:
        return
    if pattern.is_linear(plain=True):
        assert pattern.engine_for(text) == "re2"
    if pattern.is_linear(plain=False):
        assert pattern.engine_for(f"é\v{text}\n") == "re2"


@given(st.lists(st.sampled_from([*"ab()[]{}|*+?^$.\\-#,: 9\n", "(?x)", "(?:", "{9,}", "[^", "[:alpha:]", r"\p{"])))
def test_any_text_compiles_or_is_a_fault_of_the_pattern(pieces: list[str]) -> None:
    try:
        compile_pattern("".join(pieces)).find("ab")
    except RuleFault as fault:
        assert fault.code in {"invalid_pattern", "limit_exceeded", "regex_timeout"}  # noqa: PT017 - either is right
