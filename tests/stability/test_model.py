"""Over HTTP, with the model that is shipped: what its thresholds do."""

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from service.config import Settings
from service.embedding.choosing import embedder_of
from tests.model import require_model
from tests.stability.asking import codes

PARAPHRASES = [
    "You can request a refund within 30 days of purchase.",
    "Refunds can be requested within 30 days of buying.",
    "You may ask for a refund up to 30 days after the purchase.",
    "Within 30 days of your purchase, a refund is possible.",
    "A refund can be claimed in the first 30 days after purchase.",
]
OTHERS = ["Our office opens at nine.", "Please restart the router."]


def ask(client: httpx.Client, responses: list[str], **more: Any) -> Any:
    body = {"queries": [{"query": "q", "responses": responses}], **more}
    answer = client.post("/v1/prompt-metrics", json=body)
    assert answer.status_code == 200, answer.text
    assert "server-timing" in answer.headers
    return answer.json()


def test_paraphrases_are_one_meaning_at_080_and_several_at_090(client: httpx.Client) -> None:
    require_model()
    responses = [*PARAPHRASES, *OTHERS]
    loose, strict = (ask(client, responses, tau=tau)["interactions"][0] for tau in (0.8, 0.9))
    assert [group["members"] for group in loose["clusters"]] == [[0, 1, 2, 3, 4], [5], [6]]
    assert strict["n_clusters"] > 3
    assert strict["csr"] < loose["csr"] == pytest.approx(5 / 7)


def test_what_the_model_recommends(client: httpx.Client) -> None:
    require_model()
    session = ask(client, PARAPHRASES, tau=0.8)
    assert (session["model"], session["recommended_tau"]) == ("sentence-transformers/all-MiniLM-L6-v2", 0.9)
    one = session["interactions"][0]
    assert "tau_saturated" in codes(one)
    assert "0.9 (recommended_tau)" in next(w["detail"] for w in one["warnings"] if w["code"] == "tau_saturated")


def test_a_recommendation_can_be_set() -> None:
    settings = Settings(embedder="hashing")
    for own, tau in ((None, None), (0.85, 0.85)):
        embedder = embedder_of(_with_tau(settings, own))
        try:
            assert embedder.model.tau == tau
        finally:
            embedder.close()


def _with_tau(settings: Settings, tau: float | None) -> Settings:
    return replace(settings, embedding=replace(settings.embedding, tau=tau))


def test_equal_requests_have_equal_bytes(client: httpx.Client) -> None:
    body = {
        "queries": [{"responses": ["a", "b"], "embeddings": [[1, 0], [0.9, 0.1]]}],
        "constraints": [{"type": "valid_json"}],
    }
    one, other = (client.post("/v1/prompt-metrics", json=body).content for _ in range(2))
    assert one == other


def test_faults_have_their_places(client: httpx.Client) -> None:
    answer = client.post("/v1/prompt-metrics", json={"queries": [{"responses": []}], "tau": 0.5})
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/queries/0/responses"]
    answer = client.post("/v1/prompt-metrics", json={"queries": [], "tau": 2, "linkge": "single"})
    assert {fault["pointer"] for fault in answer.json()["errors"]} == {"/queries", "/tau", "/linkge"}
