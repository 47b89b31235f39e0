"""A judge with a prompt of the caller's own."""

from collections.abc import Iterator
from math import isinf
from typing import Annotated, Any

from msgspec import UNSET, Meta

from service.core.asking import Judging, refuse_long
from service.core.case import Case
from service.core.evaluator import Example, NonEmpty
from service.primitives import RuleFault
from service.primitives.fencing import fenced
from service.primitives.jsontext import as_text
from service.primitives.replies import plain
from service.scorers.judged.asking import Chatting, Oddity, Reasoned, judged
from service.scorers.judged.material import unnamed
from service.scorers.judged.rating import rated
from service.scorers.judged.shapes import said, shape
from service.scorers.judged.templates import parsed
from service.scorers.judged.votes import Opinion, Vote
from service.scorers.judged.wording import Question, Texts, Wording, asked, load

NOT_GIVEN = "(not provided)"

_WORDING = load("llm")


class Llm(Chatting, frozen=True, kw_only=True):
    """A judge rates the output by a prompt of your own.

    `prompt_template` may name {eval_input}, {eval_output} and {expectation}; a doubled brace is a brace, and anything
    else in braces is error/invalid_template. Texts are put in fenced, objects as JSON, null as nothing, and what is not
    given as (not provided). The judge answers {score, reasoning}, or a text with a line such as `Score: 0.8`, `7/10` or
    `70%`; `scale` is mapped to 0..1, and what lies outside is not_graded/judge_out_of_range. On a scale from 1 to 5,
    `4` and `4/5` are 0.75, for they stand on it; `80%` and `8/10` are shares themselves, 0.8. The judge is asked under
    the key `vote1`, further votes under `vote2` and so on. Source: pixie create_llm_evaluator.
    """

    spec = judged(
        Example(
            params={"prompt_template": "How polite is this reply to {eval_input}? {eval_output}"},
            case=Case(input="Close my account", output="Gladly. It is closed."),
            replies={"vote1": "Score: 0.9\nFriendly and short."},
            status="passed",
            score=0.9,
        ),
        Example(
            params={"prompt_template": "Rate the reply as {{bad}} or good: {eval_output}", "scale": [1, 5]},
            case=Case(output="No."),
            replies={"vote1": {"reasoning": "Curt.", "score": 2}},
            status="failed",
            score=0.25,
        ),
        reads=("input", "expected"),
    )

    prompt_template: Annotated[
        NonEmpty,
        Meta(description="What the judge is to rate, and by what.", extra={"limit": "text_chars"}),
    ]
    scale: Annotated[tuple[float, float], Meta(description="The worst and the best score.")] = (0.0, 1.0)
    use_cot: Reasoned = True

    @classmethod
    def wordings(cls) -> dict[str, Wording]:
        return {"llm": Wording(_WORDING.task, ("{prompt_template}",))}

    def validate(self, expected: Any) -> None:
        parsed(self.prompt_template)
        if not self.scale[0] < self.scale[1]:
            raise RuleFault("invalid_params", "`scale` has to rise: the worst score first, then the best")
        if isinf(self.scale[1] - self.scale[0]):
            raise RuleFault("invalid_params", "`scale` is wider than the largest number there is: nothing lies between")

    def oddities(self) -> Iterator[Oddity]:
        if any(name == "eval_output" for _, name in parsed(self.prompt_template)):
            return
        field, code = "/prompt_template", "output_not_shown"
        if "{eval_output}" in self.prompt_template:
            told = "`{{eval_output}}` is the word in braces, and not the output: write it with single braces"
        else:
            told = "The judge never sees the output: the template has no {eval_output}"
        yield Oddity(field, code, told)

    def texts(self, value: Any, expected: Any, case: Case) -> Texts:
        parts = {"eval_output": unnamed(value), "eval_input": unnamed(case.input), "expectation": case.expected}
        return {name: "" if part is None else as_text(part) for name, part in parts.items() if part is not UNSET}

    def opinion(self, vote: Vote, texts: Texts) -> Judging[Opinion]:
        (reply,) = yield from vote.put({f"vote{vote.number}": self.question(texts)})
        return rated(vote, reply, self.scale, "reasoning")

    def question(self, texts: Texts) -> Question:
        """The template filled in: each text that says something is fenced."""
        pairs = parsed(self.prompt_template)
        filling = {name: as_text(text) for name, text in texts.items()}
        fences = fenced({name: filling[name] for _, name in pairs if name is not None and filling.get(name)})
        filling |= fences.texts
        parts = [part for text, name in pairs for part in (text, filling.get(name, NOT_GIVEN) if name else "")]
        refuse_long(sum(map(len, parts)))
        low, high = map(plain, self.scale)
        task = _WORDING.task.replace("{low}", low).replace("{high}", high)
        score = said(f"Your rating, from {low} to {high}.", "number")
        reasoning = {"reasoning": said("What speaks for a high rating and what against, before you decide.")}
        schema = shape(**(reasoning if self.use_cot else {}), score=score)
        return asked(task, ["".join(parts)], schema, fences)
