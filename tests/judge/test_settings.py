import msgspec
import pytest

from service.judge.proxy import Proxy
from service.judge.settings import JudgeSettings
from tests.judge.conftest import KEY

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
    "no port": (GOOD | {"base_url": "http://a:99999/v1"}, "no URL"),
    "a space": (GOOD | {"base_url": "http://a b/v1"}, "no URL"),
    "a password": (GOOD | {"base_url": f"http://me:{KEY}@a/v1"}, "no password"),
    "a query": (GOOD | {"base_url": f"http://a/v1?key={KEY}"}, "no password"),
    "a line break in a header": (GOOD | {"headers": {"a": KEY + "\r\nb: c"}}, "header 'a'"),
    "another proxy": (GOOD | {"proxy": f"socks5://me:{KEY}@a"}, "proxy"),
    "no concurrency": (GOOD | {"max_concurrency": 0}, ">= 1"),
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


@pytest.mark.parametrize("more", [{"base_url": "http://1.2.3.999/v1"}, {"proxy": f"http://me:{KEY}@[::1"}])
def test_an_address_that_the_client_does_not_take(more: dict[str, str]) -> None:
    settings = msgspec.convert(GOOD | more, JudgeSettings)
    with pytest.raises(ValueError, match="no URL") as caught:
        Proxy({"default": settings}, {})
    assert KEY not in str(caught.value)


def test_a_repr_tells_no_secret() -> None:
    told = repr(JudgeSettings(kind="http", base_url="http://a", headers={"k": KEY}, proxy=f"http://me:{KEY}@a"))
    assert KEY not in told
