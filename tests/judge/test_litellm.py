"""Kinds openai and anthropic against a server that others wrote and many run: litellm's proxy.

It wants an environment of its own: `pip install 'litellm[proxy]'` there, and its command in SCOREWRIGHT_TEST_LITELLM.
Some of its models are mocks of its own; `relayed` goes on to a server of these tests, through its client of OpenAI.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import httpx
import pytest

from service.core.judging import NoReply
from service.judge.proxy import Proxy
from service.judge.settings import JudgeSettings
from tests.embedding.serving import Asked, Told
from tests.judge.conftest import KEY, answers, prompt, soon
from tests.judge.serving import JudgeServer, called, chat, form_of, told
from tests.judging import results
from tests.serving import free_port

COMMAND = os.environ.get("SCOREWRIGHT_TEST_LITELLM")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="SCOREWRIGHT_TEST_LITELLM names no litellm")

VERDICT = {"choice": "A", "reasons": "It fits."}
TEXT = json.dumps(VERDICT)
TOOL = {"id": "call_1", "type": "function", "function": {"name": "reply", "arguments": TEXT}}
MOCKS: dict[str, dict[str, Any]] = {
    "says-verdict": {"mock_response": TEXT},
    "says-prose": {"mock_response": f"It fits, so: {TEXT}"},
    "calls-tool": {"mock_response": "", "mock_tool_calls": [TOOL]},
    "throttled": {"mock_response": "litellm.RateLimitError"},
    "broken": {"mock_response": "litellm.InternalServerError"},
    "too-long": {"mock_response": "litellm.ContextWindowExceededError"},
}


class Upstream(JudgeServer):
    """A judge's server that lists no models: litellm asks for them."""

    def answer(self, asked: Asked) -> Told:
        return told({}, 404) if asked.json is None else super().answer(asked)


class Running(NamedTuple):
    url: str
    upstream: Upstream


Make = Callable[..., Proxy]


