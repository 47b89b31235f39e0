"""Texts to token ids.

A long text is not tokenised whole where its beginning decides: it is cut, and the last word, which the cut may have
changed, is left out.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tokenizers import Encoding, Tokenizer
from tokenizers.normalizers import Lowercase
from tokenizers.normalizers import Sequence as Normalizers

from service.core.errors import ModelUnavailable
from service.embedding.encoder import Prepared

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # our threads already take every core

CHARS_PER_TOKEN = 400
MOST_CHARS = 200_000
"""Characters of a text that are tokenised at first: CHARS_PER_TOKEN for each token read, at most MOST_CHARS."""

PADDING = 2
"""Lengths that are no multiple of this may give other last bits, seen with onnxruntime 1.32 under AVX-512."""

BATCH_CHARS = 200_000
"""Characters tokenised in one call: an encoding takes up to 460 bytes a character."""

PIECE_CHARS = 50_000
"""Characters of the pieces in which a longer text is counted."""


class Tokenizing:
    """A tokenizer.json without its own truncation and padding. Safe to call from any thread."""

    def __init__(self, file: Path, max_tokens: int, prompt: str = "", *, lowercase: bool = False) -> None:
        self._tokenizer = _load(file, lowercase=lowercase)
        self._prefix, self._suffix = _special(self._tokenizer, file)
        self._max_tokens = max_tokens
        self._room = max_tokens - len(self._prefix) - len(self._suffix)
        if self._room < 1:
            raise ModelUnavailable(f"{max_tokens} tokens leave no room beside the special ones: allow the model more.")
        self._blank = self._tokenizer.encode(".").ids
        self._prompt = prompt
        self._first = min(CHARS_PER_TOKEN * max_tokens, MOST_CHARS)

    def prepare(self, texts: Sequence[str]) -> list[Prepared]:
        """The ids that the model reads: the special ones around the first tokens of prompt and text.

        `tokens` counts the prompt and the special tokens too. It is exact for texts up to 200,000 characters (or 400
        for each token that the model reads, where that is less), and a lower bound for longer ones. A text without
        tokens, of a tokenizer without special ones, is read as a full stop.
        """
        prepared: list[Prepared] = []
        for batch in _batches([self._prompt + readable(text) for text in texts], self._first):
            if len(batch[0]) > self._first:
                bodies = [self._beginning(batch[0])]
            else:
                bodies = [encoding.ids for encoding in self._encode(batch)]
            start = len(prepared)
            prepared += map(self._prepared, texts[start : start + len(batch)], bodies)
        return prepared

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without the special ones and without the prompt.

        A text over 50,000 characters is counted in pieces that end before white space; where there is none for as long
        as that, a piece ends anywhere and the count may be off by the tokens of a word.
        """
        pieces = [(at, piece) for at, text in enumerate(texts) for piece in _pieces(readable(text))]
        counts = [0] * len(texts)
        done = 0
        for batch in _batches([piece for _, piece in pieces], PIECE_CHARS):
            for encoding in self._encode(batch):
                counts[pieces[done][0]] += len(encoding)
                done += 1
        return counts

    def _prepared(self, text: str, body: list[int]) -> Prepared:
        ids = [*self._prefix, *body[: self._room], *self._suffix] or self._blank
        special = len(self._prefix) + len(self._suffix)
        length = padded(len(ids), self._max_tokens)
        return Prepared(text=text, ids=ids, length=length, tokens=len(body) + special, read=len(ids))

    def _encode(self, texts: list[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)

    def _beginning(self, text: str) -> list[int]:
        """Tokens of the text's beginning, more than the model reads where the text has as many."""
        size = self._first
        while size < len(text):
            ids = self._whole_words(text[:size])
            if len(ids) > self._room:
                return ids
            size *= 4
        return self._encode([text])[0].ids

    def _whole_words(self, text: str) -> list[int]:
        """Tokens of all words but the last."""
        encoding = self._tokenizer.encode_batch([text], add_special_tokens=False)[0]
        words = encoding.word_ids
        last = words[-1] if words else None
        end = next((at for at, word in enumerate(words) if word == last), 0)
        return encoding.ids[:end]


def padded(length: int, max_tokens: int) -> int:
    """What a run of texts is padded to: full vector registers, for then the last bit of a sum does not depend on it."""
    return min(-(-length // PADDING) * PADDING, max(length, max_tokens))


def readable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _load(file: Path, *, lowercase: bool) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as exc:  # the library raises no narrower one
        raise ModelUnavailable(f"{file.name} is no tokenizer ({exc}): download it again.") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if lowercase:
        normalizers = [Lowercase()] if tokenizer.normalizer is None else [Lowercase(), tokenizer.normalizer]
        tokenizer.normalizer = Normalizers(normalizers)
    return tokenizer


def _special(tokenizer: Tokenizer, file: Path) -> tuple[list[int], list[int]]:
    """Special tokens before and after a text."""
    framed = tokenizer.encode("a")
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    before = next((at for at, special in enumerate(framed.special_tokens_mask) if not special), 0)
    after = before + len(bare)
    if framed.ids[before:after] != bare or any(framed.type_ids):
        raise ModelUnavailable(f"{file.name} puts more than special tokens before and after a text: not supported.")
    return framed.ids[:before], framed.ids[after:]


def _batches(texts: Sequence[str], longest: int) -> Iterator[list[str]]:
    """The texts in order, a few together; one longer than `longest` is alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (size + len(text) > BATCH_CHARS or len(batch[0]) > longest or len(text) > longest):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PIECE_CHARS:
        words = text[start : start + PIECE_CHARS].rsplit(None, 1)
        end = start + (len(words[0]) if len(words) == 2 else PIECE_CHARS)
        yield text[start:end]
        start = end
    yield text[start:]
