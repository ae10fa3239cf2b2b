"""`jurado admin`: accounts, teams and contests, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.access import read_password
from app.cli.admin.contest_packages import SECONDS, import_lines, package_lines
from app.cli.admin.imports import (
    DryRun,
    Import,
    MakePasswords,
    PasswordFile,
    RenewPasswords,
    Replace,
    import_accounts,
    import_objects,
    people,
    wishes,
)
from app.cli.admin.limits import Interval, Most, Per, TeamBytes, settings_of
from app.cli.client import Client
from app.cli.names import read_file
from app.cli.output import Failure, examples, say, show, table, tell, write_json
from app.cli.solve import AsJson

user = typer.Typer(no_args_is_help=True, help="Accounts: who may log in.")
team = typer.Typer(no_args_is_help=True, help="Teams.")
contest = typer.Typer(no_args_is_help=True, help="Contests and what is in them.")
GROUPS = {"people": people, "user": user, "team": team, "contest": contest}
SOON = timedelta(seconds=35)  # the server wants a start to be more than 30 s away
ContestId = Annotated[str, typer.Argument(metavar="CONTEST", help="the contest's id")]


@user.command("list", epilog=examples("jurado admin user list", "jurado admin user list --json"))
def list_users(as_json: AsJson = False) -> None:
    """List all accounts."""
    listing("accounts", ["username", "type", "team_id", "name"], as_json=as_json)


@user.command(
    "add",
    epilog=examples(
        "jurado admin user add anna --team red --password-stdin < secret", "jurado admin user add judge1 --type judge"
    ),
)
def add_user(
    username: Annotated[str, typer.Argument(help="to log in with")],
    kind: Annotated[str, typer.Option("--type", help="team, judge, admin, analyst or staff")] = "team",
    team_id: Annotated[str | None, typer.Option("--team", metavar="ID", help="the team it belongs to")] = None,
    full_name: Annotated[str | None, typer.Option("--name", help="the name shown")] = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="read the password from stdin")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an account; its password is asked for, or taken from standard input or JURADO_PASSWORD."""
    password = read_password(username, from_stdin=password_stdin)
    given = {"username": username, "type": kind, "team_id": team_id, "name": full_name, "password": password}
    with Client.open() as client:
        made = client.post("accounts", known(given))
    tell(f"account {made['id']} has been made", made, as_json=as_json)


@user.command("delete", epilog=examples("jurado admin user delete anna"))
def delete_user(account: Annotated[str, typer.Argument(help="the account's id")]) -> None:
    """Delete an account that has submitted nothing, with its tokens."""
    delete(f"accounts/{account}")


