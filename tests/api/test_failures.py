"""What nobody foresaw is a 500 that tells the caller nothing and the log everything."""

import httpx
import pytest

from service.api.handlers import Handlers
from service.app import build
from service.config import Settings


async def test_an_unforeseen_failure_is_a_problem_like_any_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def failing(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Handlers, "_evaluated", failing)
    application = build(Settings(allowed_hosts=("*",), log_requests=False))
    transport = httpx.ASGITransport(application, raise_app_exceptions=False)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.post("/v1/evaluations", json={})
        metrics = (await client.get("/metrics")).text
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
    assert answer.json()["type"] == "urn:scorewright:problem:internal"
    assert 'scorewright_requests_total{code="500",method="POST",route="/v1/evaluations"} 1.0' in metrics
    assert "secret" in caplog.text
