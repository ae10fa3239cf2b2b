"""`jurado statement`: read a problem's statement in the terminal."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, console, write_json
from app.core.commands.registry import command

MARKDOWN = "text/markdown"


@command("statement")
def statement(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")],
    contest: Annotated[str, typer.Option(metavar="CONTEST", help="the contest it is in")] = "practice",
    lang: Annotated[str | None, typer.Option(metavar="LANGUAGE", help="such as es; default: English")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="print Markdown also on a terminal")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a problem's statement: rendered on a terminal, as Markdown elsewhere.

    Examples:
      jurado statement comesolo
      jurado statement A --contest finals --lang es --raw
    """
    print_text(contest, problem, "statement", lang=lang, raw=raw, as_json=as_json)


def print_text(
    contest: str, problem: str, kind: Literal["statement", "solution"], *, lang: str | None, raw: bool, as_json: bool
) -> None:
    """Print the statement or the solution text of a problem."""
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
