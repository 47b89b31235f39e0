"""Pure functions on plain values: text, numbers, JSON, patterns, paths. Nothing here does I/O or knows the wire."""


class RuleFault(Exception):
    """A rule cannot run as it stands: its own text is at fault, or running it would cost too much.

    `code` is a reason of the status `error`; `detail` is a sentence that names the fault and the fix.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
