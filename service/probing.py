"""Asks judges something, to see whether they answer and how."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Literal

from msgspec import Struct

from service.core.judging import JudgeInfo, Message, NoReply, Prompt, Reply
from service.core.ports import Judges
from service.primitives.jsontext import NotJson, decode
from service.primitives.replies import ReplyFault, read_object, refuse_stop

QUESTION = "Rate from 0, wrong, to 1, right, how well the answer fits. Question: what is 2 + 2? Answer: 4"
SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}},
    "required": ["score"],
    "additionalProperties": False,
}
CASE = {"type": "external", "input": "What is 2 + 2?", "output": "4", "params": None}
"""The same for a scorer of one's own."""
PROMPT = Prompt(key="probe", messages=(Message("user", QUESTION),), schema=SCHEMA, slot="probe", metadata=CASE)

Way = Literal["a structured reply", "a tool call", "JSON in its text", "a reply object"]

AT_ONCE = 8
"""Judges that are asked at the same time."""


class Probe(Struct, frozen=True):
    """How it went: `way` or `fault`, and the seconds from the question to its answer."""

    seconds: float
    way: Way | None = None
    fault: str | None = None


def probes(judges: Judges, seconds: float) -> Iterator[tuple[JudgeInfo, Probe | None]]:
    """What comes of asking each judge, in the order in which they are known; None for `caller`."""

    def probed(one: JudgeInfo) -> Probe | None:
        return None if one.kind == "caller" else probe(judges, one.name, seconds)

    known = [*judges.known.values()]
    with ThreadPoolExecutor(AT_ONCE, "probes") as threads:
        yield from zip(known, threads.map(probed, known), strict=True)


def probe(judges: Judges, name: str, seconds: float) -> Probe:
    """What comes of asking a judge for at most so many seconds."""
    asked_at = perf_counter()
    (answer,) = judges.ask(name, [PROMPT], asked_at + seconds, {}).result()
    return _seen(answer, judges.known[name].kind, perf_counter() - asked_at)


def told(found: Probe) -> str:
    """A probe in words."""
    return f"{found.seconds:.2f} s: {found.fault or f'answers by {found.way}'}"


def _seen(answer: Reply | NoReply, kind: str, seconds: float) -> Probe:
    if isinstance(answer, NoReply):
        return Probe(seconds, fault=answer.detail)
    try:
        refuse_stop(answer.stop)
        read_object(answer.text, answer.fields, SCHEMA)
    except ReplyFault as fault:
        return Probe(seconds, fault=fault.detail)
    return Probe(seconds, way=_way(answer, kind))


def _way(reply: Reply, kind: str) -> Way:
    if kind == "http":
        return "a reply object"
    if reply.fields is None:
        return "JSON in its text"
    try:
        is_written = decode(reply.text or "") == reply.fields
    except NotJson:
        is_written = False
    return "a structured reply" if is_written else "a tool call"
