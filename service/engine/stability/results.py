"""What /v1/prompt-metrics answers. Nothing is rounded; what could not be measured is null, and a warning says why."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from service.core.judging import Message
from service.core.outcome import Score
from service.engine.batch import Notice, Work
from service.engine.clustering import Group, TauPoint
from service.engine.stability.wire import NoResponse, StatisticalMode
from service.primitives.clusters import Linkage

Csr = Annotated[Score | None, Meta(description="Share of the largest cluster.")]
Stability = Annotated[
    Score | None, Meta(description="1 - entropy of the clusters / ln K: depends on K, so compare at equal K.")
]
Rss = Annotated[
    Annotated[float, Meta(ge=-1, le=1)] | None, Meta(description="Mean cosine of the responses and the reference.")
]
Icr = Annotated[Score | None, Meta(description="Mean share of the constraints that a response satisfies.")]
Jq = Annotated[Score | None, Meta(description="Mean rating by the judge.")]
PairAgreement = Annotated[
    Score | None, Meta(description="Share of pairs of responses in one cluster: comparable whatever K; null at K = 1.")
]


class EntropyEstimates(Struct):
    """The entropy of meanings, in nats. `plugin` is too low for small K, which miller_madow and chao_shen correct."""

    plugin: Annotated[float, Meta(description="Of the shares as they are.")]
    miller_madow: Annotated[float, Meta(description="plugin + (clusters - 1) / 2K.")]
    coverage: Annotated[float, Meta(description="How much of all meaning the clusters are likely to be.")]
    chao_shen: Annotated[float, Meta(description="Makes up for what is not covered.")]
    posterior_mean: Annotated[
        float,
        Meta(description="Expected under a uniform prior over the clusters seen; makes up for no others, 0 for one."),
    ]


class RatingFailure(Struct):
    """Why a response has no rating; `index` is its place in `responses`."""

    index: int
    reason: str
    detail: str


class RatingPrompt(Struct):
    """A question that is left to the caller; its reply goes to the same place of `replies`."""

    index: int
    messages: list[Message]
    schema: dict[str, Any]


class JqDetail(Struct, kw_only=True):
    """The ratings one by one."""

    graded: int
    failed: Annotated[int, Meta(description="Responses that the judge was asked about and did not rate.")]
    failures: list[RatingFailure]
    scores: Annotated[list[Score | None], Meta(description="One a response.")]
    prompts: Annotated[
        list[RatingPrompt] | UnsetType, Meta(description="With judge `caller`: what is still to be asked.")
    ] = UNSET


class Interaction(Struct, kw_only=True):
    """One query in numbers. What needs vectors is null without them, icr and jq where nobody asked for them."""

    qa_id: str
    k: Annotated[int, Meta(description="Responses that were measured.")]
    failed: Annotated[int, Meta(description="Responses that there were not.")]
    stripped: Annotated[int, Meta(description="Responses that reasoning was taken out of.")]
    empty: Annotated[int, Meta(description="Blank responses; they are measured like any other.")]
    csr: Csr = None
    csr_interval: Annotated[
        tuple[float, float] | None,
        Meta(description="Clopper-Pearson, the lower tail shared by the clusters; bayesian: as for one fixed before."),
    ] = None
    stability: Stability = None
    rss: Rss = None
    n_clusters: int | None = None
    pair_agreement: PairAgreement = None
    effective_meanings: Annotated[
        float | None, Meta(description="exp(entropy): so many equally likely meanings would vary as much.")
    ] = None
    mean_pairwise_cosine: Annotated[float | None, Meta(description="Needs no tau; null at K = 1.")] = None
    entropy: EntropyEstimates | None = None
    chained: Annotated[bool | None, Meta(description="Some of a cluster are less similar than tau.")] = None
    tau_curve: Annotated[list[TauPoint] | None, Meta(description="Falling tau; null above 2,000 responses.")] = None
    clusters: Annotated[list[Group] | None, Meta(description="Places are those of `responses`.")] = None
    icr: Icr = None
    icr_all: Annotated[Score | None, Meta(description="Share of the responses that satisfy all of them.")] = None
    icr_by_constraint: Annotated[
        dict[str, Score | None] | None, Meta(description="Constraint id -> share of the responses that satisfy it.")
    ] = None
    violations: Annotated[
        dict[str, list[int]] | None,
        Meta(
            description="Constraint id -> places in `responses` of those that do not; without those that all satisfy."
        ),
    ] = None
    jq: Jq = None
    jq_detail: JqDetail | None = None
    responses: Annotated[list[str | NoResponse] | UnsetType, Meta(description="If they were generated.")] = UNSET
    warnings: list[Notice] = []


class StandardErrors(Struct, kw_only=True):
    """Of the means over the queries: deviation / root of their number; null under two queries with the number."""

    csr: float | None
    stability: float | None
    rss: float | None
    icr: float | None
    jq: float | None
    pair_agreement: float | None


class Session(Struct, kw_only=True):
    """All queries in numbers: means over the queries that have the number, each of equal weight."""

    session_id: str | None
    assistant_id: str | None
    language: str | None
    seed_prompt: str | None
    k: Annotated[int | None, Meta(description="Responses measured of each query; null where that differs.")]
    tau: float
    recommended_tau: Annotated[
        float | None, Meta(description="What suits the model that was used; null where nobody says.")
    ]
    linkage: Linkage
    model: Annotated[str | None, Meta(description="Who made the vectors; null if the request had them all.")]
    statistical_mode: StatisticalMode
    csr: Csr
    stability: Stability
    rss: Rss
    icr: Icr
    jq: Jq
    pair_agreement: PairAgreement
    standard_errors: StandardErrors
    n_queries: int
    warnings: Annotated[list[Notice], Meta(description="About the request as a whole; each query has its own.")]
    summary: Work


class PromptMetricsResult(Session, kw_only=True):
    """The answer."""

    interactions: Annotated[list[Interaction], Meta(description="In the order of the queries.")]
