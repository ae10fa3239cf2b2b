"""HEAD wherever GET is: the same status and headers, and no body."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.http.middleware import METHOD


class Heads:
    """Asks the app as for GET and sends only what its reply begins with.

    To the app its client seems to have gone then: streams end, and what has to be tidied up still is.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        # A copy: the server looks at its own scope to know that no body comes.
        asked = {**scope, "method": "GET", METHOD: "HEAD"}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await asyncio.sleep(0)  # whoever listens for the end of the client gets a turn

        await self.app(asked, receive, send_head)