@user.command(
    "import",
    epilog=examples(
        "jurado admin user import accounts.csv --make-passwords --passwords passwords.csv",
        "jurado admin user import accounts.yaml --dry-run",
    ),
)
def import_users(
    file: Import,
    make_passwords: MakePasswords = False,
    renew_passwords: RenewPasswords = False,
    passwords: PasswordFile = None,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import accounts from a file: all of them, or none and a list of what is wrong."""
    wish = wishes(make_passwords, renew_passwords, passwords, replace=replace, dry_run=dry_run)
    import_accounts(file, wish, passwords, as_json=as_json)


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
        rows = client.get("teams" if contest_id is None else f"contests/{contest_id}/teams")
        usernames: dict[str, list[str]] = {}
        for account in client.get("accounts"):
            usernames.setdefault(account["team_id"] or "", []).append(account["username"])
    if as_json:
        write_json([{**row, "accounts": usernames.get(row["id"], [])} for row in rows])
        return
    cells = [
        [
            row["id"],
            row["name"],
            " ".join(row["group_ids"]),
            row.get("organization_id"),
            ", ".join(word for word in ("hidden", "disqualified") if row.get(word)),
            " ".join(usernames.get(row["id"], [])),
        ]
        for row in rows
    ]
    show(table("", ["id", "name", "groups", "organization", "state", "accounts"], cells))


@team.command("add", epilog=examples("jurado admin team add red 'The Reds' --contest finals"))
def add_team(
    team_id: Annotated[str, typer.Argument(metavar="ID")],
    full_name: Annotated[str, typer.Argument(metavar="NAME")],
    contests: Annotated[list[str] | None, typer.Option("--contest", help="let it take part there")] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="not on boards, never BEST")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a team, and let it take part in contests."""
    with Client.open() as client:
        made = client.post("teams", {"id": team_id, "name": full_name, "hidden": hidden})
        for each in contests or []:
            client.post(f"contests/{each}/teams", {"team_ids": [team_id]})
    tell(f"team {made['id']} has been made", made, as_json=as_json)


@team.command("delete", epilog=examples("jurado admin team delete red"))
def delete_team(team_id: Annotated[str, typer.Argument(metavar="ID")]) -> None:
    """Delete a team without accounts and submissions."""
    delete(f"teams/{team_id}")


@team.command("import", epilog=examples("jurado admin team import teams.csv", "jurado admin team import teams.tsv"))
def import_teams(file: Import, replace: Replace = False, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Import teams from a file: all of them, or none and a list of what is wrong."""
    import_objects("teams", file, replace=replace, dry_run=dry_run, as_json=as_json)


@contest.command(
    "create",
    epilog=examples(
        "jurado admin contest create finals 'The finals' --start now --duration 5:00:00",
        "jurado admin contest create finals 'The finals' --start 2026-12-01T09:00:00+01:00 --freeze 1:00:00",
        "jurado admin contest create training Training --start now --duration 8760:00:00 --open-to-all "
        "--per 100/600 --team-bytes 256M",
    ),
)
def create_contest(
    contest_id: Annotated[str, typer.Argument(metavar="ID")],
    full_name: Annotated[str, typer.Argument(metavar="NAME")],
    start: Annotated[str | None, typer.Option(metavar="TIME", help="now, or a time with its zone")] = None,
    duration: Annotated[str, typer.Option(metavar="H:MM:SS")] = "5:00:00",
    freeze: Annotated[
        str | None, typer.Option(metavar="H:MM:SS", help="freeze the board so long before the end")
    ] = None,
    open_to_all: Annotated[bool, typer.Option("--open-to-all", help="every team takes part")] = False,
    most: Most = None,
    interval: Interval = None,
    per: Per = None,
    team_bytes: TeamBytes = None,
    as_json: AsJson = False,
) -> None:
    """Make a contest."""
    given = {
        "id": contest_id,
        "name": full_name,
        "start_time": datetime.now(UTC).isoformat(timespec="milliseconds") if start == "now" else start,
        "duration": duration,
        "scoreboard_freeze_duration": freeze,
        "open_to_all": open_to_all,
        "settings": settings_of(most, interval, per, team_bytes) or None,
    }
    with Client.open() as client:
        made = client.post("contests", known(given))
    tell(
        f"contest {made['id']} has been made; it starts {made['start_time'] or 'when you say so'}",
        made,
        as_json=as_json,
    )


@contest.command(
    "start", epilog=examples("jurado admin contest start finals", "jurado admin contest start finals --at TIME")
)
def start_contest(
    contest_id: ContestId,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="a time with its zone; default: in 35 seconds")] = None,
    as_json: AsJson = False,
) -> None:
    """Set when a contest starts, more than 30 seconds from now."""
    start = at or (datetime.now(UTC) + SOON).isoformat(timespec="milliseconds")
    with Client.open() as client:
        made = client.patch(f"contests/{contest_id}", {"id": contest_id, "start_time": start})
    tell(f"contest {contest_id} starts {made['start_time']}", made, as_json=as_json)


@contest.command(
    "add-problem",
    epilog=examples(
        "jurado admin contest add-problem finals comesolo",
        "jurado admin contest add-problem finals rollingballs --kind relative --counting last --carry best --label R",
    ),
)
def add_problem(
    contest_id: ContestId,
    problem: Annotated[str, typer.Argument(help="the problem's id")],
    label: Annotated[str | None, typer.Option(help="default: the next free letter")] = None,
    kind: Annotated[str | None, typer.Option(help="absolute, relative or rank")] = None,
    direction: Annotated[str | None, typer.Option(help="maximise or minimise")] = None,
    counting: Annotated[str | None, typer.Option(help="best-case, best or last")] = None,
    carry: Annotated[str | None, typer.Option(help="best, latest or none")] = None,
    max_points: Annotated[str | None, typer.Option(help="a number or a ratio such as 100/3")] = None,
    reference_counts: Annotated[
        bool, typer.Option("--reference-counts", help="the reference takes part in BEST")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a problem into a contest; the scoring left out is the problem's own."""
    rule = known({"kind": kind, "direction": direction, "counting": counting, "carry": carry, "max_points": max_points})
    if reference_counts:
        rule["reference_counts"] = True
    with Client.open() as client:
        made = client.post(f"contests/{contest_id}/problems", known({"id": problem, "label": label, "rule": rule}))
    tell(f"problem {problem} is {made['label']} in {contest_id}", made, as_json=as_json)


@contest.command("remove-problem", epilog=examples("jurado admin contest remove-problem finals comesolo"))
def remove_problem(
    contest_id: ContestId, problem: Annotated[str, typer.Argument(help="the problem's id or label")]
) -> None:
    """Take a problem nobody has submitted to out of a contest."""
    delete(f"contests/{contest_id}/problems/{problem}")


@contest.command("add-team", epilog=examples("jurado admin contest add-team finals red blue"))
def enrol(contest_id: ContestId, teams: Annotated[list[str], typer.Argument(metavar="TEAM...")]) -> None:
    """Let teams take part in a contest."""
    with Client.open() as client:
        there = client.post(f"contests/{contest_id}/teams", {"team_ids": teams})
    say(f"{len(there)} teams take part in {contest_id}")


@contest.command(
    "export", epilog=examples("jurado admin contest export finals", "jurado admin contest export finals -o f.zip")
)
def export_contest(
    contest_id: ContestId,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="default: CONTEST.zip")] = None,
) -> None:
    """Write a contest as a contest package: all that is in it, with its problems and what was submitted."""
    path = out or Path(f"{contest_id}.zip")
    with Client.open() as client:
        data = client.request("GET", f"/api/contests/{contest_id}/package.zip").content
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}", 1) from None
    say(f"{path}: {len(data)} bytes")
    for line in package_lines(data):
        say(line)


