import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.primitives.servers import HIDDEN, SECRET_LENGTH, Veil, address_fault, retry_after

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
AFTER = {
    "nothing": ("0", 0),
    "whole seconds": ("7", 7),
    "a fraction": ("0.5", 0.5),
    "a date": (format_datetime(NOW + HOUR, usegmt=True), 3600),
    "a date of no zone": (format_datetime((NOW + HOUR).replace(tzinfo=None)), 3600),
    "a date of another zone": ("Tue, 01 Dec 2026 14:00:00 +0100", 3600),
    "a date gone by": (format_datetime(NOW - HOUR, usegmt=True), 0),
    "below nothing": ("-3", 0),
    "a word": ("soon", 0),
    "no text": ("", 0),
    "no number": ("nan", 0),
    "a power": ("1e9", 0),
    "two": ("1, 2", 0),
    "other digits": ("٣", 0),
    "far too many digits": ("9" * 5000, 0),
    "a date that never was": ("Tue, 31 Feb 2026 12:00:00 GMT", 0),
}


@pytest.mark.parametrize(("header", "seconds"), AFTER.values(), ids=AFTER)
def test_retry_after(header: str, seconds: float) -> None:
    assert retry_after(header, NOW) == seconds


@given(st.text(st.characters(max_codepoint=255)))
def test_no_retry_after_is_negative_or_a_fault(header: str) -> None:
    assert retry_after(header, NOW) >= 0


GOOD = [
    "http://a",
    "HTTPS://a.example:8443/v1",
    "http://[::1]:80/v1",
    "http://127.0.0.1:65535",
    "http://a:/v1",
    "http://xn--9ca",
]


@pytest.mark.parametrize("address", GOOD)
def test_an_address_that_may_be_called(address: str) -> None:
    assert address_fault(address) is None
    assert address_fault(address, may_log_in=True) is None


BAD = {
    "no URL": ("http://[::1/v1", "no URL"),
    "nothing": ("", "must begin with http"),
    "no scheme": ("127.0.0.1:80/v1", "must begin with http"),
    "another scheme": ("socks5://a", "must begin with http"),
    "no host": ("http:///v1", "a host"),
    "no host before a port": ("http://:80/v1", "a host"),
    "port 0": ("http://a:0", "a port from 1 to 65535"),
    "a port too large": ("http://a:65536/v1", "a port from 1 to 65535"),
    "a port below 0": ("http://a:-1/v1", "a port from 1 to 65535"),
    "a word for a port": ("http://a:port/v1", "a port from 1 to 65535"),
    "two ports": ("http://a:80:80/v1", "a port from 1 to 65535"),
    "a port in other digits": ("http://a:٣/v1", "a port from 1 to 65535"),
    "a port with a space": ("http://a: 80/v1", "a port from 1 to 65535"),
    "a port of an address in brackets": ("http://[::1]:99999/v1", "a port from 1 to 65535"),
    "a letter behind brackets": ("http://[::1]a/v1", "is no URL"),
    "no address of four bytes": ("http://1.2.3.999/v1", "is no URL"),
    "a letter that no URL has": ("http://é/v1", "is no URL"),
    "a space": ("http://a b/v1", "is no URL"),
    "a space at the end": ("http://a/v1 ", "is no URL"),
    "a line break": ("http://a/v\n1", "is no URL"),
    "a query": ("http://a/v1?key=secret", "query or fragment"),
    "an empty query": ("http://a/v1?", "query or fragment"),
    "a fragment": ("http://a/#x", "query or fragment"),
    "an empty fragment": ("http://a/v1#", "query or fragment"),
    "a query and a fragment": ("http://p:1/?q=1#f", "query or fragment"),
}


@pytest.mark.parametrize(("address", "said"), BAD.values(), ids=BAD)
def test_an_address_that_cannot_be_called(address: str, said: str) -> None:
    for may_log_in in (False, True):
        assert said in (address_fault(address, may_log_in=may_log_in) or "")


@pytest.mark.parametrize("address", ["http://me:secret@a/v1", "http://me@a/v1"])
def test_what_only_a_proxy_has(address: str) -> None:
    assert (address_fault(address) or "").startswith("takes no password, query or fragment")
    assert address_fault(address, may_log_in=True) is None


@given(st.text())
def test_no_address_is_repeated_or_breaks_anything(address: str) -> None:
    fault = address_fault(f"http://me:sk-secret@{address}")
    assert "sk-secret" not in (fault or "")


@given(st.text(st.characters(max_codepoint=127)), st.booleans())
def test_an_address_without_fault_is_one_to_the_client(rest: str, may_log_in: bool) -> None:
    if address_fault(f"http://{rest}", may_log_in=may_log_in) is None:
        assert httpx.URL(f"http://{rest}").host


SPELLINGS = {
    "as it is": "sk/one+two/three",
    "with a backslash": r"sk\/one+two\/three",
    "in a text of a text": r"sk\\/one+two\\/three",
    "by codes": r"sk\u002fone\u002Btwo\/three",
    "by codes from the first sign on": r"\u0073k/one+two/thre\u0065",
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_a_secret_is_hidden_however_json_spells_it(spelled: str) -> None:
    assert Veil(["other-secret", "sk/one+two/three"]).over(f'"is {spelled}!"'.encode()) == b'"is [hidden]!"'


SECRETS = st.from_regex(rf"[!-~][ -~]{{{SECRET_LENGTH - 2},30}}[!-~]", fullmatch=True)


@given(SECRETS, st.integers(1, 3))
def test_any_secret_is_hidden_in_a_text_of_a_text(secret: str, depth: int) -> None:
    body = f"é{secret}é"
    for _ in range(depth):
        body = json.dumps(body, ensure_ascii=False)
    body = Veil([secret]).over(body.encode()).decode()
    for _ in range(depth):
        body = json.loads(body)
    assert body == f"é{HIDDEN}é"


@pytest.mark.parametrize("word", ["", "1", "x", "none", "max", "ot-a-secret"])
def test_what_may_be_a_word_is_not_hidden(word: str) -> None:
    body = b'{"error": "max 512 tokens, none left: not-a-secret"}'
    assert Veil([word]).over(body) == body


def test_looking_for_secrets_takes_no_time() -> None:
    body = b"\\" * 1_000_000 + b"s" + b"\\" * 1_000_000
    assert Veil(["sk/one+two/three", r"s\\\\\k/one+two"]).over(body) == body
