"""`jurado statement`: read a problem's statement in the terminal.

- `jurado problems`: the problems of a contest, and their inputs.
"""

from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import points_text, why_nothing
from app.core.commands.output import Failure, console, show, table, unpack, write_json
from app.core.commands.registry import AsJson, Contest, command

MARKDOWN = "text/markdown"


@command("statement")
def statement(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")],
    contest: Annotated[str, typer.Option(metavar="CONTEST", help="the contest it is in")] = "practice",
    lang: Annotated[str | None, typer.Option(metavar="LANGUAGE", help="such as es; default: English")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="print Markdown also on a terminal")] = False,
    solution: Annotated[bool, typer.Option("--solution", help="print the solution text instead")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a problem's statement or solution text: rendered on a terminal, as Markdown elsewhere.

    Examples:
      jurado statement comesolo
      jurado statement A --contest finals --lang es --raw
    """
    kind = "solution" if solution else "statement"
    with Client.open() as client:
        path = f"/api/contests/{contest}/problems/{problem}/{kind}"
        reply = client.request("GET", path, params={"lang": lang}, headers={"Accept": MARKDOWN})
    media_type = reply.headers.get("content-type", "nothing")
    if not media_type.startswith(MARKDOWN):
        raise Failure(f"{problem}: expected a {kind} in Markdown, found {media_type}: open {reply.url}", 1)
    out = console()
    if as_json:
        language = reply.headers.get("content-language")
        write_json({"contest": contest, "problem": problem, "language": language, "markdown": reply.text})
    elif raw or not out.is_terminal:
        typer.echo(reply.text, nl=not reply.text.endswith("\n"))
    else:
        from rich.markdown import Markdown

        out.print(Markdown(reply.text))


@command("problems")
def problems(
    contest: Contest,
    inputs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="fetch the inputs too, as DIR/PROBLEM/NAME.in")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the problems of a contest; fetch their inputs if a folder is given.

    Examples:
      jurado problems practice
      jurado problems practice --inputs inputs/
    """
    with Client.open() as client:
        listed = client.rows(f"contests/{contest}/problems")
        if inputs is not None:
            for problem in listed:
                reply = client.request("GET", f"/api/contests/{contest}/problems/{problem['id']}/inputs.zip")
                unpack(reply.content, inputs / problem["id"])
        reason = None if listed else why_nothing(client, contest)
    if inputs is not None and reason is not None:
        raise Failure(reason, 1)
    if as_json:
        write_json(listed)
    elif reason is not None:
        typer.echo(reason)
    else:
        rows = [(p["label"], p["id"], p["name"], p["test_data_count"], points_text(p["max_score"])) for p in listed]
        show(table(contest, ["label", "id", "name", ">test cases", ">points"], rows))
