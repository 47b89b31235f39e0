"""What is wrong with a request that only the whole of it shows."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import chain
from time import perf_counter
from typing import Any

from service.catalogue import type_name
from service.config import Limits
from service.core.binding import bind, is_templated
from service.core.errors import MAX_FAULTS, Fault, Invalid
from service.core.evaluator import Evaluator
from service.core.judging import CALLER, JudgeInfo
from service.engine.admission import long_values, over, repeated
from service.engine.consulting import DEFAULT, no_such_judge
from service.engine.generating import MAX_PROMPT_CHARS, generator_faults
from service.engine.lanes import Steps
from service.engine.stability.own import embeddings_of, own_vectors
from service.engine.stability.responses import Responses, messages
from service.engine.stability.vectors import reference_of, texts_of
from service.engine.stability.wire import PromptMetrics, Query
from service.engine.vetting import faults
from service.primitives import RuleFault
from service.primitives.clusters import MAX_VECTORS
from service.primitives.jsontext import as_text


def admit(
    request: PromptMetrics,
    came: Sequence[Responses],
    known: Mapping[str, JudgeInfo],
    limits: Limits,
    size: int,
    deadline: float,
) -> Steps[None]:
    """Raise Invalid, with at most 100 faults, if the request is over a limit or makes no sense as a whole.

    `known` are the judges; `size` is that of the body: no text can have more characters than that. What takes a look
    at each query for each constraint ends at the deadline.
    """
    told: list[Fault] = []
    for fault in chain(
        _counts(request, limits),
        over("/queries", _texts_to_embed(request, came), limits.texts, "texts"),
        _queries(request, came),
        _constraints(request, limits, deadline),
        _drawing(request, known, limits),
        _judging(request, known, limits),
        _texts(request, limits) if size > limits.text_chars else (),
    ):
        if fault is None:
            yield None
        elif len(told) < MAX_FAULTS:
            told.append(fault)
    if told:
        raise Invalid(told)


def _counts(request: PromptMetrics, limits: Limits) -> Iterator[Fault]:
    drawn = request.generate.k if request.generate else 0
    counts = [len(query.responses) or drawn for query in request.queries]
    checks = len(request.constraints) + (request.jq is not None)
    yield from over("/queries", sum(counts), limits.items, "items")
    yield from over("/constraints", sum(counts) * checks, limits.evaluations, "evaluations")
    yield from over("/constraints", len(request.constraints), limits.evaluators_per_item, "evaluators_per_item")
    yield from over("/deadline_ms", request.deadline_ms or 0, limits.max_deadline_ms, "max_deadline_ms")
    most, name = MAX_VECTORS[request.linkage], f"clusters_{request.linkage}"
    for index, count in enumerate(counts):
        yield from over(f"/queries/{index}/responses", count, most, name)


def _texts_to_embed(request: PromptMetrics, came: Sequence[Responses]) -> int:
    """How many distinct texts the model is asked for, at most."""
    texts: set[str] = set()
    drawn = 0
    for query, responses in zip(request.queries, came, strict=True):
        if request.generate and not responses.all:
            texts.update(filter(None, [reference_of(query)]))
            drawn += request.generate.k
        elif embeddings_of(query) is None and request.vectors.keys().isdisjoint(responses.texts):
            texts.update(texts_of(query, responses))
    return len(texts) + drawn


def _queries(request: PromptMetrics, came: Sequence[Responses]) -> Iterator[Fault | None]:
    """None offers a pause."""
    ids = [query.qa_id or str(number) for number, query in enumerate(request.queries, 1)]
    yield from repeated(ids, "/queries/{}/qa_id", "query")
    for index, (query, responses) in enumerate(zip(request.queries, came, strict=True)):
        pointer = f"/queries/{index}"
        if not query.responses:
            yield from _without_responses(request, query, pointer)
        yield from _vectors(request, query, responses, pointer)
        yield from _replies(request, query, pointer)
        yield None


def _without_responses(request: PromptMetrics, query: Query, pointer: str) -> Iterator[Fault]:
    if request.generate is None:
        told = "No response: give at least one, or say in `generate` who writes them"
        yield Fault(f"{pointer}/responses", "too_short_or_long", told)
    elif not (query.query and query.query.strip()):
        yield Fault(
            f"{pointer}/query", "missing_field", "Responses are to be generated, and there is nothing to answer"
        )


def _replies(request: PromptMetrics, query: Query, pointer: str) -> Iterator[Fault]:
    if query.replies is None:
        return
    if len(query.replies) != len(query.responses):
        counts = f"{len(query.replies):,} for {len(query.responses):,} responses"
        told = f"`replies` has {counts}: one for each, and null where there is none yet"
        yield Fault(f"{pointer}/replies", "misaligned", told)
    elif request.jq is None and any(reply is not None for reply in query.replies):
        told = 'Nobody rates the responses: say by what, as in "jq": {"objective": "...", "judge": "caller"}'
        yield Fault(f"{pointer}/replies", "unused", told)


def _vectors(request: PromptMetrics, query: Query, responses: Responses, pointer: str) -> Iterator[Fault]:
    try:
        own_vectors(query, responses, request.vectors)
    except RuleFault as fault:
        field = "/responses" if embeddings_of(query) is None else "/embeddings"
        yield Fault(pointer + field, fault.code, fault.detail)


def _constraints(request: PromptMetrics, limits: Limits, deadline: float) -> Iterator[Fault | None]:
    rules = request.constraints
    yield from repeated([rule.id for rule in rules], "/constraints/{}/id", "constraint")
    for index, rule in enumerate(rules):
        pointer = f"/constraints/{index}"
        if rule.spec.family == "judges":
            told = f"{type_name(type(rule))} needs a judge or a person: constraints are rules and graded scorers"
            yield Fault(f"{pointer}/type", "not_allowed", told)
        elif is_templated(rule):
            found = yield from _never_runs(rule, request.queries, limits, deadline)
            told = "This can run for no query (see `variables`); for the first"
            yield from (Fault(pointer, one.code, f"{told}: {one.detail}") for one in found)
        else:
            yield from (Fault(pointer, one.code, one.detail) for one in faults(rule, limits))


def _never_runs(
    rule: Evaluator, queries: Sequence[Query], limits: Limits, deadline: float
) -> Generator[None, None, list[RuleFault]]:
    """The faults of a template for the first query, if it can run for none; else it is in error where it cannot."""
    first: list[RuleFault] = []
    for query in queries:
        found = _faults_with(rule, query.variables, limits)
        if not found or perf_counter() > deadline:
            return []
        first = first or found
        yield None
    return first


def _faults_with(rule: Evaluator, variables: dict[str, Any] | None, limits: Limits) -> list[RuleFault]:
    try:
        return faults(bind(rule, variables, limits.text_chars), limits)
    except RuleFault as fault:
        return [fault]


def _drawing(request: PromptMetrics, known: Mapping[str, JudgeInfo], limits: Limits) -> Iterator[Fault]:
    if request.generate is None:
        return
    yield from generator_faults(request.generate.judge, known)
    chats = [messages(request, query) for query in request.queries if not query.responses]
    yield from over("/generate/k", request.generate.k * len(chats), limits.judge_calls, "judge_calls")
    chars = request.generate.k * sum(len(message.content) for chat in chats for message in chat)
    yield from over("/generate/k", chars, MAX_PROMPT_CHARS, "generated_prompt_chars")


def _judging(request: PromptMetrics, known: Mapping[str, JudgeInfo], limits: Limits) -> Iterator[Fault]:
    if request.jq is None:
        return
    if not request.jq.objective.strip():
        yield Fault("/jq/objective", "blank", "Say what a response has to achieve")
    name = request.jq.judge
    if name not in known and name != DEFAULT:
        yield Fault("/jq/judge", "unknown_judge", no_such_judge(name, known))
    if name == CALLER:
        yield from over("/jq", _rating_chars(request), limits.response_bytes, "response_bytes")


def _rating_chars(request: PromptMetrics) -> int:
    """Characters, at least, of the questions that are handed to the caller."""
    assert request.jq is not None
    shared = len(request.jq.objective) + len(as_text(request.context or ""))
    return sum(_unrated(query) * (shared + len(query.query or "")) for query in request.queries)


def _unrated(query: Query) -> int:
    return len(query.responses) if query.replies is None else query.replies.count(None)


def _texts(request: PromptMetrics, limits: Limits) -> Iterator[Fault]:
    objective = request.jq.objective if request.jq else None
    parts = {"seed_prompt": request.seed_prompt, "context": request.context, "jq/objective": objective}
    for name, value in parts.items():
        yield from long_values(value, f"/{name}", limits.text_chars)
    for index, query in enumerate(request.queries):
        for name in ("query", "responses", "ground_truth_assistant", "context", "variables"):
            yield from long_values(getattr(query, name), f"/queries/{index}/{name}", limits.text_chars)
