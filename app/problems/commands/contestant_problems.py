"""`jurado problems`: the problems of a contest, their inputs, and their solution texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.board_tables import points_text
from app.core.commands.client import Client
from app.core.commands.contest_facts import why_nothing
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import Failure, show, table, write_json
from app.core.commands.registry import command
from app.core.commands.upload import unpack
from app.problems.commands.statement import print_text


@command("problems")
def problems(
    contest: Contest,
    inputs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="fetch the inputs too, as DIR/PROBLEM/NAME.in")
    ] = None,
    solution: Annotated[
        str | None, typer.Option(metavar="PROBLEM", help="print the solution text of one, by id or label")
    ] = None,
    lang: Annotated[str | None, typer.Option(metavar="LANGUAGE", help="of the solution text, such as es")] = None,
    as_json: AsJson = False,
) -> None:
    """List the problems of a contest; fetch their inputs if a folder is given, or print the solution text of one.

    Examples:
      jurado problems practice
      jurado problems practice --inputs inputs/
    """
    if solution is not None:
        print_text(contest, solution, "solution", lang=lang, raw=False, as_json=as_json)
        return
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
