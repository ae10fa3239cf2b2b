"""`jurado games`: the games of a contest, one's own or, for judges, all of them."""

from __future__ import annotations

from typing import Annotated

import typer
from typing_extensions import TypedDict

from app.core.commands.client import Client
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import Failure, show, table, write_json
from app.games.commands.remote import ended_words

STATES = ("playing", "ended")


class ListedGame(TypedDict):
    """A game in a list."""

    id: str
    problem_id: str
    testcase: str | None
    team_id: str | None
    counted: bool
    game: str
    opponent: str
    moves: int
    over: bool
    winner: str | None
    ending: str | None
    started: str
    ended: str | None
    submission_id: str | None


def games(
    contest: Contest,
    state: Annotated[str | None, typer.Option(metavar="STATE", help="playing or ended; default: both")] = None,
    problem: Annotated[str | None, typer.Option(metavar="PROBLEM", help="only of this one: its id or label")] = None,
    team: Annotated[str | None, typer.Option(metavar="ID", help="only of this team, for judges")] = None,
    as_json: AsJson = False,
) -> None:
    """List the games of a contest, the latest first: your own, or as a judge everybody's.

    `jurado replay GAME` shows one move by move.
    """
    if state is not None and state not in STATES:
        raise Failure(f"--state: expected {' or '.join(STATES)}, found {state!r}")
    with Client.open() as client:
        rows = client.get(f"contests/{contest}/games", list[ListedGame], state=state, problem_id=problem, team_id=team)
    if as_json:
        write_json(rows)
        return
    columns = ["game", "problem", "case", "team", "opponent", ">moves", "ended", "how", "started", "submission"]
    shown = [
        (
            row["id"],
            row["problem_id"],
            row["testcase"] or ("" if row["counted"] else "practice"),
            row["team_id"] or "",
            row["opponent"],
            row["moves"],
            ended_words(row["winner"]) if row["over"] else "",
            row["ending"] or "",
            row["started"][:19].replace("T", " "),
            row["submission_id"] or "",
        )
        for row in rows
    ]
    show(table(f"{contest}: {len(rows)} games", columns, shown) if rows else f"{contest}: no games")
