"""What an embedding server says of texts that it does not take."""

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from service.embedding.remote_endpoint import Endpoint
from service.embedding.remote_replies import RemoteFault
from service.primitives.servers import HIDDEN, Veil
from service.primitives.text import shown

REFUSING = (400, 413, 422)
"""Statuses that blame what was sent."""

_WORDS = ("message", "msg", "detail", "error")
"""Fields in which servers put their words, or a list of objects that have them; the first with words counts."""
_DEPTH = 4
_ADDRESS = r"https?://[^\s\"'<>]+|\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?"


class Refused(RemoteFault):
    """The server blames what it was sent: the text, or any text, as where it knows no such model."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"The embedding server refused the text (status {status}): {said or 'it may be too long'}")
        self.of_any = f"The embedding server refuses any text (status {status}): {said or 'see its model'}"


class Refusals:
    """Refusals of one server, in its own words but for keys and addresses."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._veil = Veil([endpoint.key or ""])
        hosts = [_host(address) for address in (endpoint.url, endpoint.proxy) if address]
        self._address = re.compile("|".join([_ADDRESS, *hosts]))

    def of(self, status: int, body: bytes) -> Refused:
        """The refusal that an answer is."""
        said = self._address.sub(HIDDEN, words(self._veil.over(body)))
        return Refused(status, shown(" ".join(said.split())))


def words(body: bytes) -> str:
    """What the JSON of an error says for people; nothing where it is no JSON or says nothing."""
    try:
        return _words(msgspec.json.decode(body), _DEPTH)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _words(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = [value.get(name) for name in _WORDS]
    if not isinstance(value, list) or not depth:
        return ""
    return next(filter(None, (_words(one, depth - 1) for one in value)), "")


def _host(address: str) -> str:
    """Finds the host of an address, with a port or without, where it is no part of a word."""
    host = re.escape(urlsplit(address).hostname or "")
    return rf"(?<!\w)\[?(?i:{host})\]?(?::\d+)?(?!\w)"
