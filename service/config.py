"""Settings: defaults, then a TOML file, then the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs

from service.primitives.fitting import Misfit, fields_of, fitted, from_text, is_table, takes_list
from service.primitives.pointer import nearest

PREFIX = "SCOREWRIGHT_"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")

Count = Annotated[int, Meta(ge=1)]


class ConfigError(ValueError):
    """A setting is unknown or has no sense; the message names it."""


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one request may ask for. Every limit in force is published at /v1/limits."""

    body_bytes: Annotated[Count, Meta(description="A body after inflating.")] = 16 * 1024 * 1024
    body_seconds: Annotated[float, Meta(gt=0, description="Time in which a body must have arrived.")] = 30.0
    body_bytes_in_flight: Annotated[Count, Meta(description="Bodies of all requests in work; past it 429.")] = (
        256 * 1024 * 1024
    )
    response_bytes: Annotated[Count, Meta(description="An answer.")] = 64 * 1024 * 1024
    items: Annotated[Count, Meta(description="Items in a request.")] = 10_000
    evaluators_per_item: Annotated[Count, Meta(description="Evaluators of one item, the request's included.")] = 100
    evaluations: Annotated[Count, Meta(description="Items x evaluators of a request.")] = 200_000
    text_chars: Annotated[Count, Meta(description="Characters of one text of an item.")] = 1_000_000
    pattern_chars: Annotated[int, Meta(ge=1, le=10_000, description="Characters of a regular expression.")] = 1_000
    path_chars: Annotated[int, Meta(ge=1, le=20_000, description="Characters of a JSONPath.")] = 2_000
    schema_bytes: Annotated[Count, Meta(description="A JSON Schema as JSON text.")] = 64 * 1024
    keywords: Annotated[Count, Meta(description="Keywords of one rule.")] = 1_000
    json_depth: Annotated[int, Meta(ge=1, le=200, description="Nesting of the body and of JSON found in texts.")] = 200
    deadline_ms: Annotated[Count, Meta(description="Deadline of a request that names none.")] = 30_000
    max_deadline_ms: Annotated[Count, Meta(description="The longest deadline a request may name.")] = 600_000
    texts: Annotated[Count, Meta(description="Distinct texts of a request that are embedded.")] = 20_000
    queue_texts: Annotated[Count, Meta(description="Texts of all requests that wait for the model; past it 429.")] = (
        40_000
    )
    judge_calls: Annotated[Count, Meta(description="Questions that one request may ask judges.")] = 5_000
    waiting_requests: Annotated[Count, Meta(description="Large requests in work or waiting; past it 429.")] = 64


