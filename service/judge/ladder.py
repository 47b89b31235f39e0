"""In which form a judge is asked for replies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from service.core.judging import Reply
from service.judge.wires import Form

PATIENCE = 10.0


class Ladder:
    """Begins with the best form and goes down, never up, as far as the judge makes it.

    It leaves a form that the judge refuses once a lower one is taken, and one that the first whole reply in it did not
    keep to: some servers take a schema and forget it. Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._place = 0
        self._is_proven = False
        self._is_scouting = False
        self._scouted = asyncio.Event()

    @asynccontextmanager
    async def turn(self, forms: tuple[Form, ...]) -> AsyncIterator[None]:
        """The first call that has several forms goes ahead, and others wait up to PATIENCE seconds for what it finds.

        Else all calls that may be under way at once would be asked in a form that nobody keeps to.
        """
        is_scout = len(forms) > 1 and not self._is_scouting
        if len(forms) > 1 and not is_scout:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._scouted.wait()
        self._is_scouting = self._is_scouting or is_scout
        try:
            yield
        finally:
            if is_scout:
                self._scouted.set()

    def is_left(self, forms: tuple[Form, ...], form: Form) -> bool:
        """Whether a form is not to be tried any more."""
        return len(forms) > 1 and forms.index(form) < self._place

    def is_proven(self, forms: tuple[Form, ...], form: Form) -> bool:
        """Whether the judge is known to keep to a form, so that a reply in it is the prompt's own."""
        return len(forms) == 1 or (forms.index(form) == self._place and self._is_proven)

    def learn(self, forms: tuple[Form, ...], form: Form, reply: Reply) -> None:
        """Take account of a reply in one of the forms."""
        place = forms.index(form)
        is_known = place < self._place or (place == self._place and self._is_proven)
        if len(forms) == 1 or is_known or reply.stop != "complete":
            return
        self._is_proven = reply.fields is not None or form == forms[-1]
        self._place = place if self._is_proven else place + 1
