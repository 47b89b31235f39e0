"""Logs as JSON lines on standard error."""

import logging
import sys
from datetime import UTC, datetime
from time import time
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def write(event: str, **facts: Any) -> None:
    """Write one line: time, event and facts. The short way for what is logged at every request."""
    line = _encode({"time": _stamp(time()), "event": event, **facts})
    sys.stderr.write(line.decode() + "\n")


class JsonLines(logging.Formatter):
    """A record as one JSON object: time, level, logger, event, and the traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        line = {
            "time": _stamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _encode(line).decode()


def configure() -> None:
    """Send every log of the process to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
