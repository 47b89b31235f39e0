"""Suites that are refused: where, with which code, and what is said."""

from typing import Any

import pytest

from service.config import Limits
from service.core.judging import JudgeInfo
from service.judge.scripted import Scripted
from tests.suites.driving import EXACT, answer, faults, scored, suite

WRITER = JudgeInfo(name="writer", kind="openai", model="m", allow_generate=True)
STRICT = JudgeInfo(name="strict", kind="openai", model="m")
JUDGES = Scripted([], [WRITER, STRICT])

ONE = suite({"a": scored(1)})
CASES = ONE["cases"]
V1 = ONE["versions"][0]
ASKED = {"cases": [{"id": "a", "input": "q"}], "graders": [EXACT], "generate": {"judge": "writer"}}


def drawn(prompt: str = "Answer {input}", **more: Any) -> dict[str, Any]:
    return ASKED | {"versions": [{"version": "v1", "prompt": prompt}]} | more


def sent(*runs: Any) -> dict[str, Any]:
    return suite({"a": list(runs)}, graders=[EXACT])


RUN = "/versions/0/outputs/a/0"

REFUSED: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("nothing", {}, "/cases", "missing_field", "`cases` is required"),
    ("no versions at all", {"cases": CASES}, "/versions", "missing_field", "`versions` is required"),
    ("no case", ONE | {"cases": []}, "/cases", "too_short_or_long", "length >= 1"),
    ("no version", ONE | {"versions": []}, "/versions", "too_short_or_long", "length >= 1"),
    ("no grader", suite({"a": ["x"]}), "/graders", "no_grader", "No grader"),
    ("no grader for one", suite({"a": scored(1), "b": [{"error": 1}], "c": [None]}), "/graders", "no_grader", "case 3"),
    ("no grader for what is written", drawn(graders=[]), "/graders", "no_grader", "case 1"),
    ("a field", ONE | {"casess": []}, "/casess", "unknown_field", "did you mean 'cases'?"),
    ("output of a case", ONE | {"cases": [{"id": "a", "output": 1}]}, "/cases/0/output", "unknown_field", "no field"),
    ("field of a version", ONE | {"versions": [V1 | {"modle": "m"}]}, "/versions/0/modle", "unknown_field", "'model'"),
    ("no name", ONE | {"versions": [{"outputs": {}}]}, "/versions/0/version", "missing_field", "required"),
    ("an empty name", ONE | {"versions": [V1 | {"version": ""}]}, "/versions/0/version", "too_short_or_long", ">= 1"),
    ("a case twice", ONE | {"cases": [*CASES, *CASES]}, "/cases/1/id", "duplicate_id", "'a'"),
    ("an id that is a position", ONE | {"cases": [{"id": "2"}, {"id": "a"}, {"id": "b"}, {}, {"id": "4"}]},
     "/cases/4/id", "duplicate_id", "'4'"),
    ("a version twice", ONE | {"versions": [V1, V1]}, "/versions/1/version", "duplicate_id", "'v1'"),
    ("a grader twice", ONE | {"graders": [EXACT | {"id": "x"}, EXACT | {"id": "x"}]},
     "/graders/1/id", "duplicate_id", "'x'"),
    ("a grader of the suite and of a case", ONE | {
        "graders": [EXACT | {"id": "x"}], "cases": [{"id": "a", "graders": [EXACT | {"id": "x"}]}]},
     "/cases/0/graders/0/id", "duplicate_id", "'x'"),
    ("outputs of no case", suite({"a": []}) | {"cases": [{"id": "ab"}]}, "/versions/0/outputs/a", "unknown_id", "'a'"),
    ("outputs of nearly a case", suite({"office": []}) | {"cases": [{"id": "offices"}]},
     "/versions/0/outputs/office", "unknown_id", "did you mean 'offices'?"),
    ("outputs of a hostile name", suite({"a/b~c": []}) | {"cases": [{"id": "x"}]},
     "/versions/0/outputs/a~1b~0c", "unknown_id", "There is no case"),
    ("a baseline", ONE | {"baseline": "v11"}, "/baseline", "unknown_id", "did you mean 'v1'?"),
    ("a baseline like none", ONE | {"versions": [V1, {"version": "v2", "outputs": {}}], "baseline": "V0"},
     "/baseline", "unknown_id", "'V0': there are 'v1', 'v2'"),
    ("a type", ONE | {"graders": [{"type": "exact"}]}, "/graders/0/type", "unknown_type", "did you mean"),
    ("a metric", ONE | {"pass_when": [{"metric": "scores", "operator": "equals", "value": 1}]},
     "/pass_when/0/metric", "not_allowed", "did you mean 'score'?"),
    ("an operator", ONE | {"pass_when": [{"metric": "score", "operator": "gt", "value": 1}]},
     "/pass_when/0/operator", "not_allowed", "'greater_than'"),
    ("a bound", ONE | {"pass_when": [{"metric": "score", "operator": "equals", "value": "1"}]},
     "/pass_when/0/value", "wrong_type", "number"),
    ("a score in percent", ONE | {"pass_when": [{"metric": "score", "operator": "greater_than_or_equal", "value": 80}]},
     "/pass_when/0/value", "out_of_range", "write 0.8"),
    ("a rate under 0", ONE | {"pass_when": [
        {"metric": "failed", "operator": "equals", "value": 80}, {"metric": "pass_rate", "operator": "less_than", "value": -1}]},
     "/pass_when/1/value", "out_of_range", "`pass_rate` is a number from 0 to 1"),
    ("conditions without end", ONE | {"pass_when": [{"metric": "score", "operator": "equals", "value": 1}] * 51},
     "/pass_when", "too_short_or_long", "<= 50"),
    ("a threshold", ONE | {"case_threshold": 1.1}, "/case_threshold", "out_of_range", "<= 1"),
    ("no level", ONE | {"alpha": 0}, "/alpha", "out_of_range", ">= 1e-12"),
    ("a level that no p is over", ONE | {"alpha": 1}, "/alpha", "out_of_range", "< 1"),
    ("a way to combine", ONE | {"combine": "any"}, "/combine", "not_allowed", "'mean', 'all'"),
    ("no repeat", ONE | {"repeat": 0}, "/repeat", "out_of_range", ">= 1"),
    ("a temperature", ONE | {"versions": [V1 | {"sampling": {"temperature": 3}}]},
     "/versions/0/sampling/temperature", "out_of_range", "<= 2"),
    ("no length", ONE | {"versions": [V1 | {"sampling": {"max_output_tokens": 0}}]},
     "/versions/0/sampling/max_output_tokens", "out_of_range", ">= 1"),
    ("a deadline", ONE | {"deadline_ms": 600_001}, "/deadline_ms", "limit_exceeded", "max_deadline_ms"),
    ("a score over 1", sent({"score": 1.5}), f"{RUN}/score", "out_of_range", "from 0 to 1"),
    ("a score under 0", sent({"score": -1e-12}), f"{RUN}/score", "out_of_range", "from 0 to 1"),
    ("a score as text", sent({"score": "1"}), f"{RUN}/score", "wrong_type", "goes into `output`"),
    ("a score that is true", sent({"score": True}), f"{RUN}/score", "wrong_type", "from 0 to 1"),
    ("a score that is null", sent({"score": None}), f"{RUN}/score", "wrong_type", "from 0 to 1"),
    ("output and error", sent({"output": "x", "error": None}), RUN, "one_of", "goes into `output`"),
    ("output and score", sent({"output": "x", "score": 1}), RUN, "one_of", "Give one of"),
    ("more in a run", sent({"error": "x", "http": 429}), f"{RUN}/http", "unknown_field",
     "no 'http': its fields are output, error, score, explanation, grades, replies. An output"),
    ("nearly a field of a run", sent({"output": "x", "grade": {}}), f"{RUN}/grade", "unknown_field",
     "did you mean 'grades'? An output that"),
    ("a hostile field of a run", sent({"output": 1, "a/b~": 1}), f"{RUN}/a~1b~0", "unknown_field", "'a/b~'"),
    ("grades without an output", sent({"score": 1, "grades": {"exact_match": {"score": 1}}}), RUN, "unused", "output"),
    ("replies without an output", sent({"error": 1, "replies": {"exact_match": {}}}), RUN, "unused", "output"),
    ("why there is an error", sent({"error": 1, "explanation": "so"}), RUN, "unused", "goes with a `score`"),
    ("why an output is so", sent({"output": 1, "explanation": "so"}), RUN, "unused", "goes with a `score`"),
    ("why, in no text", sent({"score": 1, "explanation": 5}), f"{RUN}/explanation", "wrong_type", "str"),
    ("a grade over 1", sent({"output": 1, "grades": {"x": {"score": 2}}}), f"{RUN}/grades", "wrong_type", "<= 1"),
    ("grades of nobody", sent({"output": 1, "grades": {"exact": {"score": 1}}}),
     f"{RUN}/grades/exact", "unknown_id", "did you mean 'exact_match'?"),
    ("replies to nobody", sent("fine", {"output": 1, "replies": {"x/": {}}}),
     "/versions/0/outputs/a/1/replies/x~1", "unknown_id", "'x/'"),
    ("neither outputs nor prompt", ONE | {"versions": [{"version": "v"}]}, "/versions/0", "one_of", "a `prompt` to generate them"),
    ("outputs and prompt", drawn(versions=[{"version": "v", "prompt": "{input}", "outputs": {}}]),
     "/versions/0", "one_of", "either"),
    ("a prompt without a place", drawn("Answer {{input }}"), "/versions/0/prompt", "invalid_template", "{input}"),
    ("an empty prompt", drawn(""), "/versions/0/prompt", "too_short_or_long", ">= 1"),
    ("nobody to write", drawn(generate=None), "/generate", "missing_field", '"judge": "default"'),
    ("a case without input", drawn(cases=[{"id": "a"}]), "/cases/0/input", "missing_field", "needs the case's input"),
    ("the caller as writer", drawn(generate={"judge": "caller"}), "/generate/judge", "not_allowed", "send the outputs"),
    ("a judge that may not write", drawn(generate={"judge": "strict"}), "/generate/judge", "not_allowed", "allow_gen"),
    ("a judge that is not there", drawn(generate={"judge": "writr"}), "/generate/judge", "unknown_judge", "'writer'?"),
    ("a judge like no other", drawn(generate={"judge": "x"}), "/generate/judge", "unknown_judge", "writer, strict"),
    ("a judge like the caller", drawn(generate={"judge": "callr"}), "/generate/judge", "unknown_judge", "writer, "),
    ("no default judge", drawn(generate={}), "/generate/judge", "unknown_judge", "[judges.default]"),
    ("k of prompt-metrics", drawn(generate={"judge": "writer", "k": 3}), "/generate/k", "unknown_field", "'k'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "pointer", "code", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_is_refused(body: dict[str, Any], pointer: str, code: str, said: str) -> None:
    found = faults(body, judges=JUDGES)
    assert (pointer, code) in [(one[0], one[1]) for one in found]
    (detail,) = [one[2] for one in found if one[0] == pointer]
    assert said in detail


def test_no_judge_at_all_says_how_to_bring_one() -> None:
    ((_, code, detail),) = faults(drawn(), judges=Scripted([], judges=()))
    assert (code, "[judges.default]" in detail) == ("unknown_judge", True)


def test_every_fault_is_listed() -> None:
    body = {
        "cases": [{"id": "a"}, {"id": "a"}],
        "versions": [
            {"version": "v", "outputs": {"a": [{"score": 2}, {"score": 1, "x": 1, "y": 1}], "b": ["x"]}},
            {"version": "v", "outputs": {"a": ["x"]}},
        ],
        "baseline": "w",
        "deadline_ms": 10**9,
    }
    assert [(pointer, code) for pointer, code, _ in faults(body)] == [
        ("/cases/1/id", "duplicate_id"),
        ("/versions/1/version", "duplicate_id"),
        ("/baseline", "unknown_id"),
        ("/versions/0/outputs/a/0/score", "out_of_range"),
        ("/versions/0/outputs/a/1/x", "unknown_field"),
        ("/versions/0/outputs/a/1/y", "unknown_field"),
        ("/versions/0/outputs/b", "unknown_id"),
        ("/graders", "no_grader"),
        ("/deadline_ms", "limit_exceeded"),
    ]


def test_a_case_that_is_there_twice_is_named_before_the_outputs_of_the_one_that_was_meant() -> None:
    body = suite({"a": scored(1), "b": scored(1)}, {"b": scored(1)}) | {"cases": [{"id": "a"}, {"id": "a"}]}
    assert [pointer for pointer, _, _ in faults(body)] == [
        "/cases/1/id", "/versions/0/outputs/b", "/versions/1/outputs/b"]  # fmt: skip
    many = body | {"cases": [{"id": "a"}] * 150, "versions": [{"version": "v", "outputs": {"b": [{"score": 2}]}}]}
    assert len(faults(many)) == 100


def test_at_most_a_hundred_faults_are_listed() -> None:
    assert len(faults(sent(*[{"score": 2}] * 150))) == 100
    assert len(faults(suite({f"x{number}": [] for number in range(150)}) | {"cases": [{"id": "a"}]})) == 100
    assert len(faults(sent(*[{"score": 2}] * 99) | {"baseline": "w", "deadline_ms": 10**9})) == 100


LIMITED: list[tuple[str, dict[str, Any], Limits, str, str]] = [
    ("runs", sent(*"abc"), Limits(items=2), "/versions", "items"),
    ("runs of all versions", suite({"a": scored(1, 1)}, {"a": scored(1)}), Limits(items=2), "/versions", "items"),
    ("runs that are repeats", drawn(repeat=3), Limits(items=2), "/versions", "items"),
    ("versions x cases, outputs or not", suite({"a": [], "b": []}, {}), Limits(items=3), "/versions", "items"),
    ("runs of cases that there are not", suite({"b": scored(1, 1, 1)}) | {"cases": [{"id": "a"}]},
     Limits(items=2), "/versions", "items"),
    ("evaluations", suite({"a": [1, 2]}, graders=[EXACT, {"type": "valid_json"}]),
     Limits(evaluations=3), "/graders", "evaluations"),
    ("evaluations by graders of a case", suite({"a": [1, 2]}) | {"cases": [{"id": "a", "graders": [EXACT, EXACT]}]},
     Limits(evaluations=3), "/graders", "evaluations"),
    ("evaluations of repeats", drawn(repeat=4), Limits(evaluations=3), "/graders", "evaluations"),
    ("graders", sent("x") | {"graders": [EXACT] * 3}, Limits(evaluators_per_item=2), "/graders", "evaluators_per_item"),
    ("graders of a case", suite({"a": ["x"]}, graders=[EXACT]) | {"cases": [{"id": "b"}, {"id": "a", "graders": [EXACT] * 2}]},
     Limits(evaluators_per_item=2), "/cases/1/graders", "evaluators_per_item"),
    ("characters of an output", sent("x" * 101), Limits(text_chars=100), f"{RUN}", "text_chars"),
    ("characters in an output", sent({"output": {"k": ["x" * 101]}}), Limits(text_chars=100),
     f"{RUN}/output/k/0", "text_chars"),
    ("characters of a prompt", drawn("{input}" + "x" * 100), Limits(text_chars=100), "/versions/0/prompt", "text_chars"),
    ("characters of a case", ONE | {"cases": [{"id": "a", "metadata": {"m": "x" * 101}}]}, Limits(text_chars=100),
     "/cases/0/metadata/m", "text_chars"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "limits", "pointer", "name"), [row[1:] for row in LIMITED], ids=[row[0] for row in LIMITED]
)
def test_limits(body: dict[str, Any], limits: Limits, pointer: str, name: str) -> None:
    found = faults(body, limits, JUDGES)
    assert [(one[0], one[1]) for one in found] == [(pointer, "limit_exceeded")]
    assert name in found[0][2]


def test_prompts_that_grow_without_end_are_not_made() -> None:
    found = faults(drawn("{input}" * 5_000, cases=[{"id": "a", "input": "x" * 10_000}]), judges=JUDGES)
    assert [(pointer, code) for pointer, code, _ in found] == [("/versions", "limit_exceeded")]
    assert "generated_prompt_chars" in found[0][2]


@pytest.mark.parametrize(
    ("cases", "versions"),
    [(100_000, 50_000), (1, 50_000), (100_000, 1)],
    ids=["many of both", "many versions", "many cases"],
)
def test_places_are_counted_before_any_is_looked_at(cases: int, versions: int) -> None:
    """Each place would take memory: 5e9 of them fit into a body of two megabytes."""
    own = [{"version": str(number), "outputs": {}} for number in range(versions)]
    ((pointer, code, _),) = faults({"cases": [{}] * cases, "versions": own})
    assert (pointer, code) == ("/versions", "limit_exceeded")


def test_runs_are_counted_before_any_is_read() -> None:
    ((pointer, code, detail),) = faults(suite({"a": [{"score": 2}] * 100_000}))
    assert (pointer, code) == ("/versions", "limit_exceeded")
    assert "100,000" in detail


def test_what_is_just_within_the_limits_is_taken() -> None:
    limits = Limits(items=4, evaluations=8, evaluators_per_item=2, text_chars=100)
    got = answer(suite({"a": ["x" * 100, "y"]}, {"a": ["x", "y"]}, graders=[EXACT, {"type": "valid_json"}]), limits)
    assert (got["summary"]["runs"], got["summary"]["evaluations"]) == (4, 8)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_nesting_in_outputs_is_limited() -> None:
    fits = sent(deep(10))
    assert answer(fits, Limits(json_depth=20))["summary"]["runs"] == 1
    ((pointer, code, _),) = faults(sent(deep(30)), Limits(json_depth=20))
    assert (pointer, code) == ("/versions/0/outputs", "limit_exceeded")
    ((pointer, code, _),) = faults(sent({"output": deep(30)}), Limits(json_depth=20))
    assert (pointer, code) == ("/versions/0/outputs", "limit_exceeded")
