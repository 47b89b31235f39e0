"""Versions that come with a prompt: what is asked, of whom, and what becomes of the answers."""

from concurrent.futures import Future
from time import perf_counter
from typing import Any

import pytest
from msgspec.structs import replace

from service.config import Limits
from service.core.judging import JudgeInfo, NoReply, Prompt, Reply
from service.engine.consulting import Consulting
from service.engine.generating import generating, order
from service.judge.scripted import Scripted
from tests.suites.driving import EXACT, answer, faults

WRITER = JudgeInfo(name="writer", kind="openai", model="m-1", allow_generate=True)
JUDGE = JudgeInfo(name="default", kind="openai", model="m-2")


def prompts(*texts: str, **more: Any) -> dict[str, Any]:
    """Versions v1, v2 and so on, each given by its prompt, on one case."""
    return {
        "cases": [{"id": "a", "input": "Who?", "expected": "Ann"}],
        "versions": [{"version": f"v{number}", "prompt": text} for number, text in enumerate(texts, 1)],
        "graders": [EXACT],
        "generate": {"judge": "writer"},
    } | more


def writing(*lines: Any) -> Scripted:
    return Scripted(lines or (lambda _: "Ann"), [WRITER, JUDGE])


def runs_of(body: dict[str, Any], judges: Scripted, limits: Limits | None = None) -> list[dict[str, Any]]:
    return answer(body, limits or Limits(), judges)["versions"][0]["cases"][0]["runs"]  # type: ignore[no-any-return]


def said(judges: Scripted) -> list[str]:
    return [prompt.messages[-1].content for _, prompt in judges.asked]


def test_each_repeat_of_each_case_of_each_version_is_asked_apart() -> None:
    judges = writing()
    cases = [{"id": "a", "input": "Who?"}, {"input": {"n": [1, 2.0]}}, {"id": "c", "input": None}]
    got = answer(prompts("1: {input}", "2: {input}/{input}", cases=cases, repeat=2), judges=judges)
    texts = ["Who?", '{"n": [1, 2.0]}', "null"]
    assert said(judges) == [f"1: {one}" for one in texts for _ in "ab"] + [
        f"2: {one}/{one}" for one in texts for _ in "ab"
    ]
    assert len({prompt.slot for _, prompt in judges.asked}) == 12
    assert {name for name, _ in judges.asked} == {"writer"}
    assert {prompt.messages[0].role for _, prompt in judges.asked} == {"user"}
    assert [len(case["runs"]) for version in got["versions"] for case in version["cases"]] == [2] * 6
    assert got["summary"]["judge"]["writer"]["calls"] == 12


def test_the_same_prompt_twice_is_two_samples() -> None:
    got = answer(prompts("{input}", "{input}", repeat=2), judges=writing("Ann", "Bob", "Cid", "Ann"))
    outputs = [[run["output"] for run in version["cases"][0]["runs"]] for version in got["versions"]]
    assert outputs == [["Ann", "Bob"], ["Cid", "Ann"]]
    assert got["comparisons"][0]["cases"][0]["delta"] == 0


def test_hostile_names_are_never_taken_for_each_other() -> None:
    judges = writing()
    cases = [{"id": name, "input": "Who?"} for name in ("c", "b/c", "b'/'c")]
    versions = [{"version": name, "prompt": "{input}"} for name in ("a/b", "a", "a'/'b")]
    answer(prompts(cases=cases, versions=versions, repeat=2), judges=judges)
    assert len({prompt.slot for _, prompt in judges.asked}) == len(judges.asked) == 18


@pytest.mark.parametrize(
    ("prompt", "filled"),
    [
        ('Answer as {"answer": "..."}: {input}', 'Answer as {"answer": "..."}: Who?'),
        ("{{input}} {input} { input } {INPUT}", "{Who?} Who? { input } {INPUT}"),
        ("{} {0} %s $input {input}", "{} {0} %s $input Who?"),
    ],
)
def test_all_other_braces_stay(prompt: str, filled: str) -> None:
    judges = writing()
    answer(prompts(prompt), judges=judges)
    assert said(judges) == [filled]


