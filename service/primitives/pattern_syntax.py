"""The text of a regular expression, token by token, in step with how `regex` parses it."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from service.primitives import RuleFault

MAX_NESTING: Final = 50

Token: TypeAlias = re.Match[str]

_INLINE_FLAGS: Final = frozenset("aimsux")
_BLANK: Final = re.compile(r"\s+|#[^\n]*")
_TOKEN: Final = re.compile(
    r"""
    (?P<set>     \[ \^?+ \]?+ (?: \\. | \[: [\w\ &^./:=-]* :\] | [^\]\\] )*+ \] )
  | (?P<escape>  \\ (?: [pPN] \{ [\w\ &^./:=-]* \} | . ) )
  | (?P<repeat>  (?: [*+?] | \{ (?P<least>\d*) (?: ,(?P<most>\d*) | (?<=\d) ) \} ) (?P<manner>[?+]?) )
  | (?P<remark>  \(\?\# (?: \\. | [^)\\] )*+ \) )
  | (?P<again>   \(\?P= [^)]* \) )
  | (?P<flags>   \(\? (?P<on>[A-Za-z]*) (?: - (?P<off>[A-Za-z]+) )? (?P<end>[:)]) )
  | (?P<open>    \( (?: \? (?: P?< [^>=!)] [^>)]* > | <?[=!] | > | \( [^)?]* \) ) | (?![?*]) ) )
  | (?P<close>   \) )
  | (?P<branch>  \| )
  | (?P<anchor>  [\^$] )
  | (?P<brace>   \{ )
  | (?P<literal> . )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def tokens(pattern: str) -> Iterator[Token]:
    """The tokens of a pattern; `lastgroup` is the kind of each. Blanks and comments of verbose parts are left out.

    Faults with `invalid_pattern` on a group or inline flag that Python does not have, with `limit_exceeded` on groups
    nested more than 50 deep. Other faults are left to the compiler: a lone closing bracket ends the tokens.
    """
    verbose = [False]
    position = 0
    while position < len(pattern):
        if verbose[-1] and (blank := _BLANK.match(pattern, position)):
            position = blank.end()
            continue
        token = _token_at(pattern, position)
        position = token.end()
        _track(verbose, token)
        if not verbose:
            return
        yield token


def opens_group(token: Token) -> bool:
    """True for the token that a closing bracket will answer."""
    return token.lastgroup == "open" or (token.lastgroup == "flags" and token["end"] == ":")


def with_literal_braces(pattern: str, found: Iterable[Token]) -> str:
    """The pattern with a backslash before each brace that starts no repeat, as Python reads it.

    `regex` would read `{e<=1}` and the like as leave for so many errors.
    """
    pieces, start = [], 0
    for token in found:
        if token.lastgroup == "brace":
            pieces += [pattern[start : token.start()], "\\"]
            start = token.start()
    return "".join([*pieces, pattern[start:]])


def original_position(position: int, found: Iterable[Token]) -> int:
    """Where a position in `with_literal_braces` lies in the pattern itself."""
    for token in found:
        if token.lastgroup == "brace" and token.start() < position:
            position -= 1
    return position


def _token_at(pattern: str, position: int) -> Token:
    token = _TOKEN.match(pattern, position)
    assert token is not None, "any character is a literal"
    if token.lastgroup == "literal" and token[0] == "(":
        raise RuleFault("invalid_pattern", f"The pattern has an unknown kind of group at position {position}.")
    if token.lastgroup == "flags" and not _INLINE_FLAGS.issuperset(token["on"] + (token["off"] or "")):
        raise RuleFault("invalid_pattern", f"The pattern has an unknown inline flag at position {position}.")
    return token


def _track(verbose: list[bool], token: Token) -> None:
    """Keeps, for each open group, whether blanks are left out in it."""
    now = verbose[-1]
    if token.lastgroup == "flags":
        now = "x" not in (token["off"] or "") and (now or "x" in token["on"])
    if opens_group(token):
        verbose.append(now)
    elif token.lastgroup == "close":
        verbose.pop()
    else:
        verbose[-1] = now
    if len(verbose) > MAX_NESTING + 1:
        raise RuleFault("limit_exceeded", f"The pattern nests groups more than {MAX_NESTING} deep; flatten it.")
