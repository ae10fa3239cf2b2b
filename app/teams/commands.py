"""`jurado admin team`: teams.

- `jurado admin group|organization|person`: the people around a contest.
"""

from collections.abc import Mapping
from typing import Annotated

import typer

from app.accounts.commands import imports
from app.core.commands.registry import AsJson, Cell, Request, collection, command, deletion, keys


@command("admin team list")
def list_teams(
    contest_id: Annotated[str | None, typer.Option("--contest", metavar="ID", help="only its teams")] = None,
) -> Request:
    """List all teams, or a contest's, with their groups, organization, and who is hidden or disqualified.

    Examples:
      jurado admin team list
      jurado admin team list --contest finals
      jurado admin team list --json
    """
    return collection(imports.of_contest("teams", contest_id), TEAM_COLUMNS)


TEAM_COLUMNS: Mapping[str, Cell] = {
    "id": "id",
    "name": "name",
    "groups": lambda team: " ".join(team["group_ids"]),
    "organization": "organization_id",
    "state": lambda team: ", ".join(word for word in ("hidden", "disqualified") if team.get(word)),
}


@command("admin team add")
def add_team(
    team_id: Annotated[str, typer.Argument(metavar="ID")],
    full_name: Annotated[str, typer.Argument(metavar="NAME")],
    contest: Annotated[
        str | None, typer.Option("--contest", metavar="ID", help="let it take part there; its owners may change it")
    ] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="not on boards, never BEST")] = False,
) -> Request:
    """Make a team, and let it take part in a contest.

    Examples:
      jurado admin team add red 'The Reds' --contest finals
    """
    given = {"id": team_id, "name": full_name, "hidden": hidden}
    return Request("POST", "teams", f"team {team_id} has been created", given, {"contest_id": contest})


@command("admin team delete")
def delete_team(team_id: Annotated[str, typer.Argument(metavar="ID")]) -> Request:
    """Delete a team without accounts and submissions.

    Examples:
      jurado admin team delete red
    """
    return deletion(f"teams/{team_id}")


@command("admin team import")
def import_teams(
    file: imports.Import,
    contest: imports.ForContest = None,
    encoding: imports.Encoding = None,
    replace: imports.Replace = False,
    dry_run: imports.DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import teams from a file: all of them, or none and a list of what is wrong.

    The institutions of a teams.tsv are organizations that exist: import them first. Owners of a contest name it with
    --contest.

    Examples:
      jurado admin team import teams.csv
      jurado admin team import teams.tsv
      jurado admin team import teams.csv --contest finals
    """
    params = {**imports.import_params(replace=replace, dry_run=dry_run), "contest_id": contest}
    imports.import_file("teams", file, params, as_json=as_json, encoding=encoding)


InContest = Annotated[str, typer.Option("--contest", metavar="ID", help="the contest that brings or shows them")]


def add_directory_commands(kind: str, noun: str, columns: str, sample: str) -> None:
    """Add the commands of one kind; `sample` names a file of it."""

    def list_all(contest: InContest) -> Request:
        return collection(f"contests/{contest}/{kind}", keys(columns))

    def import_all(
        file: imports.Import,
        contest: InContest,
        encoding: imports.Encoding = None,
        replace: imports.Replace = False,
        dry_run: imports.DryRun = False,
        as_json: AsJson = False,
    ) -> None:
        path = f"contests/{contest}/{kind}"
        params = imports.import_params(replace=replace, dry_run=dry_run)
        imports.import_file(path, file, params, as_json=as_json, encoding=encoding)

    listed, imported = f"admin {noun} list", f"admin {noun} import"
    list_all.__doc__ = f"List the {kind} of a contest.\n\nExamples:\n  jurado {listed} --contest finals"
    import_all.__doc__ = (
        f"Import {kind} from a file: all of them, or none and a list of what is wrong."
        f"\n\nExamples:\n  jurado {imported} {sample} --contest finals"
    )
    command(listed)(list_all)
    command(imported)(import_all)


add_directory_commands("groups", "group", "id name icpc_id type", "groups.tsv")
add_directory_commands("organizations", "organization", "id name formal_name country", "organizations.json")
add_directory_commands("persons", "person", "id name role team_ids email", "persons.csv")
