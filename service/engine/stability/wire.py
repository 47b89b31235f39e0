"""What is posted to /v1/prompt-metrics."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from service.catalogue import Rule
from service.core.evaluator import Name
from service.engine.consulting import DEFAULT
from service.engine.generating import Generate
from service.primitives.clusters import Linkage

Vector = Annotated[list[float], Meta(min_length=1)]
Context = Annotated[str | list[str] | None, Meta(description="Passages to draw on: a text or a list of texts.")]


class NoResponse(Struct, kw_only=True, forbid_unknown_fields=True):
    """Stands where a response should have been; it is left out of every measure."""

    error: Annotated[Any, Meta(description="Why there is none.")]


class StatisticalMode(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How csr is estimated from the share of the largest cluster."""

    type: Annotated[
        Literal["frequentist", "bayesian"],
        Meta(description="frequentist: the share itself; bayesian: its mean given a uniform prior."),
    ] = "frequentist"
    mc_samples: Annotated[int, Meta(ge=1, description="Taken and not used: nothing is drawn.")] = 5000
    ci_level: Annotated[float, Meta(ge=0.5, lt=1, description="How sure csr_interval is.")] = 0.95


class Objective(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a judge rates every response by, as the evaluator llm_rubric does."""

    objective: Annotated[str, Meta(description="What a response has to achieve, in plain words; not blank.")]
    judge: Annotated[Name, Meta(description="Who is asked: a configured judge, or `caller`.")] = DEFAULT


class Drawing(Generate, kw_only=True, forbid_unknown_fields=True):
    """Who writes the responses of queries that came without any, how, and how many."""

    k: Annotated[int, Meta(ge=1, le=100, description="Responses to each such query.")] = 10


class Query(Struct, kw_only=True, forbid_unknown_fields=True):
    """One query with the responses that it got."""

    qa_id: Annotated[Name | None, Meta(description="Unique in the request; default: the 1-based position.")] = None
    query: Annotated[str | None, Meta(description="What was asked.")] = None
    responses: Annotated[
        list[str | NoResponse], Meta(description="May be empty only where the request has `generate`.")
    ] = []
    ground_truth_assistant: Annotated[
        str | None, Meta(description="The reference response; a blank one is none, whatever reference_embedding says.")
    ] = None
    context: Annotated[Context, Meta(description="Instead of the request's.")] = None
    variables: Annotated[
        dict[str, Any] | None, Meta(description="Values for `{{name}}` in constraints: what is right for this query.")
    ] = None
    embeddings: Annotated[
        list[Vector | None] | None,
        Meta(description="One a response, instead of the model's; null beside an `error`. Taken as they are."),
    ] = None
    reference_embedding: Annotated[Vector | None, Meta(description="That of the reference, as long as those.")] = None
    replies: Annotated[
        list[Any] | None, Meta(description="With judge `caller`: one a response, null for none yet.")
    ] = None


class PromptMetrics(Struct, kw_only=True, forbid_unknown_fields=True):
    """Queries, each with several responses to the same prompt."""

    session_id: Annotated[str | None, Meta(description="Given back as it came.")] = None
    assistant_id: Annotated[str | None, Meta(description="Given back as it came.")] = None
    language: Annotated[str | None, Meta(description="Given back as it came.")] = None
    seed_prompt: Annotated[
        str | None, Meta(description="The prompt under test: with `generate` the system message, else given back.")
    ] = None
    context: Context = None
    tau: Annotated[
        float, Meta(ge=-1, le=1, description="Responses mean the same from this cosine on; see recommended_tau.")
    ] = 0.8
    linkage: Annotated[
        Linkage,
        Meta(description="single: near one member; average: near the mean of them; complete: near each of them."),
    ] = "single"
    statistical_mode: StatisticalMode = StatisticalMode()
    constraints: Annotated[list[Rule], Meta(description="Rules and graded scorers, no judges: ICR.")] = []
    jq: Annotated[Objective | None, Meta(description="What a judge rates responses by: JQ.")] = None
    strip_reasoning: Annotated[
        bool, Meta(description="Take <think>, <thinking>, <reasoning> and <thought> out of responses first.")
    ] = True
    generate: Annotated[Drawing | None, Meta(description="Who answers queries that came without responses.")] = None
    vectors: Annotated[
        dict[str, list[float]], Meta(description="Embeddings of your own, by text (reasoning taken out).")
    ] = {}
    deadline_ms: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="What is not done by then is null, with a warning.")
    ] = None
    queries: Annotated[list[Query], Meta(min_length=1, description="What was asked.")]
