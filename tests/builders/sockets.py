"""Serves the API of a test over real sockets, with the connections of `jurado serve`."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import uvicorn

from app.operations.commands.running import bounded_connections
from tests.builders.service import Api

SECONDS = 30.0


@contextmanager
def listening(api: Api) -> Iterator[str]:
    """Serve the app, in its own event loop; yields the host and the port."""
    http = bounded_connections(api.service.settings)
    config = uvicorn.Config(api.app, http=http, ws="none", lifespan="off", log_config=None)
    server, began = uvicorn.Server(config), Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        async def serve() -> None:
            began.set()
            await server.serve([listener])

        serving = api.portal.start_task_soon(serve)
        began.wait(SECONDS)
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            api.portal.call(api.app.state.hub.stop)
            serving.result(SECONDS)
