"""Judges that answer by a script, for tests and for trying things out without a model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypeAlias

from service.core.judging import CALLER, JudgeInfo, NoReply, Prompt, Reply
from service.core.ports import Account

Line: TypeAlias = Reply | NoReply | str | Mapping[str, Any]
"""A reply as it is, the text of one, or its fields."""


class Scripted:
    """Implements `core.ports.Judges` with a list of lines, spoken one a prompt, or with a function of the prompt.

    Lines are spoken in the order in which prompts are asked, whichever judge is asked; after the last, and where the
    function returns None, there is no reply. Nothing waits and nothing depends on the clock: equal prompts are asked
    each by itself, and a deadline never passes. `asked` holds every prompt with the name of its judge.

        Scripted([{"choice": "A"}, "Score: 0.7", Reply(stop="refused")])
        Scripted(lambda prompt: {"choice": "Y" if "blue" in prompt.messages[-1].content else "N"})
    """

    def __init__(
        self,
        script: Iterable[Line] | Callable[[Prompt], Line | None],
        judges: Iterable[JudgeInfo] = (JudgeInfo(name="default", kind="openai", model="scripted"),),
    ) -> None:
        lines = iter(()) if callable(script) else iter(script)
        self._speak = script if callable(script) else lambda _: next(lines, None)
        self._lock = Lock()
        self._known = {one.name: one for one in (*judges, JudgeInfo(name=CALLER, kind="caller", model=None))}
        self.asked: list[tuple[str, Prompt]] = []

    @property
    def known(self) -> Mapping[str, JudgeInfo]:
        """The judges named, and `caller`."""
        return self._known

    def ask(
        self,
        judge: str,
        prompts: Sequence[Prompt],
        deadline: float,  # noqa: ARG002 - it never passes
        trace: Mapping[str, str],  # noqa: ARG002
        account: Account | None = None,  # noqa: ARG002
    ) -> Future[list[Reply | NoReply]]:
        """The next lines, at once. KeyError for names that are not known; what the function raises is the outcome."""
        name = self._known[judge].name
        future: Future[list[Reply | NoReply]] = Future()
        try:
            with self._lock:
                self.asked.extend((name, prompt) for prompt in prompts)
                future.set_result([_spoken(self._speak(prompt)) for prompt in prompts])
        except Exception as fault:
            future.set_exception(fault)
        return future

    def close(self) -> None:
        """Nothing is held."""


def _spoken(line: Line | None) -> Reply | NoReply:
    if line is None:
        return NoReply("judge_unavailable", "The script has no more lines")
    if isinstance(line, str):
        return Reply(text=line)
    return line if isinstance(line, (Reply, NoReply)) else Reply(fields=dict(line))
