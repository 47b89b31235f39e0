"""Work that takes long, so that one thread can serve many callers in turn."""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")
Steps: TypeAlias = Generator[None, None, Result]
"""Work in short steps, that ends in a result."""
