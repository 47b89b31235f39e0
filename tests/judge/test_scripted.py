import pytest

from service.core.judging import JudgeInfo, NoReply, Reply
from service.judge.scripted import Scripted
from tests.judge.conftest import prompt

REFUSED = Reply(stop="refused")
OUT = NoReply("judge_unavailable", "out")


def test_lines_are_spoken_in_order() -> None:
    judges = Scripted([{"choice": "A"}, "Score: 0.7", REFUSED, OUT])
    first = judges.ask("default", [prompt("a"), prompt("a"), prompt("c")], 0, {}).result()
    second = judges.ask("default", [prompt("d"), prompt("e")], 0, {}).result()
    assert first == [Reply(fields={"choice": "A"}), Reply(text="Score: 0.7"), REFUSED]
    assert second == [OUT, NoReply("judge_unavailable", "The script has no more lines")]
    assert [(name, one.key) for name, one in judges.asked] == [("default", key) for key in "aacde"]
    judges.close()


def test_a_function_answers() -> None:
    judges = Scripted(lambda one: {"choice": "Y"} if one.key == "a" else None)
    yes, none = judges.ask("default", [prompt("a"), prompt("b")], 0, {}).result()
    assert yes == Reply(fields={"choice": "Y"})
    assert isinstance(none, NoReply)


def test_what_a_function_raises_is_the_outcome() -> None:
    with pytest.raises(ZeroDivisionError):
        Scripted(lambda _: str(1 // 0)).ask("default", [prompt("a")], 0, {}).result()


def test_judges_may_be_named() -> None:
    judges = Scripted(["x"], [JudgeInfo(name="own", kind="http", model=None)])
    assert list(judges.known) == ["own", "caller"]
    with pytest.raises(KeyError):
        judges.ask("default", [prompt("a")], 0, {})
