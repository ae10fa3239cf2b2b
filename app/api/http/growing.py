"""A reply that is sent while it is made."""

from __future__ import annotations

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.services.contest_package.growing import GrowingFile


class GrowingResponse(StreamingResponse):
    """A reply from a growing file, which is taken away with it, also when the client goes before its end."""

    def __init__(self, file: GrowingFile, media_type: str, filename: str) -> None:
        super().__init__(
            file.chunks(),
            media_type=media_type,
            headers={"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"},
        )
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()
