"""Numbers as JSON has them."""

import re
from fractions import Fraction
from math import isfinite
from typing import Any, TypeGuard

MAX_DIGITS = 4_300

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<part>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_WHITE_SPACE = " \t\r\n"


def read_number(text: str) -> int | float | None:
    """The number that a text is by JSON's grammar, blanks around it dropped; None if no double or integer is it."""
    stripped = text.strip(_WHITE_SPACE)
    found = _NUMBER.fullmatch(stripped)
    if found is None:
        return None
    if not found["part"]:
        return int(stripped) if len(stripped) <= MAX_DIGITS else None
    value = float(stripped)
    return value if isfinite(value) else None


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a JSON number; a boolean is none."""
    return type(value) is int or (type(value) is float and isfinite(value))


def within(one: int | float, other: int | float, tolerance: float) -> bool:
    """Whether two numbers are at most `tolerance` apart, as the decimals they are written: 1.1 and 1 by 0.1."""
    return abs(_decimal(one) - _decimal(other)) <= _decimal(tolerance)


def _decimal(value: int | float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))
