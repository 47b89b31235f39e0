"""Normal forms, whole words, and texts as explanations show them."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from service.primitives import RuleFault
from service.primitives.text import caseless, cut, fold, has_word, hint_of_difference, nfc, normalize, quote, shown


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("the cat sat", "cat", True),
        ("cat", "cat", True),
        ("concatenate", "cat", False),
        ("cats", "cat", False),
        ("cats cat", "cat", True),
        ("cat_", "cat", False),
        ("cat2", "cat", False),
        ("a cat.", "cat", True),
        ("I use C++ and .NET.", "C++", True),
        ("I use C++ and .NET.", ".NET", True),
        ("C and NET", ".NET", False),
        ("C++17", "C++", False),
        ("ASP.NET", ".NET", False),
        ("今晚下雨", "下雨", True),
        ("今晚下雨了", "下雨", True),
        ("東京は晴れ", "東京", True),
        ("ABC東京", "東京", True),
        ("東京ABC", "ABC", True),
        ("東京ABCD", "ABC", False),
        ("วันนี้ฝนตก", "ฝน", True),
        ("cafe\u0301", "cafe", False),
        ("e\u0301cat", "cat", False),
        ("don't", "don", True),
        ("", "cat", False),
        ("cat", "", False),
        ("", "", False),
    ],
)
def test_whole_words(text: str, word: str, found: bool) -> None:
    assert has_word(text, word) is found


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a" * 1_000_000, "a" * 500_000),
        ("a" * 1_000_000, "a"),
        ("ab" * 500_000, "ab" * 1_000),
        ("e\u0301" * 300_000, "e"),
    ],
)
def test_hostile_words_are_searched_in_linear_time(text: str, word: str) -> None:
    assert not has_word(text, word)
    assert has_word(f"{text} {word}", word)


UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
CHARACTERS = "ab_ +下ก\u0e31\u0301\u200dé"


@given(st.text(CHARACTERS, max_size=8), st.text(CHARACTERS, min_size=1, max_size=3), st.sampled_from([1, 120]))
def test_whole_words_are_those_of_look_arounds(text: str, word: str, times: int) -> None:
    before = "" if regex.match(UNSPACED, word[0]) else rf"(?<!(?!{UNSPACED})\w)"
    after = "" if regex.match(UNSPACED, word[-1]) else rf"(?!(?!{UNSPACED})\w)"
    pattern = rf"{before}{regex.escape(word)}(?!\p{{M}}){after}"
    for long in (text * times, word * times + text, f"a{word}" * times + text):
        assert has_word(long, word) == bool(regex.search(pattern, long))


@given(st.text(), st.text(min_size=1))
def test_a_whole_word_is_in_the_text(text: str, word: str) -> None:
    if has_word(text, word):
        assert word in text


@given(st.text(alphabet="ab ", min_size=1), st.text(alphabet="ab", min_size=1))
def test_whole_words_of_plain_letters_are_those_between_spaces(text: str, word: str) -> None:
    assert has_word(text, word) == (word in text.split(" "))


@given(st.text())
def test_canonically_equivalent_texts_agree_without_case(text: str) -> None:
    forms = {caseless(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")}
    assert len(forms) == 1
    assert caseless(text.swapcase()) == caseless(unicodedata.normalize("NFD", text).swapcase())


@pytest.mark.parametrize(
    ("text", "forms", "want"),
    [
        ("(2.75)", ["punctuation"], "2.75"),
        ("don't!", ["punctuation"], "don't"),
        ("a... b", ["punctuation"], "a b"),
        ("a--b", ["punctuation"], "ab"),
        ("well-known", ["punctuation"], "well-known"),
        ("“quoted”", ["punctuation"], "quoted"),
        ("...", ["punctuation"], ""),
        ("-5", ["punctuation"], "-5"),
        ("(-5), 3-4 - 7!", ["punctuation"], "-5 3-4  7"),
        ("  a \n b ", ["whitespace"], "a b"),
        ("a , b", ["punctuation", "whitespace"], "a b"),
        ("cafe\u0301", ["nfc"], "café"),
        ("ﬁ ²", ["nfkc"], "fi 2"),
        ("（2）", ["nfkc", "punctuation"], "2"),
        ("as it is ", [], "as it is "),
    ],
)
def test_normal_forms(text: str, forms: list[str], want: str) -> None:
    assert normalize(text, forms) == want


@given(st.text(), st.sets(st.sampled_from(["nfc", "nfkc", "whitespace"])))
def test_normalising_twice_is_normalising_once(text: str, forms: set[str]) -> None:
    once = normalize(text, forms)
    assert normalize(once, forms) == once


@given(st.text())
def test_the_order_in_which_forms_are_named_does_not_matter(text: str) -> None:
    forms = ["nfkc", "punctuation", "whitespace"]
    assert normalize(text, forms) == normalize(text, forms[::-1])


@pytest.mark.parametrize("act", [nfc, caseless, lambda text: normalize(text, ["nfkc"])])
def test_a_pile_of_combining_marks_is_refused(act: object) -> None:
    with pytest.raises(RuleFault):
        act("a" + "\uff9e\u0315" * 200_000)  # type: ignore[operator]
    with pytest.raises(RuleFault) as caught:
        act("a" + "\u0300\u0316" * 200_000)  # type: ignore[operator]
    assert caught.value.code == "limit_exceeded"
    assert act("a" + "\u0300\u0316" * 30)  # type: ignore[operator]


@given(st.text(max_size=500))
def test_what_is_shown_is_one_readable_line(text: str) -> None:
    line = shown(text)
    assert line.isprintable()
    assert quote(text) == f"'{line}'"
    assert shown("plain text") == "plain text"


@given(st.text(max_size=50), st.integers(1, 40))
def test_cutting(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) == min(len(text), limit)
    assert short == text or short == text[: limit - 1] + "…"


@pytest.mark.parametrize(
    ("text", "wanted", "hint"),
    [
        ("Jon", "jon", "case"),
        (" jon", "jon", "white space"),
        ("cafe\u0301", "café", "nfc"),
        ("a", "b", ""),
        ("a" * 400, "A" * 400, ""),
    ],
)
def test_hints(text: str, wanted: str, hint: str) -> None:
    found = hint_of_difference(text, wanted, str.__eq__)
    assert hint in found
    assert bool(found) == bool(hint)


def test_folding_is_full() -> None:
    assert fold("STRASSE") == fold("straße")
