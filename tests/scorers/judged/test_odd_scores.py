"""Scores in other signs than ASCII's, and scales that no score lies on."""

from contextlib import suppress
from time import perf_counter
from typing import Any

import pytest

from service.primitives.replies import ReplyFault, read_score
from tests.scorers.judged.driving import judged

HUNDRED = (0.0, 100.0)
RATE = {"type": "llm", "prompt_template": "Rate {eval_output}"}

OTHER_SIGNS = {
    "a full-width slash": ("Score: 7／10", 0.7),
    "a fraction slash": ("Score: 7⁄10", 0.7),
    "a full-width percent sign": ("Score: 7％", 0.07),
    "points": ("Score: 8 points out of 10", 0.8),
    "stars": ("4 stars out of 5", 0.8),
    "of, in German": ("Score: 7 von 10", 0.7),
    "of, in French": ("Score: 7 sur 10", 0.7),
    "of, in Russian": ("Score: 7 из 10", 0.7),
    "full-width digits": ("Score: ７", "judge_unparseable"),
    "full-width digits behind a point": ("Score: 0.５", "judge_unparseable"),
    "full-width digits behind a slash": ("Score: 7/１０", "judge_ambiguous"),
    "an Arabic point": ("Score: 0٫5", "judge_unparseable"),
    "a raised point": ("Score: 0·5", "judge_unparseable"),
    "a Swiss thousand": ("Score: 1’000", "judge_unparseable"),
    "a hard space": ("Score: 1\u00a0000", "judge_ambiguous"),
    "a narrow space": ("Score: 10\u202f000", "judge_ambiguous"),
    "a dash": ("Score: 7—8", "judge_unparseable"),
}


@pytest.mark.parametrize(("said", "read"), OTHER_SIGNS.values(), ids=OTHER_SIGNS)
def test_no_part_of_a_number_is_taken_for_the_score(said: str, read: Any) -> None:
    if isinstance(read, float):
        assert read_score(said, *HUNDRED) == pytest.approx(read)
        return
    with pytest.raises(ReplyFault) as caught:
        read_score(said, *HUNDRED)
    assert caught.value.reason == read


@pytest.mark.parametrize("scale", [[-1e308, 1e308], [5, 5], [1, 0]])
def test_a_scale_without_room_is_the_fault_of_the_rule(scale: list[float]) -> None:
    got = judged(RATE | {"scale": scale}, [{"score": 0}], output="x")
    assert got.verdict == ("error", None, "invalid_params")


def test_a_judge_is_told_the_scale_to_the_last_digit() -> None:
    got = judged(RATE | {"scale": [0.5, 1234567]}, [{"score": 1234567}], output="x")
    assert got.verdict == ("passed", 1.0, None)
    assert "from 0.5, the worst, to 1234567, the best" in got.prompts[0].messages[0].content
    over = judged(RATE | {"scale": [0, 1234567]}, [{"score": 1234568}], output="x")
    assert "0 to 1234567" in over.outcome.explanation


@pytest.mark.parametrize("padding", [" ", "\t", "\u00a0", "*", "\n", "1 ", "Score: ", "/"])
def test_a_long_reply_is_read_in_a_moment(padding: str) -> None:
    started = perf_counter()
    with suppress(ReplyFault):
        read_score("Score: 1" + padding * 400_000, *HUNDRED)
    assert perf_counter() - started < 5
