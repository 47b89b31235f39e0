"""How every peer is served: by the same server, event loop and parser as the service."""

import gc
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn


def serve(application: Any) -> None:
    """Serve on the port that the command line names; `tuned` after it sets the collector as the service does."""
    port, *options = sys.argv[1:]
    if "tuned" in options:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 50, 100)
    uvicorn.run(
        application,
        port=int(port),
        loop="uvloop",
        http="httptools",
        log_config=None,
        access_log=False,
        server_header=False,
    )


async def read_body(receive: Callable[[], Awaitable[dict[str, Any]]]) -> bytes:
    """A request's body, of any size."""
    chunks = []
    while True:
        message = await receive()
        chunks.append(message["body"])
        if not message["more_body"]:
            return b"".join(chunks)
