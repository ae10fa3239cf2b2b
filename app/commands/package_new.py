"""`jurado package new`: write a whole package of the kind that its options say, to be changed.

- `jurado api`: any request to the server's API, for what has no command of its own.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer
from jurado_client.connection import Body, Param

from app.contests.commands.contest_settings import setting
from app.core.commands import config, registry
from app.core.commands.client import Client
from app.core.commands.output import Failure, read_file, report, write_json
from app.packages.files import LONGEST_ID, SLUG
from app.packages.skeletons.choices import FITTING, CheckerKind, Choices, Scoring, faults_of


@registry.command("package new")
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="named by the problem's id: lowercase letters, digits")],
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="the problem's title; default: its id")] = None,
    language: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="of a statement, such as es; may be repeated; default: en")
    ] = None,
    scoring: Annotated[Scoring, typer.Option(help="how answers get points")] = "points",
    checker: Annotated[
        CheckerKind | None, typer.Option(help="what checks answers; default: tokens, or python for relative points")
    ] = None,
    empty: Annotated[bool, typer.Option("--empty", help="only what a package must have, without an example")] = False,
    as_json: registry.AsJson = False,
) -> None:
    """Create a package: a small, complete example problem of the kind you want, to be changed into yours.

    It verifies at once and has a statement, a checker, an input validator, a generator, a solver, test cases with
    answers, and example submissions. With --empty there is no example: add test cases to data/secret.

    Examples:
      jurado package new mysum
      jurado package new seating --scoring minimise --empty
      jurado package new tour --scoring minimise --checker python --title 'Short tours'
      jurado package new guess --scoring rank --checker metric
    """
    slug = check_folder(folder)
    choices = Choices(
        title=title or slug.capitalize(),
        scoring=scoring,
        checker=checker or FITTING[scoring][0],
        languages=tuple(language or ["en"]),
        empty=empty,
    )
    if faults := faults_of(choices):
        raise Failure("\n".join(faults))
    from app.packages.skeletons.writing import skeleton

    files = skeleton(slug, choices)
    config.write_new_folder(folder, files)
    made = f"{folder}: {len(files)} files, scoring {choices.scoring}, checker {choices.checker}. Next:"
    text = f"{made}\n  jurado package verify {folder}\n  jurado package serve {folder}"
    report(text, {"folder": str(folder), "files": sorted(files)}, as_json=as_json)


def check_folder(folder: Path) -> str:
    """Give the slug that a folder's name is; raises Failure for a name that is none."""
    name = folder.resolve().name
    if not SLUG.fullmatch(name):
        expected = f"a folder named by lowercase letters and digits, at most {LONGEST_ID}"
        raise Failure(f"{folder}: expected {expected}, found {name!r}")
    return name


TYPES = {".json": "application/json", ".zip": "application/zip", ".csv": "text/csv", ".tsv": "text/tsv"}
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@registry.command("api")
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

    Fields are the query of a GET, a DELETE or a request with --input, otherwise the JSON body. JSON replies are printed
    on one line, and other files unchanged.

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
    if reply.content and reply.headers.get("content-type", "").startswith("application/json"):
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