def test_what_an_input_says_is_not_filled_in_again() -> None:
    judges = writing()
    answer(prompts("<{input}>", cases=[{"input": "{input} {{x}}", "variables": {"x": "no"}}]), judges=judges)
    assert said(judges) == ["<{input} {{x}}>"]


SAMPLED: list[tuple[str, dict[str, Any], dict[str, Any] | None, tuple[float | None, int | None]]] = [
    ("nothing said", {}, None, (0.7, None)),
    ("generate's", {"temperature": 0.2, "max_output_tokens": 9}, None, (0.2, 9)),
    ("not sent", {"temperature": None}, None, (None, None)),
    ("the version's wins", {"temperature": 0.2, "max_output_tokens": 9}, {"temperature": 1, "max_output_tokens": 5}, (1, 5)),
    ("the version's 0 wins", {"temperature": 0.2}, {"temperature": 0}, (0, None)),
    ("the version says one of two", {"max_output_tokens": 9}, {"temperature": 1, "max_output_tokens": None}, (1, 9)),
    ("what is not sent", {}, {"top_k": 3, "top_p": 0.5, "seed": 7}, (0.7, None)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("generate", "sampling", "sent"), [row[1:] for row in SAMPLED], ids=[row[0] for row in SAMPLED]
)
def test_sampling(
    generate: dict[str, Any], sampling: dict[str, Any] | None, sent: tuple[float | None, int | None]
) -> None:
    judges = writing()
    version = {"version": "v", "prompt": "{input}", "sampling": sampling}
    answer(prompts(versions=[version], generate={"judge": "writer"} | generate), judges=judges)
    ((_, prompt),) = judges.asked
    assert (prompt.temperature, prompt.max_output_tokens) == sent
    assert prompt.schema == {}


WARNED: list[tuple[str, dict[str, Any], Any, list[str]]] = [
    ("all is well", {"temperature": 0.1}, "Ann", []),
    ("no temperature", {"temperature": None}, "Ann", []),
    ("temperature 0", {"temperature": 0}, "Ann", ["temperature_zero"]),
    ("top_k", {"top_k": 1}, "Ann", ["sampling_not_sent"]),
    ("seed 0", {"seed": 0}, "Ann", ["sampling_not_sent"]),
    ("cut", {}, Reply(text="Ann", stop="truncated"), ["truncated_outputs"]),
    ("nothing came", {}, NoReply("judge_unavailable", "It is out."), ["nothing_graded", "judge_unavailable"]),
]


@pytest.mark.parametrize(("sampling", "line", "codes"), [row[1:] for row in WARNED], ids=[row[0] for row in WARNED])
def test_warnings(sampling: dict[str, Any], line: Any, codes: list[str]) -> None:
    version = {"version": "v", "prompt": "{input}", "sampling": sampling}
    got = answer(prompts(versions=[version]), judges=writing(line))["versions"][0]
    assert [one["code"] for one in got["warnings"]] == codes


OUTPUTS: list[tuple[str, Any, str]] = [
    ("a text", "Ann", "Ann"),
    ("an empty text", Reply(text=""), ""),
    ("a refusal", Reply(text="I cannot help.", stop="refused"), "I cannot help."),
    ("a cut text", Reply(text="An", stop="truncated"), "An"),
    ("an object", {"name": "Ann"}, '{"name": "Ann"}'),
]


@pytest.mark.parametrize(("line", "output"), [row[1:] for row in OUTPUTS], ids=[row[0] for row in OUTPUTS])
def test_what_is_an_output(line: Any, output: str) -> None:
    (run,) = runs_of(prompts("{input}"), writing(line))
    cut = isinstance(line, Reply) and line.stop == "truncated"
    assert (run["status"], run["output"], run["reason"]) == ("passed" if output == "Ann" else "failed", output, None)
    assert ("truncated" in run, run.get("truncated")) == (cut, True if cut else None)


UNGRADED: list[tuple[str, Any, str, str]] = [
    ("a filter", Reply(text="half", stop="filtered"), "judge_filtered", "filter"),
    ("a filter and no text", Reply(stop="filtered"), "judge_filtered", "filter"),
    ("no text", Reply(), "judge_filtered", "no text"),
    ("cut before there was a text", Reply(stop="truncated"), "judge_truncated", "cut"),
    ("nobody there", NoReply("judge_unavailable", "It is out."), "judge_unavailable", "It is out."),
    ("late", NoReply("deadline_exceeded", "It was slow."), "deadline_exceeded", "It was slow."),
]


@pytest.mark.parametrize(("line", "reason", "said"), [row[1:] for row in UNGRADED], ids=[row[0] for row in UNGRADED])
def test_what_is_none(line: Any, reason: str, said: str) -> None:
    broken, fine = runs_of(prompts("{input}", repeat=2), writing(line, "Ann"))
    assert (broken["status"], broken["score"], broken["reason"]) == ("not_graded", None, reason)
    assert said in broken["explanation"]
    assert "output" not in broken
    assert broken["evaluations"] == []
    assert (fine["status"], fine["output"]) == ("passed", "Ann")


def test_what_is_written_is_graded_by_judges_too_and_counted_together() -> None:
    def speak(prompt: Prompt) -> Any:
        if not prompt.schema:
            return Reply(text="Ann", input_tokens=10, output_tokens=1)
        return Reply(fields={"choice": "B", "reasons": "so"}, input_tokens=100, output_tokens=5)

    body = prompts("1 {input}", "2 {input}", repeat=2, graders=[{"type": "possible"}])
    judges = Scripted(speak, [WRITER, JUDGE])
    got = answer(body, judges=judges)
    assert got["summary"]["judge"] == {
        "writer": {"calls": 4, "input_tokens": 40, "output_tokens": 4},
        "default": {"calls": 2, "input_tokens": 200, "output_tokens": 10},
    }
    assert [one["passed"] for one in got["versions"]] == [True, True]


def test_the_same_judge_may_write_and_judge() -> None:
    def speak(prompt: Prompt) -> Any:
        return {"choice": "B", "reasons": "so"} if prompt.schema else "Ann"

    judges = Scripted(speak, [WRITER])
    got = answer(prompts("{input}", graders=[{"type": "possible", "judge": "writer"}]), judges=judges)
    assert got["summary"]["judge"]["writer"]["calls"] == 2


def test_writing_and_judging_share_the_limit_of_calls() -> None:
    def speak(prompt: Prompt) -> Any:
        return {"choice": "B", "reasons": "so"} if prompt.schema else "Ann"

    body = prompts("{input}", repeat=3, graders=[{"type": "possible"}])
    judges = Scripted(speak, [WRITER, JUDGE])
    runs = runs_of(body, judges, Limits(judge_calls=5))
    assert [run["reason"] for run in runs] == [None, None, "budget_exceeded"]
    assert all(run["output"] == "Ann" for run in runs)
    few = Scripted(speak, [WRITER, JUDGE])
    runs = runs_of(body, few, Limits(judge_calls=3))
    assert [(run["reason"], "output" in run) for run in runs] == [("budget_exceeded", True)] * 3
    assert len(few.asked) == 3


def test_more_writing_than_calls_is_refused_before_it_begins() -> None:
    nobody = Scripted([], [WRITER])
    told = faults(prompts("{input}", repeat=3), Limits(judge_calls=2), nobody)
    assert [(pointer, code) for pointer, code, _ in told] == [("/repeat", "limit_exceeded")]
    assert not nobody.asked


@pytest.mark.parametrize("concurrency", [None, 1, 40])
@pytest.mark.parametrize("room", [0, 1, 16, 17, 100, 300])
def test_what_is_written_comes_to_no_more_than_a_body_may_hold(room: int, concurrency: int | None) -> None:
    writer = replace(WRITER, max_concurrency=concurrency)
    judges = Scripted(lambda _: "Annabell", [writer])
    body = prompts("{input}", repeat=300, graders=[{"type": "contains", "expected": "Ann"}])
    got = answer(body, Limits(body_bytes=8 * room + 7), judges)
    runs = got["versions"][0]["cases"][0]["runs"]
    assert [run["reason"] for run in runs] == [None] * room + ["budget_exceeded"] * (300 - room)
    assert all(("output" in run) == (place < room) for place, run in enumerate(runs))
    assert all("body_bytes" in run["explanation"] for run in runs[room:])
    assert room < len(judges.asked) + (room == 300) <= room + 4 * max(16, concurrency or 0) + 1
    assert got["summary"]["judge"]["writer"]["calls"] == len(judges.asked)
    expected = [] if room == 300 else ["budget_exceeded"] + ["partly_graded"] * (room > 0)
    assert [one["code"] for one in got["versions"][0]["warnings"]] == (
        expected if room else ["nothing_graded", *expected]
    )


def test_a_text_longer_than_one_that_may_be_sent_is_none() -> None:
    broken, fine = runs_of(prompts("{input}", repeat=2), writing("x" * 41, "é" * 40), Limits(text_chars=40))
    assert (broken["status"], broken["reason"], "output" in broken) == ("not_graded", "limit_exceeded", False)
    assert "text_chars" in broken["explanation"]
    assert (fine["status"], len(fine["output"])) == ("failed", 40)


class Slow(Scripted):
    """A judge whose answers never come."""

    def ask(self, judge: str, prompts: Any, deadline: float, *rest: Any) -> Future[list[Reply | NoReply]]:
        super().ask(judge, prompts, deadline, *rest)
        self.promised = [*getattr(self, "promised", []), Future()]
        return self.promised[-1]  # type: ignore[no-any-return]


def test_whoever_goes_away_cancels_all_that_is_being_written() -> None:
    judges = Slow([], [WRITER])
    orders = [order((), str(number), None, None) for number in range(1_000)]
    steps = generating(Consulting(judges, perf_counter() + 60, 1_000, {}), WRITER, orders, Limits())
    while next(steps) is None:
        pass
    steps.close()
    assert len(judges.asked) == 64
    assert all(future.cancelled() for future in judges.promised)


def test_a_place_in_doubled_braces_is_warned_of() -> None:
    version = answer(prompts("{{input}}"), judges=writing("Ann"))["versions"][0]
    assert [one["code"] for one in version["warnings"]] == ["doubled_braces"]


class Timed(Scripted):
    """A judge that notes until when it may take."""

    def ask(self, judge: str, prompts: Any, deadline: float, *rest: Any) -> Future[list[Reply | NoReply]]:
        self.deadlines = {**getattr(self, "deadlines", {}), judge: deadline}
        return super().ask(judge, prompts, deadline, *rest)


def test_writing_leaves_time_to_grade_what_was_written() -> None:
    def speak(prompt: Prompt) -> Any:
        return {"choice": "B", "reasons": "so"} if prompt.schema else "Ann"

    judges = Timed(speak, [WRITER, JUDGE])
    began = perf_counter()
    (run,) = runs_of(prompts("{input}", graders=[{"type": "possible"}], deadline_ms=60_000), judges)
    assert run["status"] == "passed"
    assert judges.deadlines["writer"] - began == pytest.approx(48, abs=5)
    assert judges.deadlines["default"] - began == pytest.approx(60, abs=5)


def test_versions_with_outputs_beside_those_with_a_prompt() -> None:
    judges = writing("Ann", "Bob")
    sent = {"version": "v1", "outputs": {"a": ["Ann", {"score": 0}]}}
    drawn = {"version": "v2", "prompt": "{input}"}
    again = {"version": "v3", "outputs": {"a": ["Bob"]}, "model": "mine"}
    got = answer(prompts(versions=[sent, drawn, again], repeat=2), judges=judges)
    assert [len(one["cases"][0]["runs"]) for one in got["versions"]] == [2, 2, 1]
    assert [one["model"] for one in got["versions"]] == [None, "m-1", "mine"]
    assert [["output" in run for run in one["cases"][0]["runs"]] for one in got["versions"]] == [
        [False, False], [True, True], [False]]  # fmt: skip
    assert [one["cases"][0]["score"] for one in got["versions"]] == [0.5, 0.5, 0]
    assert len(judges.asked) == 2


def test_nobody_is_asked_where_no_version_has_a_prompt() -> None:
    judges = writing()
    answer(prompts(versions=[{"version": "v", "outputs": {"a": ["Ann"]}}], generate={"judge": "nobody"}), judges=judges)
    assert judges.asked == []


def test_a_long_text_is_given_in_full_and_cut_in_its_evaluations() -> None:
    (run,) = runs_of(prompts("{input}"), writing("x" * 5_000))
    assert (len(run["output"]), len(run["evaluations"][0]["actual"])) == (5_000, 2_000)
