"""Headers of pages and of the files that they need."""

from __future__ import annotations

from fastapi import Request

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin", "Cache-Control": "no-cache"}
PRIVATE = {**HEADERS, "Cache-Control": "private, no-cache", "Vary": "Cookie, Accept-Language"}
"""Of pages that differ by who asks."""


def takes_gzip(request: Request) -> bool:
    """Whether a reply may be zipped."""
    return "gzip" in request.headers.get("accept-encoding", "")
