"""Replies that came before."""

from collections import OrderedDict
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from service.core.judging import Prompt, Reply

REPLIES = 4096
REPLY_CHARACTERS = 4096
"""A longer reply is not kept."""


def identity(prompt: Prompt) -> bytes:
    """Equal for prompts that may share a reply: all but `key` counts. ValueError or TypeError where it is no JSON."""
    return blake2b(msgspec.json.encode(replace(prompt, key="")), digest_size=16).digest()


class Kept:
    """Complete replies of one judge by the identity of their prompts; those not used for longest give way."""

    def __init__(self, capacity: int = REPLIES) -> None:
        self._capacity = capacity
        self._replies: OrderedDict[bytes, Reply] = OrderedDict()

    def __len__(self) -> int:
        return len(self._replies)

    def get(self, digest: bytes) -> Reply | None:
        """The reply to such a prompt, if it is still here."""
        reply = self._replies.get(digest)
        if reply is not None:
            self._replies.move_to_end(digest)
        return reply

    def put(self, digest: bytes, reply: Reply) -> None:
        """Keep a reply, if it is whole and of bearable length."""
        if not self._capacity or reply.stop != "complete" or len(msgspec.json.encode(reply)) > REPLY_CHARACTERS:
            return
        self._replies[digest] = reply
        if len(self._replies) > self._capacity:
            self._replies.popitem(last=False)
