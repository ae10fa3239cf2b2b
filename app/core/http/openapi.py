"""How the routes are described at /openapi.json and /docs.

- What /openapi.json says of tags, of parameters that many routes have, and of refusals: one sentence each.
"""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic.json_schema import models_json_schema

from app.accounts.schemas import AccountBody
from app.accounts.service.tokens import Who, who_may
from app.core.clics import EXAMPLES
from app.core.http.errors import ErrorBody
from app.feed.service.webhooks import Call, Notification
from app.submissions.service.submission_form import SubmissionRequest
from app.teams.schemas import GroupBody, OrganizationBody, PersonBody, PersonRowBody
from app.teams.service.teams import TeamBody

TAGS = {
    "contests": "Contests, their times and state, the problems in them, and who takes part.",
    "problems": "Problem packages on this server, and problems as a contest shows them.",
    "test cases": "The inputs of a problem, and how an admin puts and deletes single test cases.",
    "submissions": "Answer files on their way in, and what became of them.",
    "judgements": "Verdicts of submissions, and of each of their test cases (runs).",
    "judging": "The judgement types and languages that a contest has.",
    "games": "Games against the judge: for practice, or test cases of problems that are played.",
    "scoreboard": "The board in CLICS rows, as a table, over time, live, and opened place by place.",
    "event feed": "Every change of a contest as it happens.",
    "webhooks": "Addresses that the server calls when something changes.",
    "clarifications": "Questions of teams, answers, and announcements.",
    "commentary": "Remarks on what happens in a contest.",
    "awards": "Medals, winners, and what else is given.",
    "teams": "Teams of the whole server, and those of a contest.",
    "accounts": "Who may log in, and the tokens with which programs do.",
    "groups": "Groups of teams, each with a board of its own.",
    "organizations": "What teams belong to: schools, firms, countries.",
    "persons": "The people in teams and around them.",
    "roles": "Who runs and judges a contest or a problem, and who may make contests.",
    "audit": "Who changed what: organisers, judges and admins.",
    "rejudgings": "Submissions judged again: silent until applied, and undoable.",
    "similarity": "Answers and sources of different teams that are alike, for judges.",
    "jobs": "Long work of the server, such as reference runs.",
    "puzzles": "The puzzles of the day: three kinds in three sizes, new at 00:00 UTC.",
    "health": "Whether the server works, and how much it does.",
}
# By the parameter's name, or by the end of the path that it stands in, which comes first; of others the name says all.
PARAMETERS = {
    "award_id": "The id of an award, such as `winner`.",
    "image_name": "The name of an image, such as teamimage.png.",
    "day": "A day such as 2026-11-22, from 2010-02-26 to today.",
    "kind": "The kind of a puzzle: optimiza, comesolo or netgame.",
    "size": "The size of a puzzle: small, medium or large.",
    "commentary_id": "The id of a commentary message.",
    "contest_id": "The id of a contest, such as `demo`.",
    "file_name": "The name of the file, as the object's property gives it in `href`.",
    "group": "The test data group, such as `secret` or `secret/large`.",
    "language_id": "The id of a language; there is one, `answers`.",
    "name": "The property that has the file, such as `photo`.",
    "number": "The number of a version.",
    "other_team_id": "The id of the other team.",
    "problem_id": "The id of a problem, such as `comesolo`; below a contest also its label there, such as `A`.",
    "source_id": "The id of the account that wrote it.",
    "type_id": "The id of a judgement type, such as `AC`.",
    "sources/{name}": "The name of a source file, folders included.",
    "statement/{path}": "The image's path as the statement names it, such as `img/board.svg`.",
    "testcases/{group}/{name}": "The name of a test case in its group.",
    "testcases/{name}": "The name of a test case.",
}
FILTER = "Only those whose `{name}` is this one; empty: only those without."
# By status: the name below components/responses, and when it is answered.
REFUSALS = {
    400: ("BadRequest", "What was sent is not what is expected; `message` says where, what was expected and found"),
    401: ("Unauthorized", "Nobody is logged in, or the password or token is wrong"),
    403: ("Forbidden", "The account may not do this"),
    404: ("NotFound", "There is no such thing, or this account may not know of it"),
    409: ("Conflict", "It contradicts what is kept"),
    413: ("TooLarge", "The body is larger than this route takes"),
    415: ("UnsupportedMedia", "The body's format is none that this route takes"),
    416: ("RangeNotSatisfiable", "The file has no such range of bytes"),
    429: ("TooManyRequests", "Too often; `Retry-After` has the seconds to wait, if waiting helps"),
    500: ("ServerFault", "A fault of the server, which has been logged"),
    503: ("Unavailable", "Not now, for nobody: nothing was kept, try again after `Retry-After` seconds"),
    507: ("NoRoom", "The server has no room left: nothing was kept"),
}
OF_ALL = frozenset({400, 401, 403, 429, 500, 503})
OF_WRITES = frozenset({409, 413, 507})


Json = dict[str, Any]
REF = "#/components/schemas/"
# Asked by machines that watch: no account, no refusal.
BARE = ("/health/live", "/health/ready")
SECURITY = {
    "basic": {"type": "http", "scheme": "basic", "description": "username and password of an account"},
    "token": {"type": "http", "scheme": "bearer", "description": "a token made with POST /api/account/tokens"},
}
# Models that no signature names: of documents in several formats, refusals, and lines of streams.
BESIDE = (
    AccountBody,
    ErrorBody,
    GroupBody,
    OrganizationBody,
    PersonBody,
    PersonRowBody,
    TeamBody,
    Notification,
    Call,
    SubmissionRequest,
)
# What a PATCH describes by the body of its PUT.
CHANGED = ("Account", "Group", "Organization", "Person", "Team")
EITHER: list[Json] = [{"basic": []}, {"token": []}]
DESCRIPTION = """\
Names and shapes follow the CLICS Contest API 2026-01; what is Jurado's own is described at each route. Times are UTC
with milliseconds (`2026-11-21T02:19:00.000Z`), durations `h:mm:ss.uuu`. Refusals are `{"code", "message"}`, with
`errors` where there are several. An `operationId` is unique and stays what it is: `list_` gives all, `get_` one,
`create_` makes, `put_` makes or replaces, `change_` changes what is named, `delete_` deletes. `x-other-content` lists
further formats of a body beside those in `content`."""
# Formats of bodies that generators of clients know; they stop or warn at others.
GENERATED = ("application/json", "multipart/form-data", "application/octet-stream")


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
        change = {key: value for key, value in schemas[f"{name}Body"].items() if key not in {"required", "examples"}}
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
        kind, _, what = name.replace("_", " ").rpartition(" ")
        text = ends[0] if ends and name != "group" else PARAMETERS.get(name, f"The {what} of the {kind}.")
        parameter["description"] = text
