"""In which form a judge is asked for replies."""

from service.core.judging import Reply
from service.judge.wires import Form


class Ladder:
    """Begins with the best form and goes down, never up, as far as the judge makes it.

    It leaves a form that the judge refuses once a lower one is taken, and one that the first whole reply in it did not
    keep to: some servers take a schema and forget it.
    """

    def __init__(self) -> None:
        self._place = 0
        self._is_proven = False

    def rest(self, forms: tuple[Form, ...]) -> tuple[Form, ...]:
        """Those of a prompt's forms that are still to be tried, in this order."""
        return forms if len(forms) == 1 else forms[self._place :]

    def learn(self, forms: tuple[Form, ...], form: Form, reply: Reply) -> None:
        """Take account of a reply in one of the forms."""
        place = forms.index(form)
        is_known = place < self._place or (place == self._place and self._is_proven)
        if len(forms) == 1 or is_known or reply.stop != "complete":
            return
        self._is_proven = reply.fields is not None or form == forms[-1]
        self._place = place if self._is_proven else place + 1
