"""`jurado problems`: the problems of a contest and their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.board_tables import points_text
from app.cli.client import Client
from app.cli.contest_facts import why_nothing
from app.cli.contestant.upload import unpack
from app.cli.options import AsJson, Contest
from app.cli.output import Failure, show, table, write_json
from app.cli.resources.contests import ContestProblem


def problems(
    contest: Contest,
    inputs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="fetch the inputs too, as DIR/PROBLEM/NAME.in")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the problems of a contest, and fetch their inputs if a folder is given."""
    with Client.open() as client:
        listed = client.get(f"contests/{contest}/problems", list[ContestProblem])
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
