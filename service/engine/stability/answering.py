"""POST /v1/prompt-metrics from a decoded request to the bytes of its answer, in steps."""

from time import perf_counter

from msgspec import UNSET, UnsetType

from service.config import Limits
from service.core.assess import forget_documents
from service.core.judging import CALLER
from service.engine.batch import Work
from service.engine.lanes import Steps
from service.engine.run import Outside
from service.engine.stability import notices
from service.engine.stability.admission import admit
from service.engine.stability.compliance import comply, rate, ungraded
from service.engine.stability.grouping import group
from service.engine.stability.judging import Judging, judging_of
from service.engine.stability.responses import Responses, completed, sent
from service.engine.stability.results import Interaction
from service.engine.stability.session import Totals
from service.engine.stability.vectors import Vectors
from service.engine.stability.wire import NoResponse, PromptMetrics
from service.engine.writing import Answered, Writing, account, encode


def measuring(
    request: PromptMetrics, limits: Limits, outside: Outside, arrived: float, body_bytes: int, replaced: int
) -> Steps[Answered]:
    """Measure every query. Invalid, TooLarge or Overloaded where it cannot be answered.

    Without vectors, for want of a model or of time, what needs them is null and the rest stands.
    """
    came = yield from sent(request)
    deadline = arrived + (request.deadline_ms or limits.deadline_ms) / 1000
    yield from admit(request, came, outside.judges.known, limits, body_bytes, deadline)
    consulting = outside.consulting(deadline, limits)
    responses = yield from completed(request, came, consulting, outside.judges.known, limits)
    judging = yield from judging_of(request, responses, limits, deadline)
    vectors = Vectors(request, responses)
    yield from vectors.make(outside.embedder, deadline, judging.work(outside.embedder, consulting))
    forget_documents()
    totals = Totals()
    writing = Writing(limits.response_bytes, "send fewer queries, or fewer responses")
    for place, of_query in enumerate(responses):
        one = yield from _interaction(request, place, of_query, judging, vectors)
        totals.add(one)
        if one.jq_detail and one.jq_detail.prompts:
            writing.refuse_large(message.content for prompt in one.jq_detail.prompts for message in prompt.messages)
        writing.add([one])
        yield None
    work = Work()
    counts = judging.counts()
    account(work, counts, consulting, replaced)
    warnings = list(notices.of_request(request, outside.judges.known, vectors.unread))
    session = encode(totals.session(request, vectors, warnings, work))
    body = b'%b,"interactions":[%b]}' % (session[:-1], writing.body())
    facts = {"queries": len(responses), "responses": sum(len(one.all) for one in responses)}
    return Answered(body, counts, facts, perf_counter() - arrived)


def _interaction(
    request: PromptMetrics, place: int, responses: Responses, judging: Judging, vectors: Vectors
) -> Steps[Interaction]:
    query, judged = request.queries[place], judging.of(place)
    one = _counted(query.qa_id or str(place + 1), responses)
    found = yield from vectors.of(place)
    if found.rows is not None:
        yield from group(one, request, found, responses.kept)
    comply(one, judged.constraints, responses.kept)
    if request.jq is not None:
        rate(one, responses, judged.ratings, by_caller=request.jq.judge == CALLER)
    one.warnings = [
        *notices.of_responses(responses, request.generate.temperature if request.generate else None),
        *notices.of_vectors(query, found),
        *notices.of_groups(request, responses, one, vectors.recommended_tau),
        *(notices.of_replies(query, responses, request.jq.judge) if request.jq else ()),
        *notices.of_judgements(ungraded(judged.constraints.values()), one.jq_detail),
    ]
    return one


def _counted(name: str, responses: Responses) -> Interaction:
    return Interaction(
        qa_id=name,
        k=len(responses.kept),
        failed=len(responses.all) - len(responses.kept),
        stripped=sum(one.was_stripped for one in responses.altered),
        empty=responses.empty,
        responses=_shown(responses),
    )


def _shown(responses: Responses) -> list[str | NoResponse] | UnsetType:
    """What a judge wrote, reasoning and all."""
    if responses.written is None:
        return UNSET
    return [
        NoResponse(error=read.detail) if one.text is None else one.text
        for one, read in zip(responses.written, responses.all, strict=True)
    ]
