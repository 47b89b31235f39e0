"""Whether an answer says what the reference answer says."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from service.core.asking import Judging, Need
from service.core.case import Case
from service.core.evaluator import Example, Expected
from service.primitives import RuleFault
from service.primitives.jsontext import as_text
from service.primitives.vectors import cosine, rescaled
from service.scorers.judged.asking import Chatting, judged
from service.scorers.judged.shapes import TEXT, listed, shape
from service.scorers.judged.votes import Opinion, Vote
from service.scorers.judged.wording import Texts, load
from service.scorers.similarity import FLOOR

_WORDING = load("answer_correctness")
_CLASSES = shape(TP=listed(TEXT), FP=listed(TEXT), FN=listed(TEXT))

Weight = Annotated[float, Meta(ge=0, le=1e6)]


class AnswerCorrectness(Chatting, frozen=True):
    """The output makes the claims that `expected` makes, and means nearly the same.

    A judge sorts the claims of both into TP, FP and FN (key `classes`, further votes under `vote2.classes` and so on):
    F1 = TP / (TP + (FP + FN) / 2), and 1 where there are no claims. The similarity of the two texts is rescaled as in
    embedding_similarity: max((cos - 0.7) / 0.3, 0). score = the mean of both with the two weights; without weight the
    similarity is not asked for. The judge sees the context where the item has one. Source: RAGAS answer correctness as
    in autoevals.
    """

    spec = judged(
        Example(
            params={"expected": "Built in 1904 of brick and oak."},
            case=Case(input="Tell me about the barn.", output="Built in 1904 of brick."),
            replies={"classes": {"TP": ["built in 1904", "of brick"], "FP": [], "FN": ["of oak"]}},
            vectors={"Built in 1904 of brick and oak.": [1.0, 0.0], "Built in 1904 of brick.": [0.8, 0.6]},
            status="passed",
            score=0.75 * 0.8 + 0.25 / 3,
        ),
        Example(
            params={"expected": "Built in 1904.", "answer_similarity_weight": 0},
            case=Case(input="When was it built?", output="In 1940."),
            replies={"classes": {"TP": [], "FP": ["built in 1940"], "FN": ["built in 1904"]}},
            status="failed",
            score=0.0,
        ),
        reads=("input", "context"),
    )
    shows = ("input",)
    steps = ("classes",)

    expected: Expected | UnsetType = UNSET
    factuality_weight: Annotated[Weight, Meta(description="Weight of the claims.")] = 0.75
    answer_similarity_weight: Annotated[Weight, Meta(description="Weight of the similarity.")] = 0.25

    def validate(self, expected: Any) -> None:
        if self.factuality_weight + self.answer_similarity_weight == 0:
            told = "`factuality_weight` and `answer_similarity_weight` are both 0: give one of them some weight"
            raise RuleFault("invalid_params", told)

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        pair = as_text(texts["output"]), as_text(texts["expected"])
        foreseen = tuple(dict.fromkeys(pair)) if self.answer_similarity_weight else ()
        question = _WORDING.question(texts, _CLASSES)
        (classes,) = yield from vote.ask({vote.key("classes"): question}, foreseen=foreseen)
        right, wrong, missing = (len(classes[name]) for name in ("TP", "FP", "FN"))
        factuality = right / (right + (wrong + missing) / 2) if right + wrong + missing else 1.0
        evidence: dict[str, Any] = {**classes, "factuality": factuality}
        similarity = 0.0
        if self.answer_similarity_weight:
            told = yield Need(vectors=foreseen)
            similarity = rescaled(cosine(*(told.vectors[text] for text in pair)), FLOOR)
            evidence |= {"similarity": similarity, "embedding_model": told.model}
        most = max(self.factuality_weight, self.answer_similarity_weight)
        shares = self.factuality_weight / most, self.answer_similarity_weight / most
        counts = f"{right} claims right, {wrong} wrong, {missing} missing (F1 {factuality:.4g})"
        return Opinion(
            score=(shares[0] * factuality + shares[1] * similarity) / (shares[0] + shares[1]),
            told=counts + (f", similarity {similarity:.4g}" if self.answer_similarity_weight else ""),
            evidence=evidence,
        )
