"""Clients of OpenAI's that people have already, pointed here."""

import asyncio

import httpx
import openai
import pytest
from autoevals import EmbeddingSimilarity
from autoevals import init as autoevals_init

from tests.model import require_model
from tests.serving import Served


@pytest.fixture
def url(service: Served) -> str:
    require_model()
    return f"{service.url}/v1"


def test_the_openai_package(url: str) -> None:
    with openai.OpenAI(base_url=url, api_key="none") as client:
        found = client.embeddings.create(model="default", input=["hello", "world"])
        floats = client.embeddings.create(model="default", input="hello", encoding_format="float")
        assert [len(row.embedding) for row in found.data] == [384, 384]
        assert found.data[0].embedding == pytest.approx(floats.data[0].embedding, abs=1e-8)
        assert found.usage.total_tokens == 6
        assert "default" in [model.id for model in client.models.list()]
        assert client.models.retrieve("sentence-transformers/all-MiniLM-L6-v2").owned_by == "scorewright"
        with pytest.raises(openai.NotFoundError, match="There is no model 'gpt'"):
            client.embeddings.create(model="gpt", input="hello")
        with pytest.raises(openai.UnprocessableEntityError, match="Token ids") as refused:
            client.embeddings.create(model="default", input=[[1, 2, 3]])
        assert (refused.value.param, refused.value.type) == ("input.0", "invalid_request_error")


def test_the_openai_package_asynchronously(url: str) -> None:
    async def ask() -> list[int]:
        async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
            answers = await asyncio.gather(
                *(client.embeddings.create(model="default", input=f"t{n}") for n in range(8))
            )
        return [len(one.data[0].embedding) for one in answers]

    assert asyncio.run(ask()) == [384] * 8


def test_autoevals_measures_what_the_service_does(url: str, service: Served) -> None:
    with openai.OpenAI(base_url=url, api_key="none") as client:
        autoevals_init(client)
        theirs = EmbeddingSimilarity(model="default").eval(output="a cat sat", expected="the cat is sitting").score
    body = {
        "items": [{"output": "a cat sat", "expected": "the cat is sitting"}],
        "evaluators": [{"type": "embedding_similarity"}],
    }
    ours = httpx.post(f"{url}/evaluations", json=body).json()["results"][0]["score"]
    assert ours == pytest.approx(theirs, abs=1e-6)
