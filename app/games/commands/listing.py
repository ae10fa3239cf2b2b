"""`jurado games`: the games of a contest, one's own or, for judges, all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from app.core.commands.options import Contest
from app.core.commands.output import Failure
from app.core.commands.registry import command
from app.core.commands.requests import Cell, Request, Table
from app.games.commands.remote import ended_words

STATES = ("playing", "ended")


GAMES: Mapping[str, Cell] = {
    "game": "id",
    "problem": "problem_id",
    "case": lambda game: game["testcase"] or ("" if game["counted"] else "practice"),
    "team": "team_id",
    "opponent": "opponent",
    ">moves": "moves",
    "ended": lambda game: ended_words(game["winner"]) if game["over"] else "",
    "how": "ending",
    "started": lambda game: game["started"][:19].replace("T", " "),
    "submission": "submission_id",
}


@command("games")
def games(
    contest: Contest,
    state: Annotated[str | None, typer.Option(metavar="STATE", help="playing or ended; default: both")] = None,
    problem: Annotated[str | None, typer.Option(metavar="PROBLEM", help="only of this one: its id or label")] = None,
    team: Annotated[str | None, typer.Option(metavar="ID", help="only of this team, for judges")] = None,
) -> Request:
    """List the games of a contest, the latest first: your own, or as a judge everybody's.

    `jurado replay GAME` shows one move by move.

    Examples:
      jurado games games
      jurado games finals --state playing --problem C --json
    """
    if state is not None and state not in STATES:
        raise Failure(f"--state: expected {' or '.join(STATES)}, found {state!r}")
    params = {"state": state, "problem_id": problem, "team_id": team}
    columns = Table(GAMES, f"games of {contest}", f"{contest}: no games")
    return Request("GET", f"contests/{contest}/games", columns, params=params)