@contextmanager
def listening(server: Upstream) -> Iterator[Upstream]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def litellm(folder: Path, upstream: str) -> Iterator[str]:
    """The address of a running proxy, without retries of its own."""
    relayed = {"model": "openai/relayed", "api_base": upstream}
    models = {name: {"model": "openai/mock"} | mock for name, mock in MOCKS.items()} | {"relayed": relayed}
    config = {
        "model_list": [
            {"model_name": name, "litellm_params": {"api_key": "none"} | model} for name, model in models.items()
        ],
        "litellm_settings": {"num_retries": 0},
        "general_settings": {"master_key": KEY},
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    port = free_port()
    command = [str(COMMAND), "--config", str(folder / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "log"
    with log.open("wb") as out:
        offline = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        process = subprocess.Popen(command, env=offline, stdout=out, stderr=out)
    try:
        give_up = time.monotonic() + 120
        while not is_up(f"http://127.0.0.1:{port}/health/liveliness"):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < give_up, log.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(60)


def is_up(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with listening(Upstream()) as upstream, litellm(tmp_path_factory.mktemp("litellm"), upstream.url) as url:
        yield Running(url, upstream)


@pytest.fixture
def upstream(running: Running) -> Upstream:
    """What `relayed` is relayed to, with nothing asked of it yet."""
    running.upstream.asked.clear()
    running.upstream.scripts = {}
    running.upstream.unknown_forms = set()
    return running.upstream


@pytest.fixture
def judge(running: Running) -> Iterator[Make]:
    """Makes a judge of a model."""
    made = []

    def proxy(model: str, kind: Any = "openai") -> Proxy:
        settings = JudgeSettings(kind=kind, base_url=running.url, model=model, api_key_env="THE_KEY")
        made.append(Proxy({"default": settings}, {"THE_KEY": KEY}))
        return made[-1]

    yield proxy
    for one in made:
        one.close()


@pytest.mark.parametrize("model", ["says-verdict", "calls-tool"])
def test_an_object_is_read_with_its_model_and_tokens(model: str, judge: Make) -> None:
    (reply,) = answers(judge(model), prompt("one"))
    assert (reply.fields, reply.stop, reply.model) == (VERDICT, "complete", model)
    assert (reply.input_tokens, reply.output_tokens) == (10, 20)


@pytest.mark.parametrize(("model", "reading"), [("says-verdict", "clean"), ("says-prose", "repaired")])
def test_a_rule_is_judged(model: str, reading: str, judge: Make) -> None:
    proxy = judge(model)
    items = [{"input": "q", "output": f"o{number}", "expected": "e"} for number in range(20)]
    answer = results({"items": items, "evaluators": [{"type": "factuality"}]}, judges=proxy)
    found = [item["evaluations"][0] for item in answer["results"]]
    assert {(one["status"], one["score"], one["details"]["reading"]) for one in found} == {("failed", 0.4, reading)}
    assert answer["summary"]["judge"]["default"] == {"calls": 20, "input_tokens": 200, "output_tokens": 400}


UNKNOWN_FORMS: list[tuple[set[str], list[str]]] = [
    (set(), ["structured", "structured"]),
    ({"structured"}, ["structured", "tool", "tool"]),
    ({"structured", "tool"}, ["structured", "tool", "text", "text"]),
]


@pytest.mark.parametrize(("unknown", "asked"), UNKNOWN_FORMS)
def test_the_forms_pass_through_and_one_that_is_refused_behind_it_is_left(
    unknown: set[str], asked: list[str], judge: Make, upstream: Upstream
) -> None:
    upstream.unknown_forms = unknown
    proxy = judge("relayed")
    for text in ("one", "two"):
        (reply,) = answers(proxy, prompt(text))
        assert (reply.fields or json.loads(reply.text))["choice"] == "A"
    assert [form_of(one) for one in upstream.asked] == asked


SAID = [
    (chat({"content": '{"choice"'}, "length"), "truncated"),
    (chat({"refusal": "No."}), "refused"),
    (chat({"content": None}, "content_filter"), "filtered"),
]


@pytest.mark.parametrize(("said", "stop"), SAID)
def test_how_a_reply_ended_passes_through(said: dict[str, Any], stop: str, judge: Make, upstream: Upstream) -> None:
    upstream.scripts["one"] = [told(said)]
    (reply,) = answers(judge("relayed"), prompt("one"))
    assert (reply.stop, reply.fields) == (stop, None)


def test_two_tool_calls_pass_through_and_are_no_verdict(judge: Make, upstream: Upstream) -> None:
    upstream.scripts["q"] = [told(chat(called(VERDICT, VERDICT | {"choice": "B"})))]
    body = {"items": [{"input": "q", "output": "o", "expected": "e"}], "evaluators": [{"type": "factuality"}]}
    answer = results(body, judges=judge("relayed"))
    assert answer["results"][0]["evaluations"][0]["reason"] == "judge_ambiguous"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failure_behind_it_is_tried_again(status: int, judge: Make, upstream: Upstream) -> None:
    upstream.scripts["one"] = [told({}, status)]
    (reply,) = answers(judge("relayed"), prompt("one"))
    assert reply.fields["choice"] == "A"
    assert len(upstream.asked) == 2


FAILING = [
    ("throttled", "is overloaded (status 429)"),
    ("broken", "failed (status 500)"),
    ("too-long", "refused the call (status 400)"),
    ("no-such-model", "refused the call (status 400)"),
]


@pytest.mark.parametrize(("model", "said"), FAILING)
def test_failures(model: str, said: str, judge: Make) -> None:
    (reply,) = answers(judge(model), prompt("one"), deadline=soon(5))
    assert isinstance(reply, NoReply)
    assert reply.reason in ("judge_unavailable", "deadline_exceeded")
    assert said in reply.detail


def test_its_messages_as_anthropic_speaks_them(judge: Make) -> None:
    (reply,) = answers(judge("says-verdict", "anthropic"), prompt("one"))
    assert (reply.fields, reply.stop, reply.model) == (VERDICT, "complete", "says-verdict")
    assert reply.input_tokens
    assert reply.output_tokens
