"""The responses of each query: those that came, and those that a judge writes."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from service.config import Limits
from service.core.judging import JudgeInfo, Message, Prompt
from service.engine.consulting import Consulting
from service.engine.generating import Written, generating, order
from service.engine.lanes import Steps
from service.engine.stability.reasoning import stripped
from service.engine.stability.wire import NoResponse, PromptMetrics, Query
from service.primitives.jsontext import as_text


class Response(Struct, frozen=True, kw_only=True):
    """A response as it is measured. Without a text, `detail` says why."""

    text: str | None = None
    detail: str = ""
    truncated: bool = False
    """The model reached its limit before the end."""
    was_stripped: bool = False
    unclosed: bool = False
    """It ends within reasoning."""


class Responses:
    """All responses of one query; `kept` are the places of those that have a text, `altered` those that lack some."""

    def __init__(self, responses: Sequence[Response], written: Sequence[Written] | None = None) -> None:
        """`written` is what a judge wrote, if it did."""
        self.all = responses
        self.written = written
        self.kept = [place for place, one in enumerate(responses) if one.text is not None]
        self.altered = [one for one in responses if one.was_stripped or one.truncated]
        self.texts = [one.text for one in responses if one.text is not None]
        self.empty = sum(not text.strip() for text in self.texts)


def sent(request: PromptMetrics) -> Steps[list[Responses]]:
    """What each query came with."""
    came = []
    for query in request.queries:
        came.append(Responses([_sent(one, strip=request.strip_reasoning) for one in query.responses]))
        yield None
    return came


def completed(
    request: PromptMetrics,
    came: Sequence[Responses],
    consulting: Consulting,
    known: Mapping[str, JudgeInfo],
    limits: Limits,
) -> Steps[list[Responses]]:
    """The same, with responses that a judge writes for the queries that came without."""
    drawing = request.generate
    if drawing is None:
        return list(came)
    orders: list[Prompt] = []
    for place, (query, responses) in enumerate(zip(request.queries, came, strict=True), 1):
        if not responses.all:
            chat = messages(request, query)
            temperature, tokens = drawing.temperature, drawing.max_output_tokens
            orders += [order(chat, f"{place}/{number}", temperature, tokens) for number in range(1, drawing.k + 1)]
            yield None
    written = yield from generating(consulting, known[drawing.judge], orders, limits)
    parts = iter([written[start : start + drawing.k] for start in range(0, len(written), drawing.k)])
    strip = request.strip_reasoning
    return [one if one.all else _drawn(next(parts), strip=strip) for one in came]


def context_of(request: PromptMetrics, query: Query) -> str | list[str] | None:
    """The query's own context, else the request's."""
    return request.context if query.context is None else query.context


def messages(request: PromptMetrics, query: Query) -> tuple[Message, ...]:
    """What a judge is to answer: the seed prompt and the context as the system's word, the query as the user's."""
    context = context_of(request, query)
    passages = context if isinstance(context, list) else [context]
    system = "\n\n".join(part for part in (request.seed_prompt, *passages) if part)
    user = Message("user", query.query or "")
    return (Message("system", system), user) if system else (user,)


def _sent(response: str | NoResponse, *, strip: bool) -> Response:
    if isinstance(response, NoResponse):
        return Response(detail=as_text(response.error))
    return _read(response, strip=strip)


def _drawn(written: Sequence[Written], *, strip: bool) -> Responses:
    return Responses([_written(one, strip=strip) for one in written], written)


def _written(one: Written, *, strip: bool) -> Response:
    if one.text is None:
        return Response(detail=f"{one.reason}: {one.detail}")
    return _read(one.text, strip=strip, truncated=one.truncated)


def _read(text: str, *, strip: bool, truncated: bool = False) -> Response:
    if not strip or "<" not in text:
        return Response(text=text, truncated=truncated)
    bare = stripped(text)
    return Response(text=bare.text, truncated=truncated, was_stripped=bare.found, unclosed=bare.unclosed)
