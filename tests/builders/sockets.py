"""Serves the API of a test over real sockets, with the connections of `jurado serve`, and opens WebSockets to it."""

from __future__ import annotations

import json
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import uvicorn
from websockets.sync.client import ClientConnection, connect

from app.operations.commands.running import LONGEST_MESSAGE, bounded_connections
from tests.builders.service import PASSWORD, Api

SECONDS = 30.0


@contextmanager
def listening(api: Api, *, small_buffers: bool = False, **options: Any) -> Iterator[str]:
    """Serve the app, in its own event loop, with options of uvicorn; yields the host and the port.

    `small_buffers`: the system keeps few bytes for a client that reads nothing.
    """
    http, websocket = bounded_connections(api.service.settings)
    config = uvicorn.Config(
        api.app, http=http, ws=websocket, ws_max_size=LONGEST_MESSAGE, lifespan="off", log_config=None, **options
    )
    server, began = uvicorn.Server(config), Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if small_buffers:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # connections inherit it

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


def authorization(user: str) -> dict[str, str]:
    """The header of one of the people."""
    return {"Authorization": "Basic " + b64encode(f"{user}:{PASSWORD}".encode()).decode()}


def live(place: str, game: str, query: str = "", user: str | None = "team", **more: str) -> ClientConnection:
    """Open a game's WebSocket."""
    headers = {**({} if user is None else authorization(user)), **more}
    return connect(
        f"ws://{place}/api/games/{game}/live{query}",
        additional_headers=headers,
        compression=None,
        open_timeout=SECONDS,
        ping_interval=None,
    )


def receive(socket: ClientConnection) -> Any:
    """The next message."""
    return json.loads(socket.recv(timeout=SECONDS))


def ask(socket: ClientConnection, message: object) -> Any:
    """Send a message and give the next one that comes."""
    socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    return receive(socket)
