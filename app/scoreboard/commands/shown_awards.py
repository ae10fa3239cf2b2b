"""`jurado awards`: who gets which award."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.core.commands.client import Client
from app.core.commands.lookup import team_names
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import show, table, write_json
from app.core.commands.resources.scoreboard import Award


def awards(contest: Contest, as_json: AsJson = False) -> None:
    """Show the awards of a contest; who gets them is known once its results are final."""
    with Client.open() as client:
        given = client.get(f"contests/{contest}/awards", list[Award])
        names = {} if as_json else team_names(client, contest)
    if as_json:
        write_json(given)
    elif not given:
        show("no awards yet")
    else:
        rows = [(award["id"], award["citation"], teams_text(award["team_ids"], names)) for award in given]
        show(table(contest, ["id", "award", "teams"], rows))


def teams_text(team_ids: Sequence[str] | None, names: Mapping[str, str]) -> str:
    """Name the teams that get an award."""
    if team_ids is None:
        return "not known yet"
    return ", ".join(names.get(team, team) for team in team_ids) or "nobody"
