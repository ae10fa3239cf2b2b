"""The yardstick of the scoreboard: an ASGI application that only sends the bytes of a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def create_app() -> Any:
    """Build the application; BARE_PAGE names the file."""
    body = Path(os.environ["BARE_PAGE"]).read_bytes()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app
