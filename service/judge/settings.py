"""Where a judge is, what it is sent, and how far it is trusted."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from service.core.judging import JudgeInfo
from service.primitives.servers import HEADER_NAME, HEADER_VALUE, address_fault

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]

_VARIABLE = re.compile("[A-Z_][A-Z0-9_]*")

_SHAPE = "the service itself asks for the shape of a reply"
OWN_FIELDS = {
    "model": "set `model` of the judge",
    "messages": "the evaluators write them",
    "system": "the evaluators write it",
    "stream": "replies are read whole",
    "stream_options": "replies are read whole",
    "n": "a call has one reply, and votes are the `samples` of an evaluator",
    "response_format": _SHAPE,
    "tools": _SHAPE,
    "tool_choice": _SHAPE,
    "functions": _SHAPE,
    "function_call": _SHAPE,
}
"""Fields of the body that are no parameters of a judge, and why."""


class JudgeSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[judges.NAME]` table. ValueError where it cannot work; neither message nor repr shows a secret."""

    kind: Literal["openai", "anthropic", "http"]
    base_url: str
    """What `/chat/completions`, `/messages` or `/moderations` follows; of kind http, the scorer's whole address."""
    model: str | None = None
    api_key_env: str | None = None
    """The environment variable that holds the key; in capitals, so that no key is taken for its name and shown."""
    max_concurrency: Count = 16
    timeout_s: Seconds = 60.0
    """How long one call may last, its answer read to the end."""
    connect_s: Seconds = 3.0
    max_calls: Count | None = None
    """Calls that one request may make, retries not counted."""
    max_tokens: Count | None = None
    """Tokens, in and out, that one request may spend on all its calls. What is under way when they are spent is let
    through. No reply is made shorter by it: for that there is `params`, such as `{"max_tokens": 1024}`.
    """
    max_reply_bytes: Count = 1024 * 1024
    headers: Mapping[str, str] = {}
    proxy: str | None = None
    """An HTTP proxy in front of the judge; those that the environment names do not count."""
    allow_generate: bool = False
    allow_templates: bool = True
    cache: bool = False
    """Whether complete replies are kept, to answer equal prompts of the same slot."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """For prompts that name none; None sends none."""
    params: Mapping[str, Any] = {}
    """More fields of the body, such as `{"max_completion_tokens": 1000}`; of kinds openai and anthropic."""
    moderation_model: str | None = None
    """The model of `/moderations`; None leaves it to the server."""

    def __post_init__(self) -> None:
        _require_address("base_url", self.base_url)
        if self.kind != "http" and not self.model:
            raise ValueError(f"a judge of kind {self.kind} needs a model")
        if self.api_key_env is not None and not _VARIABLE.fullmatch(self.api_key_env):
            raise ValueError(
                "api_key_env is the name of a variable in capitals, such as THE_KEY, and never the key itself"
            )
        if self.proxy is not None:
            _require_address("proxy", self.proxy, may_log_in=True)
        _require_parameters(self.kind, self.params)
        for name, value in self.headers.items():
            if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
                raise ValueError(f"the header {name[:40]!a} of a judge has characters no header may have")

    def __repr__(self) -> str:
        return f"JudgeSettings(kind={self.kind!r}, model={self.model!r})"

    def info(self, name: str) -> JudgeInfo:
        """What callers may know of the judge of that name."""
        return JudgeInfo(
            name=name,
            kind=self.kind,
            model=self.model,
            max_concurrency=self.max_concurrency,
            timeout_s=self.timeout_s,
            max_calls=self.max_calls,
            max_tokens=self.max_tokens,
            allow_generate=self.allow_generate,
            allow_templates=self.allow_templates,
        )

    def key(self, environ: Mapping[str, str]) -> str | None:
        """The key, white space around it dropped; None where none is meant or the variable is not set.

        ValueError where no header may hold it.
        """
        key = environ.get(self.api_key_env, "").strip() if self.api_key_env else ""
        if key and not HEADER_VALUE.fullmatch(key):
            raise ValueError(f"{self.api_key_env} has characters no header may have")
        return key or None


def _require_address(key: str, address: str, *, may_log_in: bool = False) -> None:
    if fault := address_fault(address, may_log_in=may_log_in):
        raise ValueError(f"the {key} of a judge {fault}")


def _require_parameters(kind: str, params: Mapping[str, Any]) -> None:
    if params and kind == "http":
        raise ValueError("a judge of kind http is sent no params: the rules of `external` have their own")
    if (own := next((name for name in params if name in OWN_FIELDS), None)) is not None:
        raise ValueError(f"the params of a judge cannot have {own}: {OWN_FIELDS[own]}")
    output = params.get("output_config")
    if kind == "anthropic" and isinstance(output, Mapping) and "format" in output:
        raise ValueError(f"the params of a judge cannot have output_config.format: {_SHAPE}")
