"""Writes what is derived from the code: docs/evaluators.md, and tables in README.md and other pages of docs/."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from service.api.tables import kind_of
from service.catalogue import EVALUATORS, Entry, entry
from service.config import Embedding
from service.core.evaluator import Evaluator, Example
from service.engine.generating import Generate
from service.engine.stability.wire import Drawing, Objective, PromptMetrics, Query, StatisticalMode
from service.engine.suites.wire import Condition, Sampling, Suite, SuiteCase, Version

ROOT = Path(__file__).parent.parent
COMMON = {field.encode_name for field in structs.fields(Evaluator)}


def readme() -> str:
    """README.md with its table of evaluators made new."""
    rows = [f"| [`{one.type}`](docs/evaluators.md#{one.type}) | {one.purpose} | {_score(one)} |" for one in entries()]
    table = "\n".join(["| type | passes when | score |", "|---|---|---|", *rows])
    return _marked("README.md", "catalogue", table)


def embeddings() -> str:
    """docs/embeddings.md with its table of settings made new."""
    properties = msgspec.json.schema_components([Embedding])[1]["Embedding"]["properties"]
    rows = [f"| `{name.upper()}` | {_default(one)} | {_cell(one['description'])} |" for name, one in properties.items()]
    table = "\n".join(["| setting (`SCOREWRIGHT_EMBEDDING__...`) | default | meaning |", "|---|---|---|", *rows])
    return _marked("docs/embeddings.md", "settings", table)


def suites() -> str:
    """docs/suites.md with its tables of fields made new."""
    return _marked("docs/suites.md", "fields", _fields(Suite, Version, Sampling, SuiteCase, Condition, Generate))


def prompt_metrics() -> str:
    """docs/prompt-metrics.md with its tables of fields made new."""
    return _marked(
        "docs/prompt-metrics.md", "fields", _fields(PromptMetrics, Query, StatisticalMode, Objective, Drawing)
    )


def _fields(*kinds: type[Struct]) -> str:
    """A table for each type of what is sent."""
    components = msgspec.json.schema_components(kinds)[1]
    return "\n\n".join(_table(components[kind.__name__]["properties"], f"{kind.__name__}: field") for kind in kinds)


def _marked(name: str, mark: str, table: str) -> str:
    """A file with what stands between two marks replaced."""
    place = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", re.DOTALL)
    return place.sub(lambda found: f"{found[1]}{table}\n{found[2]}", (ROOT / name).read_text())


def reference() -> str:
    """docs/evaluators.md."""
    common = entries()[0].parameters["properties"]
    parts = [
        "# Evaluators",
        "Made from the code by `make docs`. `GET /v1/evaluators` serves the same as JSON, with a JSON Schema each.",
        "## Parameters of every evaluator",
        _table({name: schema for name, schema in common.items() if name in COMMON}),
        *(_section(one) for one in entries()),
    ]
    return "\n\n".join(parts) + "\n"


def entries() -> list[Entry]:
    return [entry(kind) for kind in EVALUATORS]


def _section(one: Entry) -> str:
    own = {
        name: schema for name, schema in one.parameters["properties"].items() if name not in COMMON and name != "type"
    }
    examples = "\n\n".join(_example(one.type, example) for example in one.examples)
    parts = [
        f"## {one.type}",
        one.purpose,
        one.description,
        f"Score: {_score(one)}. Revision {one.revision}.",
        _table(own),
        examples,
    ]
    return "\n\n".join(part for part in parts if part)


def _score(one: Entry) -> str:
    return "0..1" if one.graded else "0 or 1"


def _table(properties: dict[str, Any], name: str = "parameter") -> str:
    if not properties:
        return ""
    rows = [
        f"| `{name}` | {_cell(kind_of(schema))} | {_cell(_default(schema))} | {_cell(schema.get('description', ''))} |"
        for name, schema in properties.items()
    ]
    return "\n".join([f"| {name} | kind | default | meaning |", "|---|---|---|---|", *rows])


def _default(schema: dict[str, Any]) -> str:
    return f"`{json.dumps(schema['default'], ensure_ascii=False)}`" if "default" in schema else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _example(kind: str, example: Example) -> str:
    rule = json.dumps({"type": kind, **example.params}, ensure_ascii=False)
    case = msgspec.json.encode(example.case).decode()
    sent = {"vectors": example.vectors, "replies": example.replies, "grade": example.grade}
    beside = "".join(f"\n{name:<6} {msgspec.json.encode(one).decode()}" for name, one in sent.items() if one)
    score = "" if example.score is None else f"\nscore  {example.score:.6g}"
    return f"```\nrule   {rule}\nitem   {case}{beside}\nstatus {example.status}{score}\n```"


if __name__ == "__main__":
    (ROOT / "README.md").write_text(readme())
    (ROOT / "docs/embeddings.md").write_text(embeddings())
    (ROOT / "docs/suites.md").write_text(suites())
    (ROOT / "docs/prompt-metrics.md").write_text(prompt_metrics())
    (ROOT / "docs/evaluators.md").write_text(reference())
