"""`jurado api`: any request to the server's API, for what has no command of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.contests.commands.contest_settings import setting
from app.core.commands.client import Body, Client, Param
from app.core.commands.names import read_file
from app.core.commands.output import Failure, write_json
from app.core.commands.registry import command

TYPES = {".json": "application/json", ".zip": "application/zip", ".csv": "text/csv", ".tsv": "text/tsv"}
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@command("api")
def api(
    method: Annotated[Method, typer.Argument(case_sensitive=False, help="the method of the request")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="below /api; or from the server's root, with a / first")],
    fields: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="JSON or plain text, as the body or the query")
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--input", metavar="FILE", help="send this file as the body; - is standard input")
    ] = None,
) -> None:
    """Send a request to the API and print its reply; the page /docs lists all operations.

    Fields are the query of a GET, a DELETE or a request with --input, and else the JSON body. JSON replies are printed
    on one line, and other files as they are.

    Examples:
      jurado api GET contests/finals/problems
      jurado api GET contests/finals/scoreboard public=true
      jurado api PATCH contests/finals name='The finals' open_to_all=false
      jurado api POST problems id=mysum --input mysum.zip
    """
    given = dict(setting(text) for text in fields or [])
    target = path if path.startswith("/") else f"/api/{path}"
    if method in {"GET", "DELETE"} or source is not None:
        params: dict[str, Param] = {name: query_text(name, value) for name, value in given.items()}
        body: Body = {} if source is None else {"content": read_file(source, "input"), "headers": content_type(source)}
        document = None
    else:
        params, body, document = {}, {}, given or None
    with Client.open() as client:
        reply = client.request(method, target, json=document, params=params, **body)
    if reply.headers.get("content-type", "").startswith("application/json"):
        write_json(reply.json())
    else:
        sys.stdout.buffer.write(reply.content)


def query_text(name: str, value: object) -> Param:
    """Check that a field can be in a query."""
    if isinstance(value, str | int | float | bool):
        return value
    raise Failure(f"{name}: expected a text, a number, true or false in a query, found {value!r}")


def content_type(source: Path) -> dict[str, str]:
    """Give the type of a file by its name; JSON for standard input."""
    default = "application/json" if str(source) == "-" else "application/octet-stream"
    return {"Content-Type": TYPES.get(source.suffix.lower(), default)}
