"""Makes pages of templates, which escape what they are given, and serves the files that pages need."""

from __future__ import annotations

from pathlib import Path

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.web import wording

HERE = Path(__file__).parent
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
PRIVATE = {**HEADERS, "Cache-Control": "private, no-cache", "Vary": "Cookie"}
"""Of pages that differ by who asks."""
ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters.update(
    points=wording.points, plain=wording.plain, size=wording.size, minute=wording.minute, ordinal=wording.ordinal
)


def page(template: str, request: Request, status: int = 200, **values: object) -> HTMLResponse:
    """A page of a template. `root` goes before addresses, so that they hold behind any path prefix."""
    root = request.scope.get("root_path", "")
    html = ENVIRONMENT.get_template(template).render(root=root, **values)
    return HTMLResponse(html, status, headers=PRIVATE)
