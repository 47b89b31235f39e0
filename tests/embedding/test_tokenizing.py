"""Token ids of texts, against the tokenizer's own truncation of the whole text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from service.core.errors import ModelUnavailable
from service.embedding.tokenizing import BATCH_CHARS, CHARS_PER_TOKEN, PIECE_CHARS, Tokenizing, readable
from tests.embedding import tiny

FEW = 6
CAP = FEW * CHARS_PER_TOKEN


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make(tmp_path_factory.mktemp("tokenizer") / "tiny") / "tokenizer.json"


@pytest.fixture(scope="module")
def few(file: Path) -> Tokenizing:
    return Tokenizing(file, FEW)


def whole(file: Path, max_tokens: int | None = None) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if max_tokens is not None:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


HOSTILE = {
    "empty": "",
    "a space": " ",
    "NUL": "the\0cat",
    "only NUL": "\0\0",
    "a lone surrogate": "the \ud800 cat",
    "surrogates the wrong way round": "\udfff\ud800",
    "a long word": "x" * 5_000,
    "a word longer than what is read first": "x" * (CAP + 5),
    "a word that the cut would break": " " * (CAP - 8) + "canberras cat dog house tree the",
    "nothing at first": " " * (3 * CAP) + "the cat runs. the dog sleeps.",
    "exactly all at first": "the cat dog tree house" + " " * (3 * CAP) + "the",
    "a long word first": "x" * (2 * CAP) + " the cat runs. the dog sleeps.",
    "one token over": "the cat runs the dog",
    "exactly all": "the cat dog tree",
    "special tokens in the text": "[CLS] the [SEP] [PAD] cat [MASK] dog",
    "no white space": "," * (2 * CAP),
    "joined emoji": "👩‍👩‍👧‍👦" * 400,
    "combining marks": "e" + "\u0301" * 5_000,
    "every direction": "مرحبا the cat שלום 你好",
    "controls": "\x01\x02\x7f\ufeff\u200b the",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts(few: Tokenizing, file: Path, text: str) -> None:
    (prepared,) = few.prepare([text])
    clean = readable(text)
    assert prepared.ids == whole(file, FEW).encode(clean).ids
    assert prepared.text == text
    assert prepared.read == len(prepared.ids)
    assert prepared.length == min(-(-prepared.read // 2) * 2, max(prepared.read, FEW))
    every = len(whole(file).encode(clean))
    assert prepared.read <= prepared.tokens <= every
    assert (prepared.tokens > FEW) == (every > FEW)
    if len(text) <= CAP:
        assert prepared.tokens == every
    assert few.count([text]) == [every - 2]


texts = st.text(st.one_of(st.sampled_from("the cat.'x\ud800\0  \n"), st.characters()), max_size=40)


@given(st.lists(st.tuples(texts, st.sampled_from([1, 1, 1, 200])), max_size=6), st.integers(3, 9))
def test_the_first_tokens_of_the_whole(few: Tokenizing, file: Path, drawn: list[tuple[str, int]], most: int) -> None:
    made = [text * times for text, times in drawn]
    truncated, every = whole(file, most), whole(file)
    prepared = Tokenizing(file, most).prepare(made)
    assert [text.ids for text in prepared] == [truncated.encode(readable(text)).ids for text in made]
    assert all(text.tokens <= len(every.encode(readable(text.text))) for text in prepared)
    assert [text.tokens > most for text in prepared] == [len(every.encode(readable(text))) > most for text in made]
    assert few.count(made) == [len(every.encode(readable(text), add_special_tokens=False)) for text in made]


@given(st.lists(texts, max_size=5))
def test_a_text_stands_for_itself(few: Tokenizing, made: list[str]) -> None:
    assert few.prepare(made) == [prepared for text in made for prepared in few.prepare([text])]


def test_many_texts_keep_their_order(few: Tokenizing) -> None:
    made = [f"{n} the cat " * (1 + n % 7) for n in range(10_000)]
    made[500] = "dog " * BATCH_CHARS
    assert sum(map(len, made)) > 2 * BATCH_CHARS
    prepared = few.prepare(made)
    assert [text.text for text in prepared] == made
    assert prepared[499] == few.prepare([made[499]])[0]
    assert prepared[501] == few.prepare([made[501]])[0]


def test_a_million_characters_are_counted_in_pieces(few: Tokenizing, file: Path) -> None:
    text = ("the cat runs, " * (PIECE_CHARS // 5))[:-3] + "\n\n the end."
    assert few.count([text, "cat", text[:100]]) == [
        len(whole(file).encode(part, add_special_tokens=False)) for part in (text, "cat", text[:100])
    ]
    assert few.count(["," * 120_001]) == [120_001]


def test_the_prompt_comes_first(file: Path) -> None:
    (prepared,) = Tokenizing(file, 16, "the answer: ").prepare(["no \ud800"])
    assert prepared.ids == whole(file).encode("the answer: no \ufffd").ids
    assert prepared.text == "no \ud800"


def test_lowercase(tmp_path: Path) -> None:
    cased = Tokenizer(models.WordLevel({"cat": 0, "?": 1}, unk_token="?"))
    cased.pre_tokenizer = pre_tokenizers.Whitespace()
    cased.save(str(tmp_path / "tokenizer.json"))
    read = {flag: Tokenizing(tmp_path / "tokenizer.json", 8, lowercase=flag) for flag in (False, True)}
    assert [read[flag].prepare(["CAT"])[0].ids for flag in (False, True)] == [[1], [0]]


def test_without_special_tokens_an_empty_text_is_a_full_stop(tmp_path: Path) -> None:
    bare = Tokenizer(models.WordLevel({".": 0, "cat": 1}, unk_token="."))
    bare.pre_tokenizer = pre_tokenizers.Whitespace()
    bare.save(str(tmp_path / "tokenizer.json"))
    tokenizing = Tokenizing(tmp_path / "tokenizer.json", 8)
    assert [text.ids for text in tokenizing.prepare(["", "cat", " "])] == [[0], [1], [0]]
    assert tokenizing.count(["", "cat"]) == [0, 1]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "is no tokenizer"), (b"{}", "is no tokenizer"), (b"\xff\xfe", "is no tokenizer"), (None, "is no tokenizer")],
    ids=["empty", "another object", "binary", "absent"],
)
def test_broken_files(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(ModelUnavailable, match=sentence):
        Tokenizing(tmp_path / "tokenizer.json", 8)


def test_a_cut_short_file(tmp_path: Path, file: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ModelUnavailable, match="download it again"):
        Tokenizing(tmp_path / "tokenizer.json", 8)


def test_token_types_are_refused(tmp_path: Path, file: Path) -> None:
    tokenizer = whole(file)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:2 $A:0 [SEP]:0", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ModelUnavailable, match="not supported"):
        Tokenizing(tmp_path / "tokenizer.json", 8)


def test_there_must_be_room(file: Path) -> None:
    with pytest.raises(ModelUnavailable, match="2 tokens leave no room"):
        Tokenizing(file, 2)
