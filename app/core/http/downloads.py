"""The types of what is no JSON: archives, feeds and files, as they are sent and as they are described.

- Replies to long work that tell how far it has come: a line of JSON at a time, the last one with the reply itself.
- Stored images and files as replies.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import copy_context
from typing import IO, Any

import anyio
import structlog
from anyio.to_thread import run_sync
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.faults import Steps
from app.core.files.file_references import StoredReference
from app.core.files.files import PIECE, FileStore
from app.core.http.errors import error_response
from app.core.messages import N_, NotFound
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
# Content of a request body that is a zip archive.
UPLOADED_ZIP = {BYTES: BINARY, ZIP: BINARY}


def type_for(request: Request, own: str, plain: str) -> str:
    """The type to send: `own`, or `plain` for a client whose Accept header names that alone."""
    return plain if request.headers.get("accept", "").partition(";")[0].strip().lower() == plain else own


def form(name: str, required: list[str], properties: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Describe a multipart form, the schema `name`, which takes no other fields; a file is of format `binary`."""
    schema = {
        "title": name,
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }
    return {"multipart/form-data": {"schema": schema}}


def file(description: str) -> dict[str, object]:
    """Describe one file of a form."""
    return {**BINARY["schema"], "description": description}


class TemporaryFileReply(StreamingResponse):
    """A temporary file to keep under a name, read in pieces; closed with the reply, also when the client leaves."""

    def __init__(self, file: IO[bytes], media_type: str, filename: str) -> None:
        size = os.fstat(file.fileno()).st_size
        named = {"Content-Disposition": f'attachment; filename="{filename}"', "Content-Length": str(size)}
        super().__init__(pieces_of(file), media_type=media_type, headers=named)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()


def stored_file(files: FileStore, sha256: str, size: int, media_type: str, headers: Mapping[str, str]) -> Response:
    """The reply with a stored file of `size` bytes: a large one is inflated while it is read, never all in memory."""
    if size <= PIECE:
        return Response(files.load(sha256), media_type=media_type, headers=dict(headers))
    sized = {**headers, "Content-Length": str(size)}
    return StreamingResponse(files.pieces(sha256), media_type=media_type, headers=sized)


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.api")
SECONDS_BETWEEN_LINES = 0.5
LINES = {"schema": {"type": "string", "description": "a step on each line, and the reply on the last one"}}
TOLD: Replies = {
    200: {
        "description": "with `Accept: application/x-ndjson`, progress and the reply in its last line",
        "content": {NDJSON: LINES, TEXT: LINES},
    }
}
# Does the work in a thread, telling of its steps, and gives the reply.
Work = Callable[[Steps], Response]


def wants_progress(request: Request) -> bool:
    """Whether the client asks for lines of progress."""
    return request.headers.get("accept", "").partition(";")[0].strip().lower() in (NDJSON, TEXT)


class ProgressReply(StreamingResponse):
    """A reply that is sent while the work is done; `undo` is closed once it has ended, also when the client goes."""

    def __init__(self, request: Request, work: Work, undo: AsyncExitStack) -> None:
        super().__init__(iter(()), media_type=type_for(request, NDJSON, TEXT), headers={"Cache-Control": "no-store"})
        self._request = request
        self._work = work
        self._undo = undo
        self._context = copy_context()  # with the actor that changes are noted for
        self._step: Mapping[str, object] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        async with self._undo:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._tell, send)
                with anyio.CancelScope(shield=True):  # what is stored is stored, whoever waits for it
                    reply = await self._done()
                tasks.cancel_scope.cancel()
            headers = {name: value for name, value in reply.headers.items() if name in ("location", "retry-after")}
            last = {"status": reply.status_code, "headers": headers, "body": json.loads(bytes(reply.body))}
            await send({"type": "http.response.body", "body": json.dumps(last).encode() + b"\n"})

    async def _tell(self, send: Send) -> None:
        """Send the newest step whenever there is another one, and not too often."""
        sent: Mapping[str, object] | None = None
        while True:
            if self._step is not sent:
                sent = self._step
                line = json.dumps(sent).encode() + b"\n"
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await anyio.sleep(SECONDS_BETWEEN_LINES)

    async def _done(self) -> Response:
        """The reply, once it is there; a refusal becomes one as everywhere."""
        try:
            return await run_sync(self._context.run, self._work, Steps(self._note))
        except Exception as error:
            handlers = self._request.app.exception_handlers
            handler = next((handlers[kind] for kind in type(error).__mro__ if kind in handlers), None)
            try:
                if handler is None:
                    raise
                refused: Response = await handler(self._request, error)
            except Exception:
                log.exception("a request failed", path=self._request.url.path)
                return error_response(500, "the server failed: its log says more")
            return refused

    def _note(self, phase: str, done: int, total: int) -> None:
        self._step = {"phase": phase, "done": done, "total": total}


def reply(files: FileStore, references: Sequence[StoredReference], file_name: str) -> Response:
    """Send one of a property's files; raises NotFound. A browser may draw it, and run nothing in it."""
    for each in references:
        if each["filename"] == file_name and "sha256" in each:
            headers = {
                "Cache-Control": "private, max-age=3600",
                "ETag": f'"{each["hash"]}"',
                "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            }
            return Response(files.load(each["sha256"]), media_type=each["mime"], headers=headers)
    raise NotFound(N_("no file %(file)r"), file=file_name)
