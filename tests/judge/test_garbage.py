"""What is left in memory when a batch has been asked: nothing that waits for the collector."""

import gc
from collections import Counter

from tests.judge.conftest import Make, answers, prompt
from tests.judge.serving import JudgeServer, told


def test_calls_leave_no_cycles_behind(make: Make, server: JudgeServer) -> None:
    """Steady ones nor refused ones."""
    server.scripts["busy"] = [told({}, 429, retry_after="0")] * 5
    proxy = make(max_concurrency=4)
    answers(proxy, *[prompt(f"first {number}") for number in range(8)])
    gc.collect()
    gc.disable()
    flags = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        answers(proxy, *[prompt(f"{'busy' if number % 10 == 0 else 'then'} {number}") for number in range(50)])
        gc.collect()
        found = Counter(type(one).__module__.partition(".")[0] for one in gc.garbage)
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        gc.enable()
    assert {name: found[name] for name in ("httpx", "httpcore", "tenacity", "service") if found[name]} == {}