@contest.command(
    "import",
    epilog=examples(
        "jurado admin contest import finals.zip", "jurado admin contest import finals.zip --id rerun --replace"
    ),
)
def import_contest(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a contest package: a zip")],
    contest_id: Annotated[str | None, typer.Option("--id", help="the contest's id here, in place of its own")] = None,
    replace: Replace = False,
    submissions: Annotated[
        bool, typer.Option("--submissions/--no-submissions", help="also what was submitted; it is judged again")
    ] = True,
    problems: Annotated[str, typer.Option(help="of a problem that is another one here: version, refuse or here")] = (
        "version"
    ),
    any_board: Annotated[bool, typer.Option("--any-board", help="keep it also where its board comes out another")] = (
        False
    ),
    privileged: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="bring in this account of an admin or a judge too; repeatable"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring in a contest package with its problems, judge it and compare its board: all of it, or nothing and why."""
    data = read_file(file, "contest package")
    params: dict[str, Any] = {"id": contest_id, "replace": str(replace).lower(), "privileged": privileged or None}
    params |= {"submissions": str(submissions).lower(), "problems": problems, "board": "any" if any_board else "equal"}
    sent = {"content": data, "headers": {"Content-Type": "application/zip"}, "params": params, "timeout": SECONDS}
    with Client.open() as client:
        made = client.post("contests/import", **sent)
    lines = [f"contest {made['id']} has been brought in", *import_lines(made["imported"])]
    tell("\n".join(lines), made, as_json=as_json)


@contest.command("delete", epilog=examples("jurado admin contest delete finals"))
def delete_contest(contest_id: ContestId) -> None:
    """Delete a contest without submissions."""
    delete(f"contests/{contest_id}")


def known(given: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not given."""
    return {key: value for key, value in given.items() if value is not None}


def listing(path: str, columns: list[str], *, as_json: bool, title: str = "") -> None:
    """List a collection: as a table of some of its properties, or as it is."""
    with Client.open() as client:
        found = client.get(path)
    if as_json:
        write_json(found)
    elif not found:
        say(f"no {path.rpartition('/')[2]} yet")
    else:
        show(table(title, columns, [[each.get(column) for column in columns] for each in found]))


def delete(path: str) -> None:
    """Delete a resource and say so."""
    with Client.open() as client:
        made = client.delete(path)
    typer.echo(waiting(made) if waits(made) else f"{path} has been deleted")


def waits(made: object) -> bool:
    """Has the server made a rejudging of a change, because somebody would be judged otherwise by it?"""
    return isinstance(made, dict) and "selection" in made


def waiting(made: dict[str, Any]) -> str:
    """Say that a change waits as a rejudging, and how to go on."""
    place = f"{made['contest_id']} {made['id']}"
    return (
        f"there are submissions: the change waits as rejudging {made['id']} of {made['contest_id']}\n"
        f"next: jurado admin rejudging difference {place}, then jurado admin rejudging apply {place} (or cancel)"
    )
