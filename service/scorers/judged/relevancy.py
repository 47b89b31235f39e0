"""Whether context and answer have to do with the question."""

from math import fsum
from typing import Annotated, Any, Literal

from msgspec import Meta

from service.core.asking import Judging, Need, Ungraded
from service.core.case import Case
from service.core.evaluator import Example, Source
from service.primitives.jsontext import as_text
from service.primitives.vectors import cosine, rescaled
from service.scorers.judged.asking import Chatting, Reasoned, judged
from service.scorers.judged.coverage import TooCostly, covered
from service.scorers.judged.material import given, needed, needed_context, passages
from service.scorers.judged.shapes import TEXT, VERDICT, listed, said, shape
from service.scorers.judged.votes import Opinion, Vote, key_of
from service.scorers.judged.wording import Texts, load
from service.scorers.similarity import FLOOR

MAX_STRICTNESS = 20

_SENTENCES = load("context_relevancy")
_QUESTION = load("answer_relevancy")
_GUESS = shape(question=said("The question."), noncommittal=VERDICT)


class ContextRelevancy(Chatting, frozen=True, rename={"from_": "from"}):
    """The context is to the point of the input, in the eyes of a judge.

    The value under test is the item's context (`from`), a text or a list of passages; the output is not read. The judge
    copies the sentences that help to answer (key `sentences`, further votes under `vote2.sentences` and so on); score =
    the share of the context's characters that they cover, each counted once. A sentence that does not stand in the
    context counts for nothing and is listed in `details.not_in_context`. Source: autoevals ContextRelevancy, without
    its reward for invented sentences.
    """

    spec = judged(
        Example(
            case=Case(input="What colour is the kite?", context=["The kite is red.", "Bread is cheap."]),
            replies={"sentences": {"sentences": [{"reasons": ["It names it."], "sentence": "The kite is red."}]}},
            status="passed",
            score=16 / 31,
        ),
        Example(
            case=Case(input="What colour is the kite?", context="Bread is cheap."),
            replies={"sentences": {"sentences": [{"sentence": "The kite is surely red."}]}},
            status="failed",
            score=0.0,
        ),
        reads=("input",),
    )
    shows = ("input",)
    steps = ("sentences",)

    from_: Annotated[Source, Meta(description="The part of the item that is the context under test.")] = "context"
    use_cot: Reasoned = True

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        texts = given(case)
        needed(texts, *self.shows)
        texts = {**texts, "context": passages(value)}
        needed_context(texts)
        return texts

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        (answer,) = yield from vote.ask({vote.key("sentences"): _SENTENCES.question(texts, self._sentences())})
        sentences = [one["sentence"] for one in answer["sentences"]]
        try:
            found = covered(sentences, texts["context"])
        except TooCostly:
            told = f"The judge lists {len(sentences):,} sentences: too many to be looked up in a context of this length"
            raise Ungraded("not_graded", "judge_unparseable", told) from None
        return Opinion(
            score=found.characters / found.total,
            told=f"{found.characters} of {found.total} characters of the context are to the point",
            evidence={"sentences": sentences, "not_in_context": found.absent},
        )

    def _sentences(self) -> dict[str, Any]:
        reasons = {"reasons": listed(TEXT)} if self.use_cot else {}
        return shape(sentences=listed(shape(**reasons, sentence=said("Copied from the context."))))


class AnswerRelevancy(Chatting, frozen=True):
    """The output answers the input, as far as the input can be guessed from it.

    `strictness` times a judge guesses the question from the output and the context (keys `q1`, `q2` and so on; further
    votes under `vote2.q1` and so on). score = the mean similarity of the guesses to the input, each rescaled as in
    embedding_similarity: max((cos - 0.7) / 0.3, 0). It is 0 if every guess comes with the judgement that the output is
    noncommittal. A context of `[]` is one; what it means that there is none, `on_missing_context` says. Source: RAGAS
    answer relevancy as in autoevals, but for one noncommittal reply among others.
    """

    spec = judged(
        Example(
            params={"strictness": 2},
            case=Case(input="Where is the depot?", output="In Malmo.", context=["Depots: Malmo"]),
            replies={
                "q1": {"question": "Where is it?", "noncommittal": 0},
                "q2": {"question": "Which town?", "noncommittal": 0},
            },
            vectors={"Where is the depot?": [1.0, 0.0], "Where is it?": [1.0, 0.0], "Which town?": [0.8, 0.6]},
            status="passed",
            score=(1 + 1 / 3) / 2,
        ),
        Example(
            params={"strictness": 1},
            case=Case(input="Where is the depot?", output="I cannot say.", context=[]),
            replies={"q1": {"question": "Where is it?", "noncommittal": 1}},
            status="failed",
            score=0.0,
        ),
        Example(case=Case(input="Where is the depot?", output="In Malmo."), status="failed", score=0.0),
        reads=("input", "context"),
    )
    shows = ("input",)
    embeds_replies = True

    strictness: Annotated[int, Meta(ge=1, le=MAX_STRICTNESS, description="How often the question is guessed.")] = 3
    on_missing_context: Annotated[
        Literal["zero", "no_data"], Meta(description="Without a context the score is 0, or there is none.")
    ] = "zero"

    def keys(self) -> list[str]:
        votes, guesses = range(1, self.samples + 1), range(1, self.strictness + 1)
        return [key_of(vote, f"q{guess}") for vote in votes for guess in guesses]

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        texts = super().texts(value, expected, case)
        if self.on_missing_context == "no_data":
            needed(texts, "context")
        return texts

    def settled(self, texts: Texts) -> Opinion | None:
        if "context" in texts:
            return None
        return Opinion(score=0.0, told="there is no context, which scores 0 without a judge (see on_missing_context)")

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        question = _QUESTION.question(texts, _GUESS)
        keys = [vote.key(f"q{number}") for number in range(1, self.strictness + 1)]
        asked = as_text(texts["input"])
        answers = yield from vote.ask(dict.fromkeys(keys, question), apart=True, foreseen=(asked,))
        evasive = sum(answer["noncommittal"] for answer in answers)
        questions = [answer["question"] for answer in answers]
        evidence = {"questions": questions, "noncommittal": evasive}
        if evasive == len(answers):
            return Opinion(score=0.0, told=f"the output is noncommittal, by {_all(evasive)}", evidence=evidence)
        told = yield Need(vectors=tuple(dict.fromkeys([*questions, asked])))
        closeness = [rescaled(cosine(told.vectors[guess], told.vectors[asked]), FLOOR) for guess in questions]
        score = fsum(closeness) / len(closeness)
        return Opinion(
            score=score,
            told=f"similarity {score:.4g} of the input to the questions that the output answers",
            evidence=evidence | {"similarities": closeness, "embedding_model": told.model},
        )


def _all(count: int) -> str:
    return "the one reply" if count == 1 else f"all {count} replies"
