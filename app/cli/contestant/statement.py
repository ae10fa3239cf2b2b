"""`jurado statement`: read a problem's statement in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markdown import Markdown

from app.cli.client import Client
from app.cli.options import AsJson
from app.cli.output import Failure, console, write_json

MARKDOWN = "text/markdown"


def statement(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")],
    contest: Annotated[str, typer.Option(metavar="CONTEST", help="the contest it is in")] = "practice",
    lang: Annotated[str | None, typer.Option(metavar="LANGUAGE", help="such as es; default: English")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="print Markdown also on a terminal")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a problem's statement: rendered on a terminal, as Markdown elsewhere."""
    with Client.open() as client:
        path = f"/api/contests/{contest}/problems/{problem}/statement"
        reply = client.request("GET", path, params={"lang": lang}, headers={"Accept": MARKDOWN})
    if not reply.headers.get("content-type", "").startswith(MARKDOWN):
        kind = reply.headers.get("content-type", "nothing")
        raise Failure(f"{problem}: expected a statement in Markdown, found {kind}: open {reply.url}", 1)
    out = console()
    if as_json:
        language = reply.headers.get("content-language")
        write_json({"contest": contest, "problem": problem, "language": language, "markdown": reply.text})
    elif raw or not out.is_terminal:
        typer.echo(reply.text, nl=not reply.text.endswith("\n"))
    else:
        out.print(Markdown(reply.text))
