"""`jurado admin team`: teams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from app.accounts.commands.imports import (
    DryRun,
    Encoding,
    ForContest,
    Import,
    Replace,
    import_objects,
    import_params,
    of_contest,
)
from app.core.commands.client import Client, Param
from app.core.commands.options import AsJson
from app.core.commands.output import examples, report, show, table, write_json
from app.core.commands.requests import delete
from app.core.commands.resources.people import Account, Identified, Team

team = typer.Typer(no_args_is_help=True, help="Teams.")


@team.command(
    "list",
    epilog=examples(
        "jurado admin team list", "jurado admin team list --contest finals", "jurado admin team list --json"
    ),
)
def list_teams(
    contest_id: Annotated[str | None, typer.Option("--contest", metavar="ID", help="only its teams")] = None,
    as_json: AsJson = False,
) -> None:
    """List all teams, or a contest's, with their groups, organization, accounts, and who is hidden or disqualified."""
    with Client.open() as client:
        teams = client.get(of_contest("teams", contest_id), list[Team])
        usernames: dict[str, list[str]] = {}
        for account in client.get(of_contest("accounts", contest_id), list[Account]):
            usernames.setdefault(account["team_id"] or "", []).append(account["username"])
    if as_json:
        write_json([{**each, "accounts": usernames.get(each["id"], [])} for each in teams])
    else:
        columns = ["id", "name", "groups", "organization", "state", "accounts"]
        show(table("", columns, [team_row(each, usernames.get(each["id"], [])) for each in teams]))


def team_row(team: Team, usernames: Sequence[str]) -> tuple[str | None, ...]:
    """Give the cells of one team."""
    state = [
        word for word, holds in (("hidden", team.get("hidden")), ("disqualified", team.get("disqualified"))) if holds
    ]
    return (
        team["id"],
        team["name"],
        " ".join(team["group_ids"]),
        team.get("organization_id"),
        ", ".join(state),
        " ".join(usernames),
    )


@team.command("add", epilog=examples("jurado admin team add red 'The Reds' --contest finals"))
def add_team(
    team_id: Annotated[str, typer.Argument(metavar="ID")],
    full_name: Annotated[str, typer.Argument(metavar="NAME")],
    contests: Annotated[
        list[str] | None,
        typer.Option("--contest", help="let it take part there; the owners of the first one may change it"),
    ] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="not on boards, never BEST")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a team, and let it take part in contests."""
    with Client.open() as client:
        params: dict[str, Param] = {"contest_id": contests[0]} if contests else {}
        body = {"id": team_id, "name": full_name, "hidden": hidden}
        stored = client.post("teams", body, Identified, params=params)
        for each in (contests or [])[1:]:
            client.post(f"contests/{each}/teams", {"team_ids": [team_id]})
    report(f"team {stored['id']} has been made", stored, as_json=as_json)


@team.command("delete", epilog=examples("jurado admin team delete red"))
def delete_team(team_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Delete a team without accounts and submissions."""
    delete(f"teams/{team_id}")


@team.command(
    "import",
    epilog=examples(
        "jurado admin team import teams.csv",
        "jurado admin team import teams.tsv",
        "jurado admin team import teams.csv --contest finals",
    ),
)
def import_teams(
    file: Import,
    contest: ForContest = None,
    encoding: Encoding = None,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import teams from a file: all of them, or none and a list of what is wrong.

    The institutions of a teams.tsv become organizations. Owners of a contest name it with --contest.
    """
    params = {**import_params(replace=replace, dry_run=dry_run), "contest_id": contest}
    before = of_contest("teams", contest)
    import_objects("teams", file, params, as_json=as_json, encoding=encoding, before_path=before)