class Embedding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts are embedded. None leaves it to the model's own files."""

    workers: Annotated[Count | None, Meta(description="Runs at once; default: the cores, or 8 for a server.")] = None
    threads: Annotated[Count, Meta(description="Threads of one run.")] = 1
    run_tokens: Annotated[Count, Meta(description="Tokens of one run, padding included.")] = 512
    cache_texts: Annotated[int, Meta(ge=0, description="Vectors kept; 0 keeps none.")] = 4096
    providers: Annotated[tuple[str, ...], Meta(description="onnxruntime's execution providers, in order.")] = (
        "CPUExecutionProvider",
    )
    name: Annotated[str | None, Meta(description="What the model is called.")] = None
    aliases: Annotated[tuple[str, ...], Meta(description="Other names for it.")] = ()
    model_file: Annotated[str | None, Meta(description="An .onnx file in SCOREWRIGHT_MODEL_DIR.")] = None
    max_tokens: Annotated[Count | None, Meta(description="Tokens read of a text.")] = None
    prompt: Annotated[str | None, Meta(description="A prompt's name, put before every text.")] = None
    dimensions: Annotated[Count | None, Meta(description="Numbers kept of each vector.")] = None
    tau: Annotated[
        Annotated[float, Meta(ge=-1, le=1)] | None,
        Meta(description="recommended_tau of /v1/prompt-metrics; default: 0.9 for the shipped model, else none."),
    ] = None
    connect_seconds: Annotated[float, Meta(gt=0, description="Server: time to connect.")] = 2.0
    read_seconds: Annotated[float, Meta(gt=0, description="Server: time between two parts of an answer.")] = 10.0
    total_seconds: Annotated[float, Meta(gt=0, description="Server: time for an answer, tries included.")] = 20.0
    tries: Annotated[Count, Meta(description="Server: calls before giving up.")] = 3
    texts_per_call: Annotated[Count, Meta(description="Server: texts of one call.")] = 32
    proxy: Annotated[str | None, Meta(description="Server: a proxy in front of it.")] = None


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set. `SCOREWRIGHT_LIMITS__ITEMS=5` sets `items` of the table `limits`."""

    host: Annotated[str, Meta(description="Address to bind.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port to bind; 0 takes a free one.")] = 8000
    api_keys: Annotated[tuple[str, ...], Meta(description="Bearer keys, comma-separated; none: open to all.")] = ()
    allowed_hosts: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Host headers answered, `*` for any; default: the loopback names on a loopback bind, else any."
        ),
    ] = None
    shutdown_seconds: Annotated[int, Meta(ge=1, description="How long SIGTERM waits for requests in flight.")] = 25
    log_requests: Annotated[bool, Meta(description="One JSON line a request on standard error.")] = True
    data_dir: Annotated[str, Meta(description="Where fetched models are.")] = ""
    model_dir: Annotated[
        str | None, Meta(description="A model of your own, in the hub's layout; default: the one that is fetched.")
    ] = None
    require_model: Annotated[bool, Meta(description="true: /readyz is 503 without a model.")] = False
    embedder: Annotated[
        Literal["onnx", "openai", "hashing"],
        Meta(description="onnx: a model run here; openai: a compatible server; hashing: no meaning, for tests."),
    ] = "onnx"
    embedder_url: Annotated[str | None, Meta(description="The server's address, with /v1.")] = None
    embedder_model: Annotated[str | None, Meta(description="The server's model; default: its first.")] = None
    embedder_api_key: Annotated[str | None, Meta(description="The server's key.")] = None
    embedding: Embedding = Embedding()
    judges: Annotated[
        dict[str, dict[str, Any]],
        Meta(description="Tables [judges.NAME], here or in the TOML file that SCOREWRIGHT_JUDGES names."),
    ] = {}
    limits: Limits = Limits()

    def hosts(self) -> tuple[str, ...] | None:
        """The Host headers that are answered, None for any."""
        if self.allowed_hosts is not None:
            return None if "*" in self.allowed_hosts else self.allowed_hosts
        return LOOPBACK_HOSTS if self.host in ("127.0.0.1", "localhost", "::1", "[::1]") else None


class JudgesFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of judges and of nothing else."""

    judges: dict[str, dict[str, Any]]


FILES: dict[str, type[Struct]] = {"CONFIG": Settings, "JUDGES": JudgesFile}
JUDGE_HINTS = dict.fromkeys(("judge", "judges", "default"), "a judge is a table [judges.NAME]")


def load(environ: Mapping[str, str] = os.environ, **overrides: Any) -> Settings:
    """The settings in force. ConfigError names the variable, or the key and its file, that makes no sense."""
    values = _from_file("CONFIG", environ)
    values["judges"] = values.get("judges", {}) | _from_file("JUDGES", environ).get("judges", {})
    kinds = _kinds()
    for name, text in sorted(environ.items()):
        if name.startswith(PREFIX) and name not in (f"{PREFIX}CONFIG", f"{PREFIX}JUDGES"):
            _place(values, name, text, kinds)
    given = {name: value for name, value in overrides.items() if value is not None}
    values |= {name: value_of(f"--{name}", value, kinds[name.upper()]) for name, value in given.items()}
    values.setdefault("data_dir", _data_directory(environ))
    settings = msgspec.convert(values, Settings)
    _refuse_idle_server(settings)
    return settings


