"""Bodies that may be large: kept in a temporary file while they stream, never in memory as a whole."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Request

from app.api.errors import TooLarge


@asynccontextmanager
async def body_file(request: Request, limit: int) -> AsyncIterator[Path]:
    """The body in a temporary file of at most `limit` bytes, gone afterwards; raises TooLarge as soon as it is more."""
    with tempfile.TemporaryDirectory(prefix="jurado-upload-") as folder:
        path = Path(folder) / "body"
        size = 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise TooLarge(f"body: expected at most {limit} bytes, found more")
                file.write(chunk)
        yield path
