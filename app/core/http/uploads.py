"""Bodies that may be large: kept in a temporary file while they stream, never in memory as a whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from anyio.to_thread import run_sync
from fastapi import Request

from app.core.errors import TooLarge
from app.core.files.temporary import UPLOAD_PREFIX, locked_folder
from app.core.heavy import LIGHT
from app.core.messages import N_

COPIED_AT_ONCE = 2**20
ZIPS = frozenset({"application/zip", "application/x-zip-compressed", "application/octet-stream"})
"""Content types of a body that is a zip archive."""


def content_type(request: Request) -> str:
    """The type of the body without its parameters, in small letters; empty where there is none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


@asynccontextmanager
async def body_file(request: Request, limit: int) -> AsyncIterator[Path]:
    """The body in a temporary file of at most `limit` bytes, gone afterwards; raises TooLarge as soon as it is more."""
    with locked_folder(UPLOAD_PREFIX) as folder:
        path = folder / "body"
        size = 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise TooLarge(N_("expected at most %(limit)s bytes, found more"), where="body", limit=limit)
                file.write(chunk)
        yield path


@asynccontextmanager
async def written(stream: IO[bytes]) -> AsyncIterator[Path]:
    """A part of a form in a temporary file of its own, gone afterwards."""
    with locked_folder(UPLOAD_PREFIX) as folder:
        path = folder / "body"
        with path.open("wb") as file:
            await run_sync(shutil.copyfileobj, stream, file, COPIED_AT_ONCE)
        yield path


@asynccontextmanager
async def body_stream(request: Request) -> AsyncIterator[IO[bytes]]:
    """The body as a stream, at its beginning, in memory only while it is small; gone afterwards."""
    with tempfile.SpooledTemporaryFile(LIGHT) as file:
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        yield file