def file_of_judge(name: str, environ: Mapping[str, str]) -> str | None:
    """The file whose table [judges.NAME] counts, None where there is none."""
    holding = (variable for variable in ("JUDGES", "CONFIG") if name in _from_file(variable, environ).get("judges", {}))
    return next((environ[PREFIX + variable] for variable in holding), None)


def variable_of_judge(name: str, field: str) -> str:
    """The environment variable that sets a field of a judge."""
    return f"{PREFIX}JUDGES__{name}__{field}".upper()


def value_of(name: str, given: Any, kind: Any) -> Any:
    """What stands in an environment variable, or on the command line, as a value of a type."""
    try:
        return from_text(_list(given) if takes_list(kind) else given, kind)
    except Misfit as exc:
        raise ConfigError(f"{name}: {exc}") from None


def _refuse_idle_server(settings: Settings) -> None:
    """Refuse a server that nobody would ask."""
    named = [name for name in ("embedder_url", "embedder_model", "embedder_api_key") if getattr(settings, name)]
    if named and settings.embedder != "openai":
        variable = f"{PREFIX}{named[0].upper()}"
        raise ConfigError(
            f"{variable} is set, but the embedder is {settings.embedder!r}, which asks no server: "
            f"set {PREFIX}EMBEDDER=openai too, or leave {variable} away"
        )


def _data_directory(environ: Mapping[str, str]) -> str:
    """Where programs of this user keep data (XDG base directories)."""
    shared = environ.get("XDG_DATA_HOME") or Path(environ.get("HOME") or Path.home()) / ".local" / "share"
    return str(Path(shared) / "scorewright")


def _from_file(variable: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """What stands in the file that a variable names; nothing where it names none."""
    name = environ.get(PREFIX + variable)
    if not name:
        return {}
    try:
        values = msgspec.toml.decode(Path(name).read_bytes(), type=dict[str, Any])
        fitted(values, FILES[variable], JUDGE_HINTS)
    except (OSError, msgspec.DecodeError, Misfit) as exc:
        raise ConfigError(f"{PREFIX}{variable}={name}: {exc}") from None
    return values


def _kinds() -> dict[str, Any]:
    """The type of every setting by its environment variable, without the prefix."""
    kinds: dict[str, Any] = {}
    for name, kind in fields_of(Settings).items():
        inner = fields_of(kind) if is_table(kind) else None
        own = {name: kind} if inner is None else {f"{name}__{field}": one for field, one in inner.items()}
        kinds |= {key.upper(): one for key, one in own.items() if key != "judges"}
    return kinds


def _place(values: dict[str, Any], name: str, text: str, kinds: Mapping[str, Any]) -> None:
    """Put the text of an environment variable where its name says."""
    own = name.removeprefix(PREFIX)
    *tables, key = own.lower().split("__")
    is_of_judge = len(tables) == 2 and tables[0] == "judges"
    if not is_of_judge and own not in kinds:
        hint = nearest(own, kinds) or " (README.md lists what there is)"
        raise ConfigError(f"{name}: there is no such setting, {own!r}{hint}")
    for table in tables:
        values = values.setdefault(table, {})
    values[key] = text if is_of_judge else value_of(name, text, kinds[own])


def _list(text: str) -> list[str]:
    """The elements of a list, separated by commas or written as JSON."""
    if text.lstrip().startswith("["):
        try:
            return msgspec.json.decode(text, type=list[str])
        except msgspec.MsgspecError as exc:
            raise Misfit(f'{exc}; write a, b or ["a", "b"]') from None
    return [part.strip() for part in text.split(",") if part.strip()]


def effective(settings: Settings) -> dict[str, Any]:
    """The settings as plain data, keys hidden."""
    proxy = {"proxy": None if settings.embedding.proxy is None else "set"}  # it may have a password
    tables = {"limits": structs.asdict(settings.limits), "embedding": structs.asdict(settings.embedding) | proxy}
    hidden = {
        "judges": sorted(settings.judges),
        "api_keys": f"{len(settings.api_keys)} set",
        "embedder_api_key": None if settings.embedder_api_key is None else "set",
    }
    return structs.asdict(settings) | tables | {"allowed_hosts": settings.hosts()} | hidden
