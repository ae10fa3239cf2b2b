"""The addresses of pages, outside of /api and of its description."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from app.web.index import index
from app.web.pages import HEADERS, HERE, page

FILES = StaticFiles(directory=HERE / "static")

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
router.add_api_route("/", index)


@router.get("/docs")
async def docs() -> HTMLResponse:
    """The description of the API, by Swagger UI."""
    return page("docs.html")


@router.get("/static/{name:path}")
async def static(request: Request, name: str) -> Response:
    """A style sheet, script or image of the pages."""
    reply = await FILES.get_response(name, request.scope)
    reply.headers.update(HEADERS)
    return reply
