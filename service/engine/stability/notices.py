"""What a reader of a query's numbers should know."""

from collections.abc import Iterator, Mapping, Sequence

from service.core.errors import Late
from service.core.judging import CALLER, JudgeInfo
from service.core.outcome import Evaluation
from service.engine.batch import Notice
from service.engine.consulting import refused_by
from service.engine.stability.judging import rating_by
from service.engine.stability.own import has_reference
from service.engine.stability.responses import Responses
from service.engine.stability.results import Interaction, JqDetail
from service.engine.stability.vectors import Found
from service.engine.stability.wire import Objective, PromptMetrics, Query
from service.primitives.text import cut, quote

FEW = 5
"""Responses under which no claim should be made."""

DETAIL_CHARS = 300


def of_request(request: PromptMetrics, known: Mapping[str, JudgeInfo], unread: Sequence[str]) -> Iterator[Notice]:
    """About the request as a whole: a judge that cannot answer, and `unread` texts among its vectors."""
    if request.jq is not None and (told := _no_judge(request.jq, known)):
        yield Notice("judge_unavailable", cut(f"Nobody can rate the responses: {told}", DETAIL_CHARS))
    if unread and not any(rule.active and rule.inquires() for rule in request.constraints):
        count = f"{len(unread):,} of {len(request.vectors):,} `vectors` are not read"
        why = "they are looked up by the whole text of a response, without its reasoning, or of a reference"
        yield Notice("unused_vectors", f"{count}, the first for {quote(cut(unread[0], 100))}: {why}")


def _no_judge(objective: Objective, known: Mapping[str, JudgeInfo]) -> str | None:
    """Why nobody rates, if that is known beforehand."""
    if refusal := refused_by(rating_by(objective), known):
        return refusal.detail
    fault = known[objective.judge].fault
    return None if fault is None else f"The judge {objective.judge} {fault}"


def of_responses(responses: Responses, temperature: float | None) -> Iterator[Notice]:
    """About the responses as they came; `temperature` is that at which a judge wrote them, if one did."""
    total, count = len(responses.all), len(responses.kept)
    if count < total:
        place, one = next((place, one) for place, one in enumerate(responses.all) if one.text is None)
        told = f"{total - count:,} of {total:,} responses failed and are left out; the first, at {place}: {one.detail}"
        yield Notice("failed_responses", cut(told, DETAIL_CHARS))
    if not count:
        yield Notice("no_responses", "No response has a text: there is nothing to measure")
    elif count < FEW:
        yield Notice("low_k", f"csr_interval is not reliable under {FEW} responses, and this has {count}")
    if responses.empty:
        yield Notice("empty_responses", f"{responses.empty:,} of {count:,} responses are blank")
    if count > 1 and responses.texts.count(responses.texts[0]) == count:
        yield Notice("identical_responses", f"All {count:,} responses are the same text")
    if unclosed := sum(one.unclosed for one in responses.altered):
        yield Notice("unclosed_reasoning", f"Reasoning has no end in {unclosed:,} responses: they may be incomplete")
    if truncated := sum(one.truncated for one in responses.altered):
        yield Notice("truncated_responses", f"{truncated:,} responses were cut at their length (max_output_tokens)")
    if responses.written and temperature == 0:
        yield Notice("temperature_zero", "Written at temperature 0: that they agree says little about the prompt")


def of_vectors(query: Query, found: Found) -> Iterator[Notice]:
    """About the vectors: where there are none, and those that say little."""
    for fault, what in ((found.fault, "They are not measured"), (found.reference_fault, "rss is null")):
        if fault is not None:
            code = "deadline_exceeded" if isinstance(fault, Late) else "model_unavailable"
            yield Notice(code, cut(f"{what}: {fault.detail}", DETAIL_CHARS))
    if found.rows is None:
        return
    if not found.rows[:, 0].all() and (zeros := int((~found.rows.any(axis=1)).sum())):
        told = f"{zeros:,} vectors are zero: their cosine counts as 1 with each other, and as 0 with all else"
        yield Notice("zero_embeddings", told)
    if found.reference is not None and not found.reference.any():
        yield Notice("zero_reference", "The vector of the reference is zero, which points nowhere: rss is null")
    if found.reference is None and found.reference_fault is None and has_reference(query):
        told = (
            "The responses have vectors of your own and the reference has none: give reference_embedding; rss is null"
        )
        yield Notice("reference_not_embedded", told)
    if found.truncated:
        yield Notice("truncated_texts", f"The model read only the beginning of {found.truncated:,} responses")


def of_groups(
    request: PromptMetrics, responses: Responses, one: Interaction, recommended: float | None
) -> Iterator[Notice]:
    """About the clusters."""
    if one.n_clusters == 1 and len(set(responses.texts)) > 1:
        hint = "" if recommended is None or recommended <= request.tau else f"; try {recommended:g} (recommended_tau)"
        told = f"At tau {request.tau:g} all responses are one cluster although they differ: see tau_curve{hint}"
        yield Notice("tau_saturated", told)
    if one.chained:
        told = "Some responses of a cluster are less similar than tau, joined by others: try linkage complete"
        yield Notice("chained", told)


def of_replies(query: Query, responses: Responses, judge: str) -> Iterator[Notice]:
    """About replies that nobody reads: where this judge is asked instead, and of responses that have no text."""
    sent = [place for place, reply in enumerate(query.replies or ()) if reply is not None]
    unread = sorted(set(sent).difference(responses.kept)) if judge == CALLER else sent
    if unread:
        why = "there is no text" if judge == CALLER else f"judge {cut(judge, 100)!r} is asked, and not `caller`"
        told = f"{len(unread):,} of {len(sent):,} replies are not read, the first at {unread[0]}: {why}"
        yield Notice("unused_replies", told)


def of_judgements(ungraded: Sequence[Evaluation], ratings: JqDetail | None) -> Iterator[Notice]:
    """About constraints and ratings that could not be judged."""
    if ungraded:
        first = f"{ungraded[0].evaluator}, {ungraded[0].explanation}"
        told = f"{len(ungraded):,} checks could not be made and count neither way; the first: {first}"
        yield Notice("constraint_not_graded", cut(told, DETAIL_CHARS))
    if ratings is not None and ratings.failures:
        one = ratings.failures[0]
        told = f"{ratings.failed:,} responses have no rating and are left out; the first, at {one.index}: {one.detail}"
        yield Notice("judge_failures", cut(told, DETAIL_CHARS))
    if ratings is not None and ratings.prompts:
        told = (
            f"{len(ratings.prompts):,} ratings are left to you: ask a model each of jq_detail.prompts, and send the "
            "request again with each reply in `replies` of the query, at the place that its `index` names"
        )
        yield Notice("ratings_pending", told)
