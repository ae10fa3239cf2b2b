"""Replies to long work that tell how far it has come: a line of JSON at a time, the last one with the reply itself.

A client asks for them with `Accept: application/x-ndjson`. As long as work goes on, lines are
`{"phase": "storing", "done": 120, "total": 10000}`; the last is `{"status": 201, "headers": {...}, "body": {...}}`,
what the client would have got otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from contextvars import copy_context
from typing import Any

import anyio
import structlog
from anyio.to_thread import run_sync
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.core.http.downloads import NDJSON, TEXT, type_for
from app.core.http.errors import error_response
from app.core.progress import Steps

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.api")
SECONDS_BETWEEN_LINES = 0.5
LINES = {"schema": {"type": "string", "description": "a step on each line, and the reply on the last one"}}
TOLD: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "with `Accept: application/x-ndjson`, progress and the reply in its last line",
        "content": {NDJSON: LINES, TEXT: LINES},
    }
}
Work = Callable[[Steps], Response]
"""Does the work in a thread, telling of its steps, and gives the reply."""


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
