import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.judging import Reply
from service.core.ports import Account
from service.judge.budget import Budgets, Request
from service.judge.endpoint import travelling
from service.judge.faults import JudgeFault, OverBudget
from service.judge.kept import REPLY_CHARACTERS, Kept
from service.judge.statuses import fault_of, is_filtered
from service.judge.wires.anthropic import Anthropic
from service.judge.wires.moderation import Moderation
from service.judge.wires.openai import OpenAI
from service.judge.wires.scorer import Scorer
from tests.judge.test_vendor_types import settings


@given(st.integers(100, 999), st.dictionaries(st.sampled_from(["retry-after", "content-type"]), st.text()), st.binary())
def test_every_status_is_an_answer_or_a_fault(status: int, headers: dict[str, str], body: bytes) -> None:
    fault = fault_of(status, headers, body)
    assert fault is not None or 200 <= status < 300
    assert not is_filtered(status, body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYS = [
    "choices",
    "message",
    "content",
    "tool_calls",
    "function",
    "arguments",
    "usage",
    "prompt_tokens",
    "error",
    "text",
]
MORE = ["results", "finish_reason", "stop_reason", "refusal", "model", "type", "input", "input_tokens"]
shapes = st.recursive(
    json_values | st.sampled_from(["tool_use", "text", "length", '{"choice": "A"}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS + MORE), inner, max_size=5),
    max_leaves=30,
)
WIRES = [OpenAI(settings("openai")), Anthropic(settings("anthropic")), Moderation(settings("openai")), Scorer()]


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: type(wire).__name__)
@given(shape=shapes, form=st.sampled_from(["structured", "tool", "text"]))
def test_every_answer_is_a_reply_or_a_fault(wire: OpenAI, shape: object, form: str) -> None:
    try:
        reply = wire.reply(json.dumps(shape).encode(), form)  # type: ignore[arg-type]
    except JudgeFault:
        return
    assert isinstance(reply, Reply)
    assert reply.text is None or isinstance(reply.text, str)
    assert reply.fields is None or isinstance(reply.fields, dict)
    assert reply.input_tokens >= 0
    assert reply.output_tokens >= 0


def test_only_some_headers_travel() -> None:
    trace = {"traceparent": "00-a-b-01", "X-Request-Id": "r", "Authorization": "x", "tracestate": "a\r\nb: c"}
    assert travelling(trace) == {"traceparent": "00-a-b-01", "X-Request-Id": "r"}


def test_few_replies_are_kept_and_none_that_is_long_or_cut() -> None:
    kept, reply = Kept(2), Reply(text="a")
    for digest in (b"1", b"2"):
        kept.put(digest, reply)
    assert kept.get(b"1") is reply
    kept.put(b"3", reply)
    kept.put(b"4", Reply(text="x" * REPLY_CHARACTERS))
    kept.put(b"5", Reply(text="a", stop="truncated"))
    assert [kept.get(digest) for digest in (b"1", b"2", b"3", b"4", b"5")] == [reply, None, reply, None, None]
    none = Kept(0)
    none.put(b"1", reply)
    assert len(none) == 0


def test_an_account_is_spent_together_until_nobody_holds_it() -> None:
    budgets = Budgets(2, None)
    for _ in range(100):
        account = Account()
        budgets.take_call(Request.of(1.0, {}, account))
        budgets.take_call(Request.of(9.0, {"x-request-id": "other"}, account))
        with pytest.raises(OverBudget):
            budgets.take_call(Request.of(9.0, {}, account))
    assert len(budgets) == 1
