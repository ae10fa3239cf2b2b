"""Makes pages of templates, which escape what they are given, and serves the files that pages need."""

from __future__ import annotations

from pathlib import Path

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

HERE = Path(__file__).parent
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
ENVIRONMENT = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, auto_reload=False
)


def page(template: str, **values: object) -> HTMLResponse:
    """A page of a template; addresses in it are relative, so that they hold behind any path prefix."""
    return HTMLResponse(ENVIRONMENT.get_template(template).render(values), headers=HEADERS)
