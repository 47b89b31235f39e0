"""The judges that the settings name."""

from collections.abc import Mapping
from typing import Any

from service.config import ConfigError, file_of_judge, value_of, variable_of_judge
from service.judge.proxy import Proxy
from service.judge.settings import JudgeSettings
from service.primitives.fitting import Misfit, fields_of, fitted
from service.primitives.pointer import nearest
from service.primitives.text import cut

NO_KEYS = "keys are read from the environment: api_key_env names the variable"
HINTS = dict.fromkeys(("api_key", "apikey", "key", "token"), NO_KEYS)

NAME_CHARACTERS = 256
"""As many as a rule may write."""


def judges_of(tables: Mapping[str, Mapping[str, Any]], environ: Mapping[str, str]) -> Proxy:
    """The judges of the tables [judges.NAME]; their keys are in `environ`. ConfigError names what makes no sense."""
    for name in tables:
        if not 1 <= len(name) <= NAME_CHARACTERS:
            raise ConfigError(f"[judges.{cut(name, 60)}]: a judge has a name of 1 to {NAME_CHARACTERS} characters")
    settings = {name: _settings(name, table, environ) for name, table in tables.items()}
    try:
        return Proxy(settings, environ)
    except ValueError as exc:
        raise ConfigError(f"[judges]: {exc}") from None


def _settings(name: str, table: Mapping[str, Any], environ: Mapping[str, str]) -> JudgeSettings:
    try:
        return fitted(dict(table) | _from_environment(name, table, environ), JudgeSettings, HINTS)
    except Misfit as exc:
        file = file_of_judge(name, environ)
        raise ConfigError(f"[judges.{name}]{f' in {file}' if file else ''}: {exc}") from None


def _from_environment(name: str, table: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """The fields that environment variables set, as values of their types."""
    kinds = fields_of(JudgeSettings)
    variables = {field: variable_of_judge(name, field) for field in table}
    given = {field: variable for field, variable in variables.items() if variable in environ}
    for field in given.keys() - kinds:
        raise ConfigError(f"{given[field]}: a judge has no field {field!r}{nearest(field, kinds)}")
    return {field: value_of(variable, environ[variable], kinds[field]) for field, variable in given.items()}
