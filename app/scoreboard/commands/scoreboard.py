"""`jurado scoreboard`: the board, once, live, or for spreadsheets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.board_tables import board_table
from app.core.commands.client import Client
from app.core.commands.contest_facts import contest_time, facts_of, why_nothing
from app.core.commands.lookup import team_names
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import JsonMapping, say, show, write_file, write_json
from app.core.commands.registry import command
from app.scoreboard.commands.live_board import follow_board, frozen_banner


@command("scoreboard")
def scoreboard(
    contest: Contest,
    live: Annotated[bool, typer.Option("--live", help="draw it again whenever it changes, until Ctrl-C")] = False,
    cases: Annotated[bool, typer.Option("--cases", help="with the raw score of every test case")] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write it for spreadsheets; - is standard output")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the scoreboard of a contest.

    Examples:
      jurado scoreboard practice
      jurado scoreboard practice --live
      jurado scoreboard practice --cases --json
      jurado scoreboard practice --csv board.csv
    """
    with Client.open() as client:
        if csv is not None:
            write_csv(csv, client.request("GET", f"/api/contests/{contest}/scoreboard.csv").content)
            return
        if live:
            follow_board(client, contest, team_names(client, contest), cases=cases, as_json=as_json)
            return
        board = client.get(f"contests/{contest}/scoreboard", cases=cases or None)
        if as_json:
            write_json(board)
        elif not board["state"].get("started"):
            typer.echo(why_nothing(client, contest) or "the contest has begun just now")
        else:
            show_board(client, contest, board, cases=cases)


def show_board(client: Client, contest: str, board: JsonMapping, *, cases: bool) -> None:
    """Print the board at the time by the server's clock, with a banner where it is frozen."""
    facts = facts_of(client, contest)
    if banner := frozen_banner(board["state"], facts):
        typer.echo(banner.strip())
    names, now = team_names(client, contest), contest_time(facts, client.now())
    show(*board_table(contest, board, names, cases=cases, now=now))


def write_csv(path: Path, data: bytes) -> None:
    """Write the board to a file; `-` is standard output."""
    if str(path) == "-":
        typer.get_binary_stream("stdout").write(data)
        return
    write_file(path, data)
    say(f"{path} has been written")
