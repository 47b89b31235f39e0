"""The worked examples of the catalogue, and what each evaluator owes its users."""

import re
from importlib.resources import files

import msgspec
import pytest

import service.scorers.judged as package
from service.catalogue import BY_TYPE, EVALUATORS
from service.core.evaluator import Evaluator, Example
from service.scorers.judged.asking import Asking
from service.scorers.judged.choosing import Choosing
from tests.scorers.judged.driving import judged

JUDGES = [kind for kind in EVALUATORS if kind.spec.family == "judges"]
EXAMPLES = [
    pytest.param(name, example, id=f"{name}-{number}")
    for name, kind in BY_TYPE.items()
    if kind.spec.family == "judges"
    for number, example in enumerate(kind.spec.examples)
]


def test_the_types_of_the_contract_are_there() -> None:
    assert {str(kind.__struct_config__.tag) for kind in JUDGES} == {
        "factuality", "closed_qa", "battle", "humor", "security", "sql", "translation", "possible", "summary", "llm",
        "llm_rubric",
        "moderation", "faithfulness", "context_relevancy", "answer_relevancy", "answer_correctness", "review", "external",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_its_examples_hold(name: str, example: Example) -> None:
    item = msgspec.json.decode(msgspec.json.encode(example.case))
    got = judged({"type": name, **example.params}, example.replies, example.vectors, example.grade, **item)
    assert got.outcome.status == example.status
    assert got.outcome.explanation
    if example.score is not None:
        assert got.outcome.score == pytest.approx(example.score, abs=1e-12)
    assert set(got.keys) == example.replies.keys()
    assert all(f"`{key}`" in (BY_TYPE[name].__doc__ or "") for key in got.keys)


@pytest.mark.parametrize(
    "kind", [kind for kind in JUDGES if issubclass(kind, Choosing)], ids=lambda kind: kind.__name__
)
def test_its_labels_are_explained_to_the_judge_and_to_the_reader(kind: type[Choosing]) -> None:
    explained = re.findall(r"^(\w+)  +\S", kind.wording.task, re.MULTILINE)
    assert explained == list(kind.labels)
    assert all(re.search(rf"\b{label}\b", kind.__doc__ or "") for label in kind.labels)


@pytest.mark.parametrize("kind", JUDGES, ids=lambda kind: kind.__name__)
def test_it_says_what_it_reads(kind: type[Evaluator]) -> None:
    if issubclass(kind, Asking):
        assert set(kind.shows) <= {*kind.spec.reads, "expected", "output"}


def test_every_wording_is_used() -> None:
    sources = "".join(one.read_text() for one in files(package).iterdir() if one.name.endswith(".py"))
    names = [one.name.removesuffix(".txt") for one in files(package).iterdir() if one.name.endswith(".txt")]
    assert [name for name in names if f'load("{name}")' not in sources] == []
