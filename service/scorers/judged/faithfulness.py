"""Whether an answer keeps to its context."""

from collections import defaultdict, deque
from typing import Any

from service.core.asking import Judging, Ungraded
from service.core.case import Case
from service.core.evaluator import Example
from service.primitives.jsontext import render
from service.primitives.text import cut, quote
from service.scorers.judged.asking import Chatting, Reasoned, judged
from service.scorers.judged.material import needed_context
from service.scorers.judged.shapes import TEXT, VERDICT, listed, said, shape
from service.scorers.judged.votes import Opinion, Vote
from service.scorers.judged.wording import Texts, load

_STATEMENTS = load("faithfulness_statements")
_VERDICTS = load("faithfulness_verdicts")
_LIST = shape(statements=listed(TEXT))


class Faithfulness(Chatting, frozen=True):
    """The context bears out what the output claims, in the eyes of a judge.

    First the judge takes the output to pieces (key `statements`), then it gives each piece a verdict (key `verdicts`);
    further votes are asked under `vote2.statements` and so on. score = the share of statements with verdict 1. Without
    statements it is not_graded/undetermined, and with more or fewer verdicts than statements
    not_graded/judge_incomplete. Source: RAGAS faithfulness.
    """

    spec = judged(
        Example(
            case=Case(
                input="When is it open?",
                output="From nine. Entry is free.",
                context=["Open from 9:00.", "Free on Sundays."],
            ),
            replies={
                "statements": {"statements": ["It opens at nine.", "Entry is free."]},
                "verdicts": {
                    "faithfulness": [
                        {"statement": "It opens at nine.", "reason": "Stated.", "verdict": 1},
                        {"statement": "Entry is free.", "reason": "Only on Sundays.", "verdict": 0},
                    ]
                },
            },
            status="passed",
            score=0.5,
        ),
        Example(
            case=Case(input="When is it open?", output="At ten.", context="Open from 9:00."),
            replies={
                "statements": {"statements": ["It opens at ten."]},
                "verdicts": {"faithfulness": [{"statement": "It opens at ten.", "verdict": 0}]},
            },
            status="failed",
            score=0.0,
        ),
        reads=("input", "context"),
        follow_ups=1,
    )
    shows = ("input", "context")
    steps = ("statements", "verdicts")

    use_cot: Reasoned = True

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        texts = super().texts(value, expected, case)
        needed_context(texts)
        return texts

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        (found,) = yield from vote.ask({vote.key("statements"): _STATEMENTS.question(texts, _LIST)})
        statements = [text for text in found["statements"] if text.strip()]
        if not statements:
            raise Ungraded("not_graded", "undetermined", "The output makes no claims that could be checked")
        question = _VERDICTS.question({**texts, "statements": render(statements)}, self._verdicts())
        (answer,) = yield from vote.ask({vote.key("verdicts"): question})
        verdicts = answer["faithfulness"]
        if len(verdicts) != len(statements):
            told = f"The judge gave {len(verdicts)} verdicts on {len(statements)} statements"
            raise Ungraded("not_graded", "judge_incomplete", told)
        checked = [
            {**verdict, "statement": text}
            for text, verdict in zip(statements, _in_order(verdicts, statements), strict=True)
        ]
        supported = sum(verdict["verdict"] for verdict in checked)
        return Opinion(
            score=supported / len(statements),
            told=f"the context bears out {supported} of {len(statements)} statements",
            evidence={"statements": checked},
        )

    def _verdicts(self) -> dict[str, Any]:
        reason = {"reason": said("What in the context decides.")} if self.use_cot else {}
        return shape(faithfulness=listed(shape(statement=said("The claim, repeated."), **reason, verdict=VERDICT)))


def _in_order(verdicts: list[dict[str, Any]], statements: list[str]) -> list[dict[str, Any]]:
    """The verdicts in the order of the statements: by what they repeat where each is repeated, else as they came.

    Ungraded where one repeats the statement of another's place: then some statement has two, and another none.
    """
    wanted = [text.strip() for text in statements]
    repeated = [str(verdict.get("statement", "")).strip() for verdict in verdicts]
    if sorted(repeated) == sorted(wanted):
        by_statement: defaultdict[str, deque[dict[str, Any]]] = defaultdict(deque)
        for text, verdict in zip(repeated, verdicts, strict=True):
            by_statement[text].append(verdict)
        return [by_statement[text].popleft() for text in wanted]
    for own, repeats in zip(wanted, repeated, strict=True):
        if repeats != own and repeats in wanted:
            told = f"The judge repeats {quote(cut(repeats, 100))} in the place of another statement"
            raise Ungraded("not_graded", "judge_incomplete", told)
    return verdicts
