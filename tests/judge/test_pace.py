import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.judge.pace import LEAST_PAUSE, Pace


def paced(most: int, answers: str, clock: float = 0.0) -> Pace:
    """A pace after answers: `.` was one, `!` a refusal."""
    pace = Pace(most, lambda: clock)
    for answer in answers:
        pace.refused(after=3.0) if answer == "!" else pace.answered()
    return pace


LIMITS = {
    "at first": (16, "", 16),
    "no complaint": (16, "." * 100, 16),
    "a round not yet over": (16, "!" * 15, 16),
    "a round refused": (16, "!" * 16, 8),
    "round after round refused": (16, "!" * 100, 1),
    "a quarter of a round refused": (16, "!!!!" + "." * 12, 15),
    "half of a round refused": (16, "!!" * 4 + "." * 8, 12),
    "one more for each good round": (16, "!" * 16 + "." * 8 + "." * 9, 10),
    "a sixteenth more for each good round": (64, "!" * 64 + "." * 32, 36),
    "all back in the end": (16, "!" * 100 + "." * 300, 16),
    "never below one": (1, "!" * 9, 1),
}


@pytest.mark.parametrize(("most", "answers", "limit"), LIMITS.values(), ids=LIMITS)
def test_the_limit(most: int, answers: str, limit: int) -> None:
    assert paced(most, answers).limit == limit


@pytest.mark.parametrize(("answers", "pause"), [("!!!!", 3.0), ("!!!.", 0.0), ("!!!", 0.0), ("....", 0.0)])
def test_a_round_that_is_refused_as_a_whole_makes_a_pause(answers: str, pause: float) -> None:
    assert paced(4, answers).pause == pause


def test_a_pause_ends_and_is_never_nothing() -> None:
    now = [10.0]
    pace = Pace(1, lambda: now[0])
    pace.refused(after=0.0)
    assert pace.pause == pytest.approx(LEAST_PAUSE)
    now[0] = 11.0
    assert pace.pause == 0


@given(most=st.integers(1, 100), answers=st.lists(st.sampled_from(".!"), max_size=500))
def test_the_limit_stays_between_one_and_the_most(most: int, answers: list[str]) -> None:
    assert 1 <= paced(most, "".join(answers)).limit <= most


def test_a_tenth_refused_at_random_costs_little() -> None:
    limits = [paced(32, ("." * 9 + "!") * turns).limit for turns in range(1, 100)]
    assert min(limits) >= 30
