"""Makes pages of templates, which escape what they are given, and serves the files that pages need."""

from __future__ import annotations

from pathlib import Path

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.web import preferences, wording

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
    points=wording.points, plain=wording.plain, size=wording.size, minute=preferences.minute, ordinal=wording.ordinal
)


def page(template: str, request: Request, status: int = 200, **values: object) -> HTMLResponse:
    """A page of a template. `root` goes before addresses, so that they hold behind any path prefix."""
    root = request.scope.get("root_path", "")
    theme, zone, here = preferences.theme_of(request), preferences.zone_of(request), request.url.path.removeprefix(root)
    if request.url.query:
        here = f"{here}?{request.url.query}"
    shared = {"root": root, "theme": theme, "zone": zone, "here": here}
    html = ENVIRONMENT.get_template(template).render({**shared, **values})
    return HTMLResponse(html, status, headers=PRIVATE)
