"""The runs of versions that came with a prompt instead of outputs."""

from collections.abc import Mapping

from msgspec import UNSET

from service.config import Limits
from service.core.judging import JudgeInfo, Message, Prompt
from service.engine.consulting import Consulting
from service.engine.generating import Generate, Written, generating, order
from service.engine.lanes import Steps
from service.engine.suites.admission import INPUT_PLACEHOLDER
from service.engine.suites.runs import case_ids
from service.engine.suites.wire import Sampling, Suite, SuiteCase, Version
from service.primitives.jsontext import as_text


def drawn(
    suite: Suite, consulting: Consulting, known: Mapping[str, JudgeInfo], limits: Limits
) -> Steps[dict[int, list[list[Written]]]]:
    """What the judge writes for each version with a prompt, by the version's place: case by case, repeat by repeat."""
    versions = {place: one for place, one in enumerate(suite.versions) if one.prompt is not UNSET}
    if suite.generate is None or not versions:
        return {}
    orders: list[Prompt] = []
    for version in versions.values():
        for name, case in zip(case_ids(suite.cases), suite.cases, strict=True):
            orders += _orders(suite, suite.generate, version, name, case)
            yield None
    written = iter((yield from generating(consulting, known[suite.generate.judge], orders, limits)))
    return {place: [[next(written) for _ in range(suite.repeat)] for _ in suite.cases] for place in versions}


def settings_of(version: Version, generate: Generate) -> tuple[float | None, int | None]:
    """The temperature and the length that are sent: the version's own, else those of `generate`."""
    own = version.sampling or Sampling()
    temperature = generate.temperature if own.temperature is None else own.temperature
    return temperature, own.max_output_tokens or generate.max_output_tokens


def _orders(suite: Suite, generate: Generate, version: Version, name: str, case: SuiteCase) -> list[Prompt]:
    assert version.prompt is not UNSET
    message = Message("user", version.prompt.replace(INPUT_PLACEHOLDER, as_text(case.input)))
    temperature, tokens = settings_of(version, generate)
    slots = [f"{version.version!r}/{name!r}/{number}" for number in range(1, suite.repeat + 1)]
    return [order((message,), slot, temperature, tokens) for slot in slots]
