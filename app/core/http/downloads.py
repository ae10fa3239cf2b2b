"""The types of what is no JSON: archives, feeds and files, as they are sent and as they are described."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import IO, Any, Protocol

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.files.files import PIECE, FileStore
from app.core.growing import GrowingFile
from app.problems.queries.packing import pieces_of

ZIP = "application/zip"
NDJSON = "application/x-ndjson"
BYTES = "application/octet-stream"
TEXT = "text/plain"
BINARY = {"schema": {"type": "string", "format": "binary"}}
WORDS = {"schema": {"type": "string"}}
Replies = dict[int | str, dict[str, Any]]
ARCHIVE: Replies = {200: {"description": "A zip archive", "content": {ZIP: BINARY, BYTES: BINARY}}}
ANY_FILE: Replies = {200: {"description": "The file, with its own type", "content": {BYTES: BINARY, "*/*": BINARY}}}
OCTETS: Replies = {200: {"description": "The file", "content": {BYTES: BINARY}}}
PART: Replies = {206: {"description": "The bytes that `Range` asks for", "content": {ZIP: BINARY, BYTES: BINARY}}}
UPLOADED_ZIP = {BYTES: BINARY, ZIP: BINARY}
"""Content of a request body that is a zip archive."""


def type_for(request: Request, own: str, plain: str) -> str:
    """The type to send: `own`, or `plain` for a client whose Accept header names that alone."""
    return plain if request.headers.get("accept", "").partition(";")[0].strip().lower() == plain else own


def form(name: str, required: list[str], properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Describe a multipart form, the schema `name`, which takes no other fields; a file is of format `binary`."""
    schema = {
        "title": name,
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }
    return {"multipart/form-data": {"schema": schema}}


def file(description: str) -> dict[str, Any]:
    """Describe one file of a form."""
    return {**BINARY["schema"], "description": description}


class Closable(Protocol):
    """What holds something until it is closed."""

    def close(self) -> None:
        """Give it back."""


class ClosingReply(StreamingResponse):
    """A file to keep under a name, sent in pieces; its source is closed with the reply, also when the client leaves."""

    def __init__(
        self,
        source: Closable,
        pieces: AsyncIterator[bytes] | Iterator[bytes],
        media_type: str,
        filename: str,
        headers: Mapping[str, str],
    ) -> None:
        named = {"Content-Disposition": f'attachment; filename="{filename}"', **headers}
        super().__init__(pieces, media_type=media_type, headers=named)
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._source.close()


class TemporaryFileReply(ClosingReply):
    """A reply from an open temporary file, read in pieces."""

    def __init__(self, file: IO[bytes], media_type: str, filename: str) -> None:
        size = os.fstat(file.fileno()).st_size
        super().__init__(file, pieces_of(file), media_type, filename, {"Content-Length": str(size)})


class GrowingReply(ClosingReply):
    """A reply from a file that is sent while it is made, so that its length is not known before."""

    def __init__(self, file: GrowingFile, media_type: str, filename: str) -> None:
        super().__init__(file, file.chunks(), media_type, filename, {"Cache-Control": "no-store"})


def stored_file(files: FileStore, sha256: str, size: int, media_type: str, headers: Mapping[str, str]) -> Response:
    """The reply with a stored file of `size` bytes: a large one is inflated while it is read, never all in memory."""
    if size <= PIECE:
        return Response(files.load(sha256), media_type=media_type, headers=dict(headers))
    sized = {**headers, "Content-Length": str(size)}
    return StreamingResponse(files.pieces(sha256), media_type=media_type, headers=sized)
