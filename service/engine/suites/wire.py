"""What is posted to /v1/suites."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from service.catalogue import Rule
from service.core.evaluator import Name, NonEmpty
from service.core.judging import Grade
from service.core.outcome import Score
from service.engine.generating import Generate, Temperature, Tokens

Metric = Literal["score", "pass_rate", "passed", "failed", "not_graded", "missing", "total"]
Operator = Literal["greater_than_or_equal", "greater_than", "less_than_or_equal", "less_than", "equals"]


class SuiteCase(Struct, kw_only=True, forbid_unknown_fields=True):
    """What every version is tried on. An absent key means "not given", which is not the same as null."""

    id: Annotated[Name | None, Meta(description="Unique in the suite, and stable; default: the position.")] = None
    input: Annotated[Any, Meta(description="What the system is asked: any JSON.")] = UNSET
    expected: Annotated[Any, Meta(description="The reference answer: any JSON.")] = UNSET
    context: Annotated[str | list[str] | UnsetType | None, Meta(description="Retrieved passages.")] = UNSET
    variables: Annotated[dict[str, Any] | None, Meta(description="Values for `{{name}}` in graders.")] = None
    metadata: Annotated[dict[str, Any] | UnsetType | None, Meta(description="Anything else.")] = UNSET
    graders: Annotated[list[Rule], Meta(description="Graders of this case, after the suite's.")] = []


class SentRun(Struct, kw_only=True, forbid_unknown_fields=True):
    """A run that is not simply its output: give `output`, or `error` where there is none, or a `score` given before."""

    output: Annotated[Any, Meta(description="What the system answered: any JSON.")] = UNSET
    error: Annotated[Any, Meta(description="Why there is no output: the run is not graded.")] = UNSET
    score: Annotated[Score | UnsetType, Meta(description="The run was graded elsewhere.")] = UNSET
    explanation: Annotated[
        str | None, Meta(description="With `score`: why it is so; given back, cut at 2,000 characters.")
    ] = None
    grades: Annotated[dict[str, Grade], Meta(description="With `output`: grader id -> a reviewer's verdict.")] = {}
    replies: Annotated[
        dict[str, dict[str, Any] | list[Any]], Meta(description="With `output`: grader id -> judge replies.")
    ] = {}


RunSent = Annotated[
    Any, Meta(description="An output, or an object with one of `output`, `error`, `score`, which is then a SentRun.")
]


class Sampling(Struct, kw_only=True, forbid_unknown_fields=True):
    """How the outputs were drawn, given back as it came; null is the platform's default."""

    temperature: Temperature = None
    top_p: Annotated[float | None, Meta(description="Not used to generate.")] = None
    top_k: Annotated[int | None, Meta(description="Not used to generate.")] = None
    seed: Annotated[int | None, Meta(description="Not used to generate.")] = None
    max_output_tokens: Tokens = None


class Version(Struct, kw_only=True, forbid_unknown_fields=True):
    """A version of the prompt: its outputs, or the prompt itself to draw them with."""

    version: Annotated[Name, Meta(description="Unique in the suite.")]
    model: Annotated[str | None, Meta(description="Whose outputs they are; given back as it came.")] = None
    sampling: Sampling | None = None
    outputs: Annotated[
        dict[str, list[RunSent]] | UnsetType, Meta(description="Case id -> one run a repeat.")
    ] = UNSET  # fmt: skip
    prompt: Annotated[
        NonEmpty | UnsetType,
        Meta(description="Instead of outputs: `{input}` becomes the case's input, all else stays as it is."),
    ] = UNSET


SHARES: frozenset[Metric] = frozenset({"score", "pass_rate"})
"""Metrics that lie between 0 and 1."""


class Condition(Struct, kw_only=True, forbid_unknown_fields=True):
    """What must hold of a version's score; nothing holds of a metric that is null."""

    metric: Metric
    operator: Operator
    value: Annotated[float, Meta(description="The bound: of score and pass_rate from 0 to 1, else a number of cases.")]


class Suite(Struct, kw_only=True, forbid_unknown_fields=True):
    """Versions x cases x repeats, the graders of every run, and when a version passes."""

    name: Annotated[str, Meta(description="For display.")] = ""
    cases: Annotated[list[SuiteCase], Meta(min_length=1, description="What every version is tried on.")]
    versions: Annotated[list[Version], Meta(min_length=1, description="What is compared.")]
    graders: Annotated[list[Rule], Meta(description="For every run; none are needed where every run has a score.")] = []
    combine: Annotated[
        Literal["mean", "all"],
        Meta(description="A run's score: the weighted mean of its graders (mean), or the least of them (all)."),
    ] = "mean"
    case_threshold: Annotated[Score, Meta(description="A case passes when the mean score of its runs reaches it.")] = (
        0.5
    )
    pass_when: Annotated[
        list[Condition],
        Meta(
            max_length=50,
            description="All must hold for a version to pass; default: no case failed and one was graded.",
        ),
    ] = []
    fail_on_not_graded: Annotated[
        bool, Meta(description="A version with a case that is missing or not graded does not pass.")
    ] = False
    baseline: Annotated[Name | None, Meta(description="Who the others are compared with; default: the first.")] = None
    alpha: Annotated[float, Meta(ge=1e-12, lt=1, description="Significant is a p of at most this.")] = 0.05
    repeat: Annotated[int, Meta(ge=1, description="Runs of a `prompt` on a case; of `outputs` all are taken.")] = 1
    generate: Annotated[Generate | None, Meta(description="Who runs the prompts, and how.")] = None
    vectors: Annotated[dict[str, list[float]], Meta(description="Embeddings of your own, by text.")] = {}
    deadline_ms: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="What is not done by then is not graded.")
    ] = None
    echo: Annotated[Literal["cut", "full"], Meta(description="cut: texts in results end at 2,000 characters.")] = "cut"
