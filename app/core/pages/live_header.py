"""The part of a contest's page that open pages fetch again: state, clock and unread messages.

A thousand open pages ask for it every fifteen seconds (guarantee 6). It is made of the snapshot and the names that
are in memory, and as long as nothing has changed the reply is a 304 without a body.
"""

from __future__ import annotations

from fastapi import Request, Response

from app.core.pages.frames import Frame, frame_of
from app.core.pages.headers import PRIVATE
from app.core.pages.names import names_soon
from app.core.pages.pages import READ, page, reader_values
from app.core.pages.visitor import TheService, TheSnapshot, Visitor

YEAR = 366 * 86_400


async def live_header(request: Request, service: TheService, viewer: Visitor, snapshot: TheSnapshot) -> Response:
    """The header's moving parts as HTML, if they differ from those that the page has."""
    frame = frame_of(await names_soon(service, viewer, snapshot), viewer, snapshot, "")
    reader = reader_values(request)
    etag = f'"{frame.version}-{frame.unread(reader["read"])}-{reader["spoken"]}-{reader["zone"]}"'
    headers = {**PRIVATE, "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    shown = page("header.html", request, frame=frame)
    shown.headers.update(headers)
    return shown


def keep_read(request: Request, reply: Response, frame: Frame) -> None:
    """Let the browser remember that its reader has seen the messages that there are."""
    path = f"{request.scope.get('root_path', '')}/c/{frame.id}"
    reply.set_cookie(READ, str(frame.messages), max_age=YEAR, path=path, httponly=True, samesite="lax")
