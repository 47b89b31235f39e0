"""Judges of answers to a question."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from service.core.asking import Ungraded
from service.core.case import Case
from service.core.evaluator import Example, Expected, NonEmpty
from service.primitives.jsontext import as_text
from service.scorers.judged.asking import judged
from service.scorers.judged.choosing import Choosing
from service.scorers.judged.material import criteria
from service.scorers.judged.votes import Opinion
from service.scorers.judged.wording import Texts, load


class Factuality(Choosing, frozen=True):
    """The output says the same facts as `expected`, in the eyes of a judge who sees the input too.

    A: a part of the expected facts (0.4). B: all of them and more (0.6). C: the same (1). D: a contradiction (0).
    E: differences that do not matter (1). Equal texts are C without a call. The judge is asked under the key `vote1`,
    further votes under `vote2` and so on. Source: autoevals Factuality, after OpenAI evals.
    """

    spec = judged(
        Example(
            params={"expected": "Ada Brenner designed it in 1931."},
            case=Case(input="Who designed the bridge?", output="Ada Brenner, in 1931, with her brother."),
            replies={"vote1": {"reasons": "It adds the brother.", "choice": "B"}},
            status="passed",
            score=0.6,
        ),
        Example(
            params={"expected": "Ada Brenner designed it in 1931."},
            case=Case(input="Who designed the bridge?", output="Karl Lutz did."),
            replies={"vote1": '{"reasons": "Another name.", "choice": "D"}'},
            status="failed",
            score=0.0,
        ),
        Example(
            case=Case(input="Who designed the bridge?", output="Ada Brenner", expected="Ada Brenner"),
            status="passed",
            score=1.0,
        ),
        reads=("input",),
    )
    shows = ("input",)
    labels = {"A": 0.4, "B": 0.6, "C": 1.0, "D": 0.0, "E": 1.0}
    wording = load("factuality")

    expected: Expected | UnsetType = UNSET

    def settled(self, texts: Texts) -> Opinion | None:
        if texts["output"] != texts["expected"]:
            return None
        return self.chosen("C", "", "the texts are equal, so that no judge was asked")


class ClosedQA(Choosing, frozen=True, tag="closed_qa"):
    """The answer fulfils a criterion, in the eyes of a judge.

    Y: it does (1). N: it does not (0). The criterion is `criteria`, else the item's `metadata.criteria`, else agreement
    with the item's `expected`, which the judge sees whenever it is given; no_data/missing_criteria where there is none
    of them. The judge is asked under the key `vote1`, further votes under `vote2` and so on. Source: autoevals
    ClosedQA.
    """

    spec = judged(
        Example(
            params={"criteria": "Names the account page."},
            case=Case(input="How do I reset my PIN?", output="Reset it from the account page."),
            replies={"vote1": {"reasons": "It names it.", "choice": "Y"}},
            status="passed",
            score=1.0,
        ),
        Example(
            case=Case(input="6 times 7?", output="41", expected="42"),
            replies={"vote1": {"reasons": "41 is not 42.", "choice": "N"}},
            status="failed",
            score=0.0,
        ),
        reads=("input", "expected", "metadata"),
    )
    shows = ("input",)
    labels = {"Y": 1.0, "N": 0.0}
    wording = load("closed_qa")

    criteria: Annotated[
        NonEmpty | None,
        Meta(description="What the answer has to fulfil; default: the item's `metadata.criteria`.",
             extra={"limit": "text_chars"}),
    ] = None  # fmt: skip

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        texts = super().texts(value, expected, case)
        wanted = self.criteria or criteria(case)
        if wanted:
            return {**texts, "criteria": as_text(wanted)}
        if "expected" not in texts:
            told = "Nothing to judge by: no `criteria`, and neither `metadata.criteria` nor `expected` in the item"
            raise Ungraded("no_data", "missing_criteria", told)
        return texts


class Possible(Choosing, frozen=True):
    """The answer takes the task on instead of declaring it impossible, in the eyes of a judge.

    A: it says that the task cannot be done, or declines it (0). B: it offers a solution, right or wrong (1). The judge
    is asked under the key `vote1`, further votes under `vote2` and so on. Source: autoevals Possible.
    """

    spec = judged(
        Example(
            case=Case(input="Make tea.", output="Boil the water first."),
            replies={"vote1": {"reasons": "A first step.", "choice": "B"}},
            status="passed",
            score=1.0,
        ),
        Example(
            case=Case(input="Make tea.", output="I am afraid I cannot do that."),
            replies={"vote1": {"reasons": "It declines.", "choice": "A"}},
            status="failed",
            score=0.0,
        ),
        reads=("input",),
    )
    shows = ("input",)
    labels = {"A": 0.0, "B": 1.0}
    wording = load("possible")


class Translation(Choosing, frozen=True):
    """The output translates the input as well as `expected` does, in the eyes of a judge.

    Y: a good translation (1). N: not one (0). `language` is the target; where it is given, any other language is wrong.
    The judge is asked under the key `vote1`, further votes under `vote2` and so on. Source: autoevals Translation.
    """

    spec = judged(
        Example(
            params={"language": "English"},
            case=Case(input="Le chat dort.", output="The cat is asleep.", expected="The cat is sleeping."),
            replies={"vote1": {"reasons": "The same in other words.", "choice": "Y"}},
            status="passed",
            score=1.0,
        ),
        Example(
            params={"language": "English"},
            case=Case(input="Le chat dort.", output="The cat eats.", expected="The cat is sleeping."),
            replies={"vote1": {"reasons": "Eats is not sleeps.", "choice": "N"}},
            status="failed",
            score=0.0,
        ),
        reads=("input",),
    )
    shows = ("input",)
    labels = {"Y": 1.0, "N": 0.0}
    wording = load("translation")

    expected: Expected | UnsetType = UNSET
    language: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None, Meta(description="The language of the translation.")
    ] = None

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        texts = super().texts(value, expected, case)
        return texts if self.language is None else {**texts, "language": self.language}
