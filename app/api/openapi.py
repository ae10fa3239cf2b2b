"""How the routes are described at /openapi.json and /docs."""

from __future__ import annotations

from importlib.metadata import version as installed
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.errors import ErrorBody

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "Refused, and why"},
    "5XX": {"model": ErrorBody, "description": "Not now: nothing was kept"},
}
SECURITY = {
    "basic": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "bearer", "description": "a token made with POST /api/account/tokens"},
}


def version() -> str:
    """The version of the installed package."""
    return installed("jurado")


def install(app: FastAPI) -> None:
    """Describe the app as it is: errors are ours (400, not 422), and both ways to log in work everywhere."""

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _describe(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign] # FastAPI's own way to change the description


def _describe(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    for operations in schema["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
    components = schema.setdefault("components", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        components.get("schemas", {}).pop(unused, None)
    components["securitySchemes"] = SECURITY
    schema["security"] = [{}, {"basic": []}, {"token": []}]
    return schema
