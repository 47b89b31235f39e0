"""What the evaluations of one query come to: compliance with the constraints, and ratings by a judge."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

import msgspec
from msgspec import UNSET

from service.core.outcome import Evaluation
from service.engine.screening import Column
from service.engine.stability.responses import Responses
from service.engine.stability.results import Interaction, JqDetail, RatingFailure, RatingPrompt
from service.engine.tasks import Held


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that there are."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def comply(into: Interaction, constraints: Mapping[str, Column], kept: Sequence[int]) -> None:
    """Tell how far responses satisfy constraints, by their ids; `kept` are their places among all responses."""
    if not constraints:
        return
    shares = [_share(row) for row in zip(*constraints.values(), strict=True)]
    into.icr = mean(shares)
    into.icr_all = _share([None if share is None else share == 1 for share in shares])
    into.icr_by_constraint = {name: _share(column) for name, column in constraints.items()}
    into.violations = {
        name: [place for place, held in zip(kept, column, strict=True) if held is False]
        for name, column in constraints.items()
        if False in column
    }


def rate(into: Interaction, responses: Responses, ratings: Sequence[Evaluation], *, by_caller: bool) -> None:
    """Tell how well responses achieve the objective, from the rating of each that has a text."""
    scores: list[float | None] = [None] * len(responses.all)
    failures, prompts = [], []
    for place, one in zip(responses.kept, ratings, strict=True):
        scores[place] = one.score
        if one.status == "pending":
            prompts += [_prompt(place, prompt) for prompt in one.details["prompts"]]
        elif one.score is None:
            failures.append(RatingFailure(place, one.reason or one.status, one.explanation))
    into.jq = mean(scores)
    into.jq_detail = JqDetail(
        graded=sum(score is not None for score in scores),
        failed=len(failures),
        failures=failures,
        scores=scores,
        prompts=prompts if by_caller else UNSET,
    )


def ungraded(columns: Iterable[Column]) -> list[Evaluation]:
    """The checks that could not be made."""
    return [one for column in columns for one in column if isinstance(one, Evaluation)]


def _share(verdicts: Sequence[Held | None]) -> float | None:
    """That of the satisfied among those that were judged."""
    satisfied = verdicts.count(True)
    known = satisfied + verdicts.count(False)
    return satisfied / known if known else None


def _prompt(place: int, prompt: dict[str, object]) -> RatingPrompt:
    return msgspec.convert({"index": place, "messages": prompt["messages"], "schema": prompt["schema"]}, RatingPrompt)
