"""Import files of accounts, teams and people, and keep the passwords made for them.

- Tables of what an import has made and changed, or would.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated

import typer
from jurado_client.connection import Param
from rich.table import Table

from app.core.commands.client import Client
from app.core.commands.config import new_secret_file
from app.core.commands.output import Failure, Json, JsonMapping, read_file, report, say, show, table
from app.core.csv_tables import PASSWORD_COLUMNS, csv_text


def class_list_tables(imported: JsonMapping) -> list[Table]:
    """The accounts of a class list, and the teams, organizations and groups that are new or change."""
    people = [
        [each["where"], each["username"], each["name"], each["team"], each["account"], changes_text(each["changes"])]
        for each in imported["people"]
    ]
    tables = [table("accounts", ["where", "username", "name", "team", "account", "changes"], people)]
    others = [[kind, id_, "made"] for kind in ("teams", "organizations", "groups") for id_ in imported[kind]]
    others += [["teams", id_, "changed"] for id_ in imported["changed_teams"]]
    if others:
        tables.append(table("teams, organizations and groups", ["kind", "id", ""], others))
    return tables


def changes_text(changes: Sequence[JsonMapping]) -> str:
    """Write changes as `team: red → blue`; a secret is only named."""
    return "; ".join(
        each["property"]
        if each["before"] is None and each["after"] is None
        else f"{each['property']}: {each['before'] or 'nothing'} → {each['after'] or 'nothing'}"
        for each in changes
    )


TYPES = {
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".csv": "text/csv",
    ".tsv": "text/tsv",
    ".txt": "text/csv",
}
TABLES = frozenset({"text/csv", "text/tsv"})
# Thousands of passwords take minutes to hash.
SECONDS = 600.0
Import = Annotated[Path, typer.Argument(metavar="FILE", help="a .csv, .tsv, .json or .yaml")]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="of a table in another encoding than UTF-8 and UTF-16, such as windows-1252 or macintosh"
    ),
]
ForContest = Annotated[
    str | None, typer.Option("--contest", metavar="ID", help="the contest they are for; its owners may change them")
]
Replace = Annotated[bool, typer.Option("--replace", help="replace existing ones")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="only show what would be made and changed, or what is wrong")]
MakePasswords = Annotated[
    bool, typer.Option("--make-passwords", help="let the server make a password for each account without one")
]
RenewPasswords = Annotated[
    bool, typer.Option("--renew-passwords", help="new passwords also for accounts that have one, which ends with it")
]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--passwords", metavar="FILE", help="write made passwords to this new CSV file, for you alone"),
]


def import_file(
    path: str,
    file: Path,
    params: Mapping[str, Param],
    *,
    as_json: bool,
    encoding: str | None = None,
    passwords: Path | None = None,
) -> None:
    """Send a file to a collection, and print what it made with the passwords, or write these to a file."""
    is_class_list, dry_run = path == "people", "dry_run" in params
    with new_secret_file(passwords) as target:  # made before anything is sent, so that no password is lost
        document = send(path, file, params, encoding)
        rows = document["people"] if is_class_list else document if isinstance(document, list) else [document]
        shared = take_passwords(target, rows)
    if dry_run and is_class_list and not as_json:
        show(*class_list_tables(document))
    shown = {**document, "people": shared} if is_class_list else shared if isinstance(document, list) else shared[0]
    what = class_list_text(document) if is_class_list else f"{len(rows)} {path.rpartition('/')[2]}"
    report(f"{what} {'would be' if dry_run else 'have been'} imported", shown, as_json=as_json)
    with_password = [account for account in rows if "password" in account]
    if with_password and passwords is not None:
        say(f"{len(with_password)} passwords are in {passwords}; no one can read them from the server again")
    elif with_password and not as_json:
        show(table("", PASSWORD_COLUMNS, [password_cells(account) for account in with_password]))
        say("these passwords are shown this once: the server keeps only hashes of them")
    without = sum(not account.get("has_password", True) for account in rows)
    if without and not dry_run:
        say(f"{without} accounts have no password and cannot log in; --make-passwords makes them")


def class_list_text(imported: JsonMapping) -> str:
    """Count the accounts of a class list by what became of them, and what else is new or changed."""
    rows = imported["people"]
    states = [sum(row["account"] == state for row in rows) for state in ("made", "changed", "unchanged")]
    counts = [f"{len(rows)} accounts ({states[0]} made, {states[1]} changed, {states[2]} as they were)"]
    counts += [f"{len(ids)} new {name}" for name in ("teams", "organizations", "groups") if (ids := imported[name])]
    counts += [f"{len(changed)} changed teams"] if (changed := imported["changed_teams"]) else []
    return ", ".join(counts)


def import_params(make: bool = False, renew: bool = False, **more: bool) -> dict[str, Param]:
    """Give the query of an import: the options that were chosen."""
    chosen = {"generate_passwords": make, "renew_passwords": renew, **more}
    return {name: "true" for name, is_chosen in chosen.items() if is_chosen}


def of_contest(path: str, contest: str | None) -> str:
    """The address of a collection: a contest's, or the server's, which only its admins and judges may read."""
    return path if contest is None else f"contests/{contest}/{path}"


def send(path: str, file: Path, params: Mapping[str, Param], encoding: str | None) -> Json:
    """Send a file to a collection; its name tells its format."""
    kind = TYPES.get(file.suffix.lower())
    if kind is None:
        raise Failure(f"{file}: expected a name that ends with {', '.join(TYPES)}")
    if encoding is not None and kind not in TABLES:
        raise Failure(f"--encoding: expected a table, as JSON and YAML are UTF-8, found {file}")
    data = read_file(file, "file")
    headers = {"Content-Type": kind if encoding is None else f"{kind}; charset={encoding}"}
    with Client.open() as client:
        return client.post(path, content=data, headers=headers, params=params, timeout=SECONDS)


def take_passwords(target: IO[str] | None, accounts: Sequence[JsonMapping]) -> list[Mapping[str, object]]:
    """Write the passwords of accounts to a file; returns the accounts without them, or as they are without a file."""
    if target is None:
        return list(accounts)
    if with_password := [account for account in accounts if "password" in account]:
        target.write(csv_text(PASSWORD_COLUMNS, map(password_cells, with_password)))
    return [{name: value for name, value in account.items() if name != "password"} for account in accounts]


def password_cells(account: JsonMapping) -> list[str]:
    """Give the cells of an account whose password was made."""
    team = account.get("team") or account["team_id"] or ""
    return [account["username"], account["password"], account["name"], team]
