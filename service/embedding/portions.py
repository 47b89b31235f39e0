"""The texts of one caller in parts that take no worker for long."""

from collections.abc import Iterator, Sequence

AT_ONCE = 64
CHARS_AT_ONCE = 100_000
"""Some 35 ms of one core; a longer text is a part of its own."""


def portions(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """The texts in order, up to AT_ONCE and CHARS_AT_ONCE characters together; one part at least."""
    start = chars = 0
    for end, text in enumerate(texts):
        if end > start and (end - start == AT_ONCE or chars + len(text) > CHARS_AT_ONCE):
            yield texts[start:end]
            start, chars = end, 0
        chars += len(text)
    yield texts[start:]
