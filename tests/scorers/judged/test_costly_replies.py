"""What a reply of a judge, or of the caller in its place, may cost."""

import pytest

from service.scorers.judged.coverage import MAX_STEPS, TooCostly, covered
from tests.scorers.judged.driving import judged

RELEVANT = {"type": "context_relevancy"}

COSTLY = {
    "a letter that is everywhere": (["a" * length for length in range(1, 100)], ["a" * 900_000]),
    "thousands of sentences": ([f"sentence {number}" for number in range(2_000)], ["The kite is red. " * 10_000]),
}


@pytest.mark.parametrize(("sentences", "context"), COSTLY.values(), ids=COSTLY)
def test_sentences_are_looked_up_within_bounds(sentences: list[str], context: list[str]) -> None:
    with pytest.raises(TooCostly):
        covered(sentences, context)
    reply = {"sentences": [{"sentence": one} for one in sentences]}
    got = judged(RELEVANT, [reply], input="?", context=context)
    assert got.verdict == ("not_graded", None, "judge_unparseable")
    assert f"{len(sentences):,} sentences" in got.outcome.explanation


def test_a_large_context_may_be_quoted_at_length() -> None:
    passages = [f"{number} is a number. " * 20 for number in range(4_000)]
    assert 100 * sum(map(len, passages)) < MAX_STEPS
    found = covered(passages[:100], passages)
    assert found.absent == []
    assert found.characters >= sum(len(one.strip()) for one in passages[:100])
