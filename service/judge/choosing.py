"""The judges that the settings name."""

from collections.abc import Mapping
from typing import Any

import msgspec

from service.config import ConfigError
from service.judge.proxy import Proxy
from service.judge.settings import JudgeSettings


def judges_of(tables: Mapping[str, Mapping[str, Any]], environ: Mapping[str, str]) -> Proxy:
    """The judges of the tables [judges.NAME]; their keys are in `environ`. ConfigError names what makes no sense."""
    settings = {}
    for name, table in tables.items():
        try:
            settings[name] = msgspec.convert(table, JudgeSettings, strict=False)
        except (msgspec.ValidationError, ValueError) as exc:
            raise ConfigError(f"[judges.{name}]: {exc}") from None
    try:
        return Proxy(settings, environ)
    except ValueError as exc:
        raise ConfigError(f"[judges]: {exc}") from None
