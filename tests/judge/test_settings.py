import msgspec
import pytest

from service.judge.settings import OWN_FIELDS, JudgeSettings
from service.judge.wires.anthropic import Anthropic
from service.judge.wires.openai import OpenAI
from tests.judge.conftest import KEY, prompt

GOOD = {"kind": "openai", "base_url": "http://127.0.0.1:9000/v1", "model": "m"}
BAD = {
    "no kind": ({"base_url": "http://a"}, "kind"),
    "another kind": (GOOD | {"kind": "caller"}, "kind"),
    "no address": ({"kind": "http"}, "base_url"),
    "no model": ({"kind": "openai", "base_url": "http://a"}, "needs a model"),
    "an unknown field": (GOOD | {"retries": 3}, "retries"),
    "no scheme": (GOOD | {"base_url": "127.0.0.1/v1"}, "must begin with http"),
    "another scheme": (GOOD | {"base_url": "file:///v1"}, "must begin with http"),
    "no host": (GOOD | {"base_url": "http:///v1"}, "a host"),
    "no URL": (GOOD | {"base_url": "http://[::1/v1"}, "no URL"),
    "no port": (GOOD | {"base_url": "http://a:99999/v1"}, "base_url of a judge is no URL.*a port from 1 to 65535"),
    "port 0": (GOOD | {"base_url": "http://a:0/v1"}, "base_url of a judge is no URL.*a port from 1 to 65535"),
    "a space": (GOOD | {"base_url": "http://a b/v1"}, "no URL"),
    "no address of four bytes": (GOOD | {"base_url": "http://1.2.3.999/v1"}, "base_url of a judge is no URL"),
    "a password": (GOOD | {"base_url": f"http://me:{KEY}@a/v1"}, "no password"),
    "a query": (GOOD | {"base_url": f"http://a/v1?key={KEY}"}, "no password"),
    "a line break in a header": (GOOD | {"headers": {"a": KEY + "\r\nb: c"}}, "header 'a'"),
    "another proxy": (GOOD | {"proxy": f"socks5://me:{KEY}@a"}, "proxy of a judge must begin with http"),
    "no host of the proxy": (GOOD | {"proxy": f"http://me:{KEY}@"}, "proxy of a judge must begin with http"),
    "no port of the proxy": (GOOD | {"proxy": f"http://me:{KEY}@a:99999"}, "proxy of a judge is no URL.*a port from 1"),
    "no URL of the proxy": (GOOD | {"proxy": f"http://me:{KEY}@[::1"}, "proxy of a judge is no URL"),
    "no address of four bytes of the proxy": (
        GOOD | {"proxy": f"http://me:{KEY}@1.2.3.999"},
        "proxy of a judge is no URL",
    ),
    "a query of the proxy": (GOOD | {"proxy": f"http://me@a/?key={KEY}"}, "proxy of a judge takes no query"),
    "a space in the proxy": (GOOD | {"proxy": f"http://me:{KEY}@a b"}, "proxy of a judge is no URL"),
    "no concurrency": (GOOD | {"max_concurrency": 0}, ">= 1"),
    "parameters of what takes none": (
        {"kind": "http", "base_url": "http://a", "params": {"a": 1}},
        "no params.*`external`",
    ),
    "another shape": (
        GOOD | {"kind": "anthropic", "params": {"output_config": {"effort": "low", "format": {}}}},
        r"output_config\.format: the service",
    ),
    "no time": (GOOD | {"timeout_s": 0}, "> 0"),
}


@pytest.mark.parametrize(("table", "said"), BAD.values(), ids=BAD)
def test_settings_that_cannot_work_are_refused_without_the_key(table: dict[str, object], said: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=said) as caught:
        msgspec.convert(table, JudgeSettings)
    assert KEY not in str(caught.value)


def test_the_example_of_the_contract_is_read() -> None:
    text = """
    kind = "openai"
    base_url = "http://127.0.0.1:9000/v1"
    model = "some-model"
    api_key_env = "OPENAI_API_KEY"
    max_concurrency = 16
    timeout_s = 60
    allow_generate = false
    allow_templates = true
    """
    settings = msgspec.toml.decode(text, type=JudgeSettings)
    assert settings.info("default").model == "some-model"


KEYS = {"x": "x", " x\n": "x", "": None, " \n": None}


@pytest.mark.parametrize(("value", "key"), KEYS.items())
def test_the_key_comes_from_the_environment(value: str, key: str | None) -> None:
    settings = JudgeSettings(kind="http", base_url="http://a", api_key_env="K")
    assert settings.key({"K": value}) == key
    assert settings.key({}) is None
    assert JudgeSettings(kind="http", base_url="http://a").key({"": value}) is None


@pytest.mark.parametrize("key", [KEY + "\n" + KEY, KEY + "é"])
def test_a_key_that_no_header_may_hold_is_refused_unseen(key: str) -> None:
    with pytest.raises(ValueError, match="K has characters") as caught:
        JudgeSettings(kind="http", base_url="http://a", api_key_env="K").key({"K": key})
    assert KEY not in str(caught.value)


SENT = {
    OpenAI: ("openai", {"messages", "model", "response_format", "tools", "tool_choice"}),
    Anthropic: ("anthropic", {"messages", "model", "system", "tools", "tool_choice"}),
}
"""Fields that each client sets itself; the length and the temperature are wishes that `params` may have."""


@pytest.mark.parametrize("wire", SENT)
def test_the_fields_of_a_call_are_the_clients(wire: type[OpenAI | Anthropic]) -> None:
    kind, own = SENT[wire]
    client = wire(msgspec.convert(GOOD | {"kind": kind}, JudgeSettings))
    asked = prompt("a")
    sent = set().union(*(client.body(asked, form) for form in client.forms(asked)))
    assert sent - {"max_tokens", "output_config"} == own
    assert own <= OWN_FIELDS.keys()


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("field", OWN_FIELDS)
def test_a_parameter_of_the_client_is_refused_by_its_name(field: str, kind: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=f"params of a judge cannot have {field}: ") as caught:
        msgspec.convert(GOOD | {"kind": kind, "params": {"seed": 1, field: KEY}}, JudgeSettings)
    assert KEY not in str(caught.value)


def test_a_repr_tells_no_secret() -> None:
    told = repr(JudgeSettings(kind="http", base_url="http://a", headers={"k": KEY}, proxy=f"http://me:{KEY}@a"))
    assert KEY not in told
