"""Unknown addresses: a page for people, the API's document for programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from app.core.errors import NotFound
from app.core.messages import N_
from app.core.pages.visitor import or_refusal

Handler = Callable[[Request, Exception], Awaitable[Response]]


def pages_for_people(handler: Handler) -> Handler:
    """A handler of HTTP errors that shows browsers a page for an unknown address outside of the API."""

    async def reply(request: Request, error: Exception) -> Response:
        path = request.url.path.removeprefix(request.scope.get("root_path", ""))
        is_unknown = isinstance(error, HTTPException) and error.status_code in {404, 405}
        if not is_unknown or path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
            return await handler(request, error)
        return await or_refusal(request, _refuse(path))

    return reply


async def _refuse(path: str) -> Response:
    raise NotFound(N_("no page %(page)r"), page=path[:200])
