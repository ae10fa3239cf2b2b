"""`jurado awards`: who gets which award."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.commands.client import Client
from app.core.commands.lookup import team_names
from app.core.commands.options import Contest
from app.core.commands.registry import command
from app.core.commands.requests import Cell, Shown, Table


@command("awards")
def awards(contest: Contest) -> Shown:
    """Show the awards of a contest; who gets them is known once its results are final.

    Examples:
      jurado awards finals
      jurado awards finals --json
    """
    with Client.open() as client:
        given = client.rows(f"contests/{contest}/awards")
        names = team_names(client, contest)
    columns: Mapping[str, Cell] = {
        "id": "id",
        "award": "citation",
        "teams": lambda each: teams_text(each["team_ids"], names),
    }
    return Shown(given, Table(columns, contest, "no awards yet"))


def teams_text(team_ids: Sequence[str] | None, names: Mapping[str, str]) -> str:
    """Name the teams that get an award."""
    if team_ids is None:
        return "not known yet"
    return ", ".join(names.get(team, team) for team in team_ids) or "no team"
