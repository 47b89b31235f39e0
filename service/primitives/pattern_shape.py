"""How large a pattern compiles, and whether its loops can go round on nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from service.primitives.pattern_syntax import Token, opens_group

_ASSERTIONS_AND_REFERENCES: Final = frozenset("AbBZz123456789")


class Shape(NamedTuple):
    """`size` is the number of nodes that `regex` compiles: a repeat copies its item as often as that must match, and
    once more if it may match on. Nested repeats multiply, so that a short pattern could take all memory.

    `loops_agree` is false if a loop may take an empty turn where another would have consumed text: engines differ on
    whether it goes on after that.
    """

    size: int
    loops_agree: bool


def shape_of(found: Iterable[Token]) -> Shape:
    """The shape of a pattern with balanced brackets, given its tokens."""
    groups = [_Group()]
    loops_agree = True
    for token in found:
        if opens_group(token):
            groups.append(_Group())
        elif token.lastgroup == "close":
            whole = groups.pop().end_branch()
            groups[-1].add(whole)
        elif token.lastgroup == "branch":
            groups[-1].end_branch()
        elif token.lastgroup == "repeat":
            last = groups[-1].last
            loops_agree &= not (last.nullable and last.hasty)
            groups[-1].last = last.repeated(token)
        elif token.lastgroup not in {"flags", "remark"}:
            groups[-1].add(_Item(1, nullable=_is_assertion(token)))
    return Shape(groups[0].end_branch().size, loops_agree)


def _is_assertion(token: Token) -> bool:
    if token.lastgroup == "escape":
        return token[0][1] in _ASSERTIONS_AND_REFERENCES
    return token.lastgroup in {"anchor", "again"}


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of a pattern: its size, whether it may match nothing, and whether by choice, where it could match more."""

    size: int
    nullable: bool = False
    hasty: bool = False

    def then(self, other: "_Item") -> "_Item":
        return _Item(self.size + other.size, self.nullable and other.nullable, self.hasty or other.hasty)

    def otherwise(self, other: "_Item") -> "_Item":
        hasty = self.hasty or self.nullable or other.hasty
        return _Item(self.size + other.size, self.nullable or other.nullable, hasty)

    def repeated(self, repeat: Token) -> "_Item":
        least = int(repeat["least"] or repeat[0][0] == "+")
        ends_there = repeat["least"] and repeat["most"] in {None, repeat["least"]}
        copies = max(1, least if ends_there else least + 1)
        return _Item(self.size * copies, self.nullable or least == 0, self.hasty or repeat["manner"] == "?")


_NOTHING: Final = _Item(0, nullable=True)


@dataclass(slots=True)
class _Group:
    """An open group: the branches before, the one under way, and its last item, which a repeat may still follow."""

    before: _Item | None = None
    branch: _Item = _NOTHING
    last: _Item = _NOTHING

    def add(self, item: _Item) -> None:
        self.branch, self.last = self.branch.then(self.last), item

    def end_branch(self) -> _Item:
        self.add(_NOTHING)
        whole = self.before.otherwise(self.branch) if self.before else self.branch
        self.before, self.branch = whole, _NOTHING
        return whole
