"""How the routes are described at /openapi.json and /docs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema

from app.accounts.service.rights import Who, who_may
from app.core.examples import EXAMPLES
from app.core.http.errors import ErrorBody
from app.core.http.openapi_words import FILTER, OF_ALL, OF_WRITES, PARAMETERS, REFUSALS, TAGS
from app.feed.service.bodies import Call, Notification
from app.scoreboard.service.bodies import CompactScoreboard
from app.teams.schemas.class_list_bodies import PersonRowBody
from app.teams.schemas.directory_bodies import GroupBody, OrganizationBody, PersonBody

Json = dict[str, Any]
REF = "#/components/schemas/"
BARE = ("/health/live", "/health/ready")
"""Asked by machines that watch: no account, no refusal."""
SECURITY = {
    "basic": {"type": "http", "scheme": "basic", "description": "username and password of an account"},
    "token": {"type": "http", "scheme": "bearer", "description": "a token made with POST /api/account/tokens"},
}
BESIDE = (ErrorBody, GroupBody, OrganizationBody, PersonBody, PersonRowBody, Notification, Call, CompactScoreboard)
"""Models that no signature names: of documents in several formats, refusals, and lines of streams."""
CHANGED = ("Group", "Organization", "Person")
"""What a PATCH describes by the body of its PUT."""
EITHER: list[Json] = [{"basic": []}, {"token": []}]
DESCRIPTION = """\
Names and shapes follow the CLICS Contest API 2026-01; what is Jurado's own is described at each route. Times are UTC
with milliseconds (`2026-11-21T02:19:00.000Z`), durations `h:mm:ss.uuu`. Refusals are `{"code", "message"}`, with
`errors` where there are several. An `operationId` is unique and stays what it is: `list_` gives all, `get_` one,
`create_` makes, `put_` makes or replaces, `change_` changes what is named, `delete_` deletes. `x-other-content` lists
further formats of a body beside those in `content`."""
GENERATED = ("application/json", "multipart/form-data", "application/octet-stream")
"""Formats of bodies that generators of clients know; they stop or warn at others."""


def operation_id(route: APIRoute) -> str:
    """The endpoint's name, which is short, unique and the same whatever the path is."""
    return route.name


def install(app: FastAPI) -> None:
    """Describe the app as it is: errors are ours (400, not 422), and both ways to log in work everywhere."""

    def describe() -> Json:
        if app.openapi_schema is None:
            app.openapi_schema = _describe(app)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign] # FastAPI's own way to change the description


def _describe(app: FastAPI) -> Json:
    schema = get_openapi(
        title=app.title, version=app.version, summary=app.summary, description=DESCRIPTION, routes=app.routes
    )
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for path, method, operation in operations(schema):
        _describe_refusals(path, method, operation)
        _set_apart_other_formats(operation)
        _name_forms(operation, schemas)
        _describe_parameters(path, operation)
        if who_may(operation["operationId"]) is not Who.EVERYBODY:
            operation["security"] = EITHER
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas |= {name: schema for name, schema in _beside().items() if name not in schemas}
    for name in EXAMPLES.keys() & schemas.keys():  # settings take routes away, and their schemas with them
        schemas[name]["examples"] = [EXAMPLES[name]]
    components["responses"] = {name: _refusal(status, text) for status, (name, text) in REFUSALS.items()}
    components["securitySchemes"] = SECURITY
    schema["security"] = [{}, *EITHER]
    used = {tag for _, _, operation in operations(schema) for tag in operation["tags"]}
    schema["tags"] = [{"name": name, "description": text} for name, text in TAGS.items() if name in used]
    return schema


def operations(schema: Json) -> Iterator[tuple[str, str, Json]]:
    """Every operation of a description: path, method in capitals, and what is said of it."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def _describe_refusals(path: str, method: str, operation: Json) -> None:
    replies = operation["responses"]
    if "HTTPValidationError" in str(replies.get("422")):
        del replies["422"]  # FastAPI's own, which we answer with 400
    if path in BARE:
        return
    statuses = set(OF_ALL)
    if "{" in path or method != "GET":
        statuses.add(404)
    if method != "GET":
        statuses |= OF_WRITES
    if "requestBody" in operation:
        statuses.add(415)
    if "206" in replies:
        statuses.add(416)
    for status in sorted(statuses):
        replies[str(status)] = {"$ref": f"#/components/responses/{REFUSALS[status][0]}"}


def _refusal(status: int, text: str) -> Json:
    example = {"code": status, "message": text}
    schema = {"$ref": f"{REF}ErrorBody"}
    return {"description": text, "content": {"application/json": {"schema": schema, "example": example}}}


def _beside() -> Json:
    """The schemas of BESIDE and of what they refer to; for a change, nothing of a body is required."""
    _, whole = models_json_schema([(model, "validation") for model in BESIDE], ref_template=REF + "{model}")
    schemas: Json = whole["$defs"]
    for name in CHANGED:
        change = {key: value for key, value in schemas[f"{name}Body"].items() if key != "required"}
        text = "Properties to change; what is left out stays."
        schemas[f"{name}Change"] = {**change, "title": f"{name}Change", "description": text}
    return schemas


def _set_apart_other_formats(operation: Json) -> None:
    """Leave in `content` the formats that generators know: what they make serves all that the others do."""
    body = operation.get("requestBody", {})
    others = {kind: form for kind, form in body.get("content", {}).items() if kind not in GENERATED}
    if others:
        body["content"] = {kind: form for kind, form in body["content"].items() if kind in GENERATED}
        body["x-other-content"] = others
        body["description"] = f"Also as {', '.join(others)}."


def _name_forms(operation: Json, schemas: Json) -> None:
    """Make the schema of a form a component, by its title: generators name their class by that."""
    for form in operation.get("requestBody", {}).get("content", {}).values():
        name = form["schema"].get("title")
        if name is not None and "properties" in form["schema"]:
            schemas[name] = form["schema"]
            form["schema"] = {"$ref": f"{REF}{name}"}


def _describe_parameters(path: str, operation: Json) -> None:
    """Say what each parameter is, where its route does not say it itself."""
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if "description" in parameter:
            continue
        if parameter["in"] == "query":
            parameter["description"] = FILTER.format(name=name)
            continue
        ends = [text for end, text in PARAMETERS.items() if "/" in end and f"/{end}" in path and f"{{{name}}}" in end]
        text = ends[0] if ends and name != "group" else PARAMETERS.get(name)
        if text is not None:
            parameter["description"] = text
