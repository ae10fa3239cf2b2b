"""`jurado admin award`: awards given by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from app.core.commands.options import Contest
from app.core.commands.registry import command
from app.core.commands.requests import Request, deletion

AwardId = Annotated[str, typer.Argument(metavar="AWARD", help="the award's id, such as winner or most-original")]


@command("admin award set")
def set_award(
    contest: Contest,
    award_id: AwardId,
    citation: Annotated[str, typer.Argument(metavar="CITATION", help="what it is for")],
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="a team that gets it")] = None,
) -> Request:
    """Give an award, or replace a computed one.

    Examples:
      jurado admin award set finals most-original 'Most original answer' --team ants --team bees
    """
    given = {"id": award_id, "citation": citation, "team_ids": teams or []}
    text = f"award {award_id} goes to {', '.join(teams or []) or 'no team'}"
    return Request("PUT", f"contests/{contest}/awards/{award_id}", text, given)


@command("admin award delete")
def delete_award(contest: Contest, award_id: AwardId) -> Request:
    """Delete an award; a computed one is no longer given.

    Examples:
      jurado admin award delete finals most-original
    """
    return deletion(f"contests/{contest}/awards/{award_id}")
