"""`jurado awards`, and `jurado admin award` to give them."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.admin.commands import delete
from app.cli.client import Client
from app.cli.contestant.commands import Contest, team_names
from app.cli.output import examples, show, table, tell, write_json
from app.cli.solve import AsJson

award = typer.Typer(no_args_is_help=True, help="Awards made by hand, beside those the final board gives.")
GROUPS = {"award": award}

AwardId = Annotated[str, typer.Argument(metavar="AWARD", help="the award's id, such as winner or most-original")]


def awards(contest: Contest, as_json: AsJson = False) -> None:
    """Show the awards of a contest; who gets them is known once its results are final."""
    with Client.open() as client:
        found = client.get(f"contests/{contest}/awards")
        names = {} if as_json else team_names(client, contest)
    if as_json:
        write_json(found)
    elif not found:
        show("no awards yet")
    else:
        rows = [(each["id"], each["citation"], teams_text(each["team_ids"], names)) for each in found]
        show(table(contest, ["id", "award", "teams"], rows))


def teams_text(team_ids: list[str] | None, names: dict[str, str]) -> str:
    """Who gets an award, by name."""
    if team_ids is None:
        return "not known yet"
    return ", ".join(names.get(team, team) for team in team_ids) or "nobody"


@award.command(
    "set", epilog=examples("jurado admin award set finals most-original 'Most original answer' --team ants --team bees")
)
def set_award(
    contest: Contest,
    award_id: AwardId,
    citation: Annotated[str, typer.Argument(metavar="CITATION", help="what it is for")],
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="a team that gets it")] = None,
    as_json: AsJson = False,
) -> None:
    """Give an award, or give another in the place of a computed one."""
    given = {"id": award_id, "citation": citation, "team_ids": teams or []}
    with Client.open() as client:
        made = client.put(f"contests/{contest}/awards/{award_id}", json=given)
    tell(f"award {award_id} goes to {', '.join(given['team_ids']) or 'nobody'}", made, as_json=as_json)


@award.command("delete", epilog=examples("jurado admin award delete finals most-original"))
def delete_award(contest: Contest, award_id: AwardId) -> None:
    """Take an award back; a computed one is not given any more."""
    delete(f"contests/{contest}/awards/{award_id}")
