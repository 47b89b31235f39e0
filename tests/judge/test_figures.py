"""What is counted and logged of judges that answer, and of those that do not."""

import logging
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.judge.complaints import QUIET, Complaints
from service.judge.faults import Down, Passing, Throttled
from service.judge.proxy import Proxy
from service.metrics import Metrics
from tests.embedding.serving import Told
from tests.judge.conftest import KEY, Make, answers, prompt, soon
from tests.judge.serving import JudgeServer, chat, nobody, told

CAUSES = {
    "unauthorized": {"script": told({}, 401)},
    "no_quota": {"script": told({"error": {"code": "insufficient_quota"}}, 429)},
    "throttled": {"script": told({}, 429, retry_after="900")},
    "server_error": {"script": told({}, 503)},
    "timeout": {"script": Told(hold=True), "timeout_s": 0.2},
    "disconnected": {"script": Told(hang_up=True)},
    "unreadable": {"script": told(b"{")},
    "refused": {"script": told({}, 413)},
    "misconfigured": {"script": told({}, 307, location="/elsewhere")},
    "unreachable": {"base_url": nobody()},
    "no_key": {"api_key_env": "ANOTHER_KEY"},
}


def published(proxy: Proxy, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    """The samples of a metric, by some of their labels."""
    metrics = Metrics()
    metrics.judging(lambda: proxy.figures)
    families = text_string_to_metric_families(metrics.exposition().decode())
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return {tuple(one.labels[label] for label in labels): one.value for one in samples}


@pytest.mark.parametrize(("cause", "how"), CAUSES.items(), ids=CAUSES)
def test_causes_are_told_apart(
    cause: str, how: dict[str, Any], make: Make, server: JudgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    settings = dict(how)
    server.scripts["odd"] = [settings.pop("script", told({}))] * 9
    proxy = make(**settings)
    (odd,) = answers(proxy, prompt("odd"))
    assert odd.reason == "judge_unavailable"
    assert published(proxy, "scorewright_judge_calls_total", "outcome", "cause") == {("judge_unavailable", cause): 1}
    warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert len(warnings) == 1
    assert "the judge default " in warnings[0]
    for said in (*warnings, odd.detail):
        assert KEY not in said
        assert "127.0.0.1" not in said


def test_a_judge_that_is_left_alone_is_told_apart(make: Make, server: JudgeServer) -> None:
    now = [0.0]
    proxy = make(lambda: now[0], max_concurrency=1)
    server.scripts["odd"] = [told({}, 500)] * 9
    for second in (0.0, 3.0):
        now[0] = second
        answers(proxy, prompt("odd"), deadline=now[0] + 60)
    answers(proxy, prompt("good"), deadline=now[0] + 60)
    calls = published(proxy, "scorewright_judge_calls_total", "outcome", "cause")
    assert calls == {("judge_unavailable", "server_error"): 1, ("judge_unavailable", "left_alone"): 2}


def test_other_outcomes_have_no_cause(make: Make, server: JudgeServer) -> None:
    server.scripts["cut"] = [told(chat({"content": "x"}, "length"))]
    proxy = make()
    answers(proxy, *map(prompt, ("good", "cut")))
    assert published(proxy, "scorewright_judge_calls_total", "outcome", "cause") == {
        ("complete", ""): 1,
        ("truncated", ""): 1,
    }


def test_prompts_that_come_too_late_are_counted(make: Make) -> None:
    proxy = make()
    answers(proxy, *map(prompt, "abc"), deadline=soon(-1))
    assert proxy.figures["default"].calls == {"deadline_exceeded": 3}
    assert proxy.figures["default"].attempts == 0


def test_tries_are_counted_by_the_time_they_took(make: Make, server: JudgeServer) -> None:
    server.scripts["odd"] = [told({}, 500)]
    proxy = make()
    answers(proxy, *map(prompt, ("good", "odd")))
    buckets = published(proxy, "scorewright_judge_call_seconds_bucket", "le")
    counts = list(buckets.values())
    assert counts == sorted(counts)
    assert [bound for (bound,) in buckets][-2:] == ["300.0", "+Inf"]
    assert (counts[-1], proxy.figures["default"].attempts) == (3, 3)
    (seconds,) = published(proxy, "scorewright_judge_call_seconds_sum").values()
    assert seconds == pytest.approx(proxy.figures["default"].seconds)


def test_a_cause_is_warned_of_once_and_again_after_a_while(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    complaints = Complaints("default", lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        complaints.tell(Down("does not accept the key", cause="unauthorized"))
        complaints.tell(Throttled("is overloaded"))
    now[0] = QUIET + 50
    complaints.tell(Passing("failed", cause="server_error"))
    complaints.tell(Throttled("is overloaded"))
    assert [record.getMessage() for record in caplog.records] == [
        "the judge default does not accept the key (unauthorized)",
        "the judge default is overloaded (throttled)",
        "the judge default failed (server_error)",
        "the judge default is overloaded (throttled; 99 times more since it was last told)",
    ]
