"""`jurado admin award`: awards given by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import examples, report
from app.core.commands.requests import delete

award = typer.Typer(no_args_is_help=True, help="Awards given by hand, beside those the final board gives.")

AwardId = Annotated[str, typer.Argument(metavar="AWARD", help="the award's id, such as winner or most-original")]


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
        stored = client.put(f"contests/{contest}/awards/{award_id}", given)
    report(f"award {award_id} goes to {', '.join(teams or []) or 'nobody'}", stored, as_json=as_json)


@award.command("delete", epilog=examples("jurado admin award delete finals most-original"))
def delete_award(contest: Contest, award_id: AwardId) -> None:
    """Take an award back; a computed one is not given any more."""
    delete(f"contests/{contest}/awards/{award_id}")
