from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.embedding.remote_calls import retry_after
from service.embedding.remote_endpoint import Endpoint

KEY = "sk-not-to-be-seen"
BAD = {
    "no scheme": {"url": "127.0.0.1:80/v1"},
    "another scheme": {"url": "file:///v1"},
    "no host": {"url": "http:///v1"},
    "no URL": {"url": "http://[::1/v1"},
    "a password": {"url": f"http://me:{KEY}@127.0.0.1/v1"},
    "a query": {"url": f"http://127.0.0.1/v1?key={KEY}"},
    "a line break in the key": {"url": "http://a/v1", "key": KEY + "\n"},
    "an accent in the key": {"url": "http://a/v1", "key": KEY + "é"},
    "an empty key": {"url": "http://a/v1", "key": ""},
    "a line break in a header": {"url": "http://a/v1", "headers": {"a": KEY + "\r\nb: c"}},
    "a space in a header's name": {"url": "http://a/v1", "headers": {"a b": "c"}},
}


@pytest.mark.parametrize("settings", BAD.values(), ids=BAD)
def test_settings_that_cannot_work_are_refused_without_the_key(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="embedding server") as caught:
        msgspec.convert(settings, Endpoint)
    assert KEY not in str(caught.value)


def test_retry_after_may_be_a_date() -> None:
    now = datetime.now(UTC)
    assert 3500 < retry_after(format_datetime(now + timedelta(hours=1), usegmt=True)) <= 3600
    assert retry_after(format_datetime(now - timedelta(hours=1), usegmt=True)) == 0
    assert retry_after(format_datetime((now + timedelta(hours=1)).replace(tzinfo=None))) > 3500


@given(st.text(st.characters(max_codepoint=255)))
def test_no_retry_after_is_negative_or_a_fault(header: str) -> None:
    assert retry_after(header) >= 0
