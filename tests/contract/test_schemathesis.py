"""The description and the service, held against each other by generated requests.

Every check of schemathesis is on. Excluded, each for its reason:

- whole floats where the description says integer: JSON Schema calls 1.0 an integer, the decoder does not. They are sent
  as the integers they are.
- texts that are no JSONPath: /v1/paths refuses them with 422, which JSON Schema cannot say. `$` is sent in their place;
  tests/api/test_http.py has paths that are refused.
- names that must be unique or must exist (item and evaluator ids, keys of `grades` and `replies`): JSON Schema has no word
  for that, so generated bodies drop them; tests/engine/test_batches.py covers them by hand.
- the body `null` for /v1/evaluations/validate: schemathesis takes it for no body at all, which must be refused; it is JSON,
  and so its answer is 200 with `valid: false`.
- bounds that are settings (deadline, sizes): published at /v1/limits and not in the schema, so `deadline_ms` is left out.
- `dimensions`, which depend on the model; tests/api/test_embeddings.py has them.
- vectors of unequal lengths, which JSON Schema cannot forbid: they are cut to the shortest.
- what has to fit together in suites and prompt metrics (outputs and the ids of cases, versions and their names, metrics
  and their bounds, embeddings and responses, judges that there are, rules that compile): a body that the schema takes is made to fit; tests/suites and
  tests/stability have those that do not.
"""

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case

from service.api.document import document
from service.engine.suites.wire import SHARES
from service.primitives import RuleFault
from service.primitives.jsonpath import DIALECTS, compile_path
from tests.serving import Served

EXAMPLES = 500
FEWER = 150
"""Of large bodies, which take longer to make."""
UNSPEAKABLE = ("id", "grades", "replies", "deadline_ms", "dimensions")


schema = schemathesis.openapi.from_dict(document())


def _sendable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sendable(one) for key, one in value.items() if key not in UNSPEAKABLE}
    if isinstance(value, list):
        return [_sendable(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _with_a_path(body: Any) -> Any:
    if isinstance(body, dict) and isinstance(body.get("path"), str) and body.get("dialect") in (None, *DIALECTS):
        try:
            compile_path(body["path"], body.get("dialect") or "jayway").select(body.get("document"))
        except RuleFault:
            return body | {"path": "$"}
    return body


def _with_equal_lengths(body: Any) -> Any:
    rows = body.get("embeddings") if isinstance(body, dict) else None
    if isinstance(rows, list) and rows and all(isinstance(row, list) and row for row in rows):
        return body | {"embeddings": [row[: min(map(len, rows))] for row in rows]}
    return body


def _fitting_suite(body: dict[str, Any]) -> dict[str, Any]:
    versions = [_fitting_version(one, f"v{place}") for place, one in enumerate(body["versions"])]
    graders = [*body.get("graders", []), {"type": "exact_match"}]
    cases = [{key: one for key, one in case.items() if key != "graders"} for case in body["cases"]]
    conditions = [one | {"value": 1} if one["metric"] in SHARES else one for one in body.get("pass_when", [])]
    fitting = {"versions": versions, "graders": graders, "cases": cases, "baseline": None, "generate": None}
    return body | fitting | {"pass_when": conditions}


def _fitting_version(version: dict[str, Any], name: str) -> dict[str, Any]:
    rest = {key: one for key, one in version.items() if key != "prompt"}
    runs = [run for runs in version.get("outputs", {}).values() for run in runs]
    return rest | {"version": name, "outputs": {"1": [{"output": run} for run in runs]}}


def _fitting_metrics(body: dict[str, Any]) -> dict[str, Any]:
    queries = [
        query | {"responses": [*query.get("responses", []), "x"], "embeddings": None, "reference_embedding": None}
        for query in body["queries"]
    ]
    queries = [{key: one for key, one in query.items() if key != "qa_id"} for query in queries]
    return body | {"queries": queries, "constraints": [], "jq": None, "generate": None, "vectors": {}}


FITTING = {"/v1/suites": _fitting_suite, "/v1/prompt-metrics": _fitting_metrics}


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@schema.exclude(path=list(FITTING)).parametrize()
@examples(EXAMPLES)
def test_every_operation_is_as_described(case: Case, service: Served) -> None:
    case.body = _with_equal_lengths(_sendable(case.body))
    if case.path == "/v1/evaluations/validate" and case.body is None:
        return
    if case.path == "/v1/paths":
        case.body = _with_a_path(case.body)
    case.call_and_validate(base_url=service.url)


@schema.include(path=list(FITTING)).parametrize()
@examples(FEWER)
def test_what_has_to_fit_together_is_as_described(case: Case, service: Served) -> None:
    case.body = _sendable(case.body)
    if case.meta is not None and case.meta.generation.mode.is_positive:
        case.body = FITTING[case.path](case.body)
    case.call_and_validate(base_url=service.url)
