"""Judges that compare the output with another one."""

from msgspec import UNSET, UnsetType

from service.core.case import Case
from service.core.evaluator import Example, Expected
from service.scorers.judged.asking import judged
from service.scorers.judged.choosing import Pairing
from service.scorers.judged.wording import load


class Battle(Pairing, frozen=True):
    """The output does what the input asks for better than `expected` does, in the eyes of a judge.

    Yes: the output is better (1). No: it is not (0). With `swap` the judge is asked in both orders, and one that
    contradicts itself scores 0.5. The judge is asked under the keys `vote1` and `vote1.swap`, further votes under
    `vote2` and so on. Source: autoevals Battle.
    """

    spec = judged(
        Example(
            params={"swap": True},
            case=Case(input="Double x.", output="x * 2", expected="x + 2"),
            replies={"vote1": {"choice": "Yes"}, "vote1.swap": {"choice": "No"}},
            status="passed",
            score=1.0,
        ),
        Example(
            case=Case(input="Double x.", output="x ** 2", expected="x + x"),
            replies={"vote1": {"reasons": "The first squares.", "choice": "No"}},
            status="failed",
            score=0.0,
        ),
        reads=("input",),
    )
    shows = ("input",)
    labels = {"Yes": 1.0, "No": 0.0}
    mirrored = {"Yes": "No", "No": "Yes"}
    wording = load("battle")

    expected: Expected | UnsetType = UNSET


class BetterSummary(Pairing, frozen=True, tag="summary"):
    """The output sums the input up better than `expected` does, in the eyes of a judge.

    A: `expected` is the better summary (0). B: the output is (1). With `swap` the judge is asked in both orders; one
    that contradicts itself scores 0.5. The judge is asked under the keys `vote1` and `vote1.swap`, further votes under
    `vote2` and so on. Source: autoevals Summary.
    """

    spec = judged(
        Example(
            case=Case(input="Trains ran late after heavy rain.", output="Rain delays trains.", expected="It rained."),
            replies={"vote1": {"reasons": "A leaves out the trains.", "choice": "B"}},
            status="passed",
            score=1.0,
        ),
        Example(
            params={"swap": True},
            case=Case(input="Trains ran late after heavy rain.", output="It rained.", expected="Rain delays trains."),
            replies={"vote1": {"choice": "A"}, "vote1.swap": {"choice": "B"}},
            status="failed",
            score=0.0,
        ),
        reads=("input",),
    )
    shows = ("input",)
    labels = {"A": 0.0, "B": 1.0}
    mirrored = {"A": "B", "B": "A"}
    wording = load("summary")

    expected: Expected | UnsetType = UNSET
