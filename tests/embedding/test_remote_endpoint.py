import msgspec
import pytest

from service.embedding.remote_endpoint import Endpoint

KEY = "sk-not-to-be-seen"
BAD = {
    "no scheme": {"url": "127.0.0.1:80/v1"},
    "another scheme": {"url": "file:///v1"},
    "no host": {"url": "http:///v1"},
    "no URL": {"url": "http://[::1/v1"},
    "a password": {"url": f"http://me:{KEY}@127.0.0.1/v1"},
    "a query": {"url": f"http://127.0.0.1/v1?key={KEY}"},
    "no port": {"url": "http://a:99999/v1"},
    "port 0": {"url": "http://a:0/v1"},
    "no address of four bytes": {"url": "http://1.2.3.999/v1"},
    "a line break": {"url": "http://a/v\n1"},
    "another scheme of the proxy": {"url": "http://a/v1", "proxy": f"socks5://me:{KEY}@a"},
    "no host of the proxy": {"url": "http://a/v1", "proxy": f"http://me:{KEY}@"},
    "no port of the proxy": {"url": "http://a/v1", "proxy": f"http://me:{KEY}@a:99999"},
    "a query of the proxy": {"url": "http://a/v1", "proxy": f"http://a/?key={KEY}"},
    "no URL of the proxy": {"url": "http://a/v1", "proxy": f"http://me:{KEY}@[::1"},
    "a line break in the key": {"url": "http://a/v1", "key": KEY + "\n"},
    "an accent in the key": {"url": "http://a/v1", "key": KEY + "é"},
    "an empty key": {"url": "http://a/v1", "key": ""},
}


@pytest.mark.parametrize("settings", BAD.values(), ids=BAD)
def test_settings_that_cannot_work_are_refused_without_the_key(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="embedding server") as caught:
        msgspec.convert(settings, Endpoint)
    assert KEY not in str(caught.value)
