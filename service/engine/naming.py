"""Names for rules that were given none: the type, then type-2, type-3 and so on."""

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from service.catalogue import type_name
from service.core.evaluator import Evaluator
from service.engine.batch import Batch, Item


class Names:
    """Gives every rule of a batch an id; one that is made never collides with one that was given."""

    def __init__(self, batch: Batch) -> None:
        self._given = {rule.id for rule in batch.evaluators if rule.id is not None}
        for item in batch.items:
            if item.evaluators:
                self._given.update(rule.id for rule in item.evaluators if rule.id is not None)
        self.shared = list(_named(batch.evaluators, self._given))
        self._taken = {*self._given, *(rule.id for rule in self.shared)}

    def own(self, item: Item) -> list[Evaluator]:
        """The rules of an item itself, each with its id."""
        return list(_named(item.evaluators, self._taken))

    def of(self, item: Item) -> set[str | None]:
        """The ids of all rules of an item."""
        return {rule.id for rule in (*self.shared, *self.own(item))}


def _named(rules: Sequence[Evaluator], taken: Collection[str | None]) -> Iterator[Evaluator]:
    made: set[str] = set()
    counts: dict[str, int] = {}
    for rule in rules:
        if rule.id is not None:
            yield rule
            continue
        kind = type_name(type(rule))
        name = kind
        while name in taken or name in made:
            counts[kind] = counts.get(kind, 1) + 1
            name = f"{kind}-{counts[kind]}"
        made.add(name)
        yield replace(rule, id=name)
