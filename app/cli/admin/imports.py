"""`jurado admin ... import`: files of accounts, teams and people, and the passwords made for them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import typer

from app.cli.client import Client, Param, Shape, checked
from app.cli.names import read_file
from app.cli.options import AsJson
from app.cli.output import Failure, examples, report, say, show, table
from app.cli.resources.people import ClassList, NewAccount

people = typer.Typer(no_args_is_help=True, help="Class lists: accounts with their teams in one step.")
TYPES = {
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".csv": "text/csv",
    ".tsv": "text/tsv",
}
PASSWORD_COLUMNS = ["username", "password", "name", "team"]
FORMULA = ("=", "+", "-", "@", "\t", "\r")
SECONDS = 600.0
"""Thousands of passwords take minutes to hash."""
Import = Annotated[Path, typer.Argument(metavar="FILE", help="a .csv, .tsv, .json or .yaml")]
Replace = Annotated[bool, typer.Option("--replace", help="replace those that are there already")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="only say what would happen, or what is wrong")]
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


@people.command(
    "import",
    epilog=examples(
        "jurado admin people import class.csv --dry-run",
        "jurado admin people import class.csv --contest finals --make-passwords",
        "jurado admin people import class.csv --make-passwords --passwords passwords.csv",
    ),
)
def import_people(
    file: Import,
    contest: Annotated[str | None, typer.Option(metavar="ID", help="let their teams take part there")] = None,
    make_passwords: MakePasswords = False,
    renew_passwords: RenewPasswords = False,
    passwords: PasswordFile = None,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import a class list: all of it, or nothing and a list of what is wrong."""
    params = import_params(make_passwords, renew_passwords, passwords, replace=replace, dry_run=dry_run)
    with PasswordWriter(passwords) as writer:
        imported = send("people", file, {**params, "contest_id": contest}, ClassList)
        rows = imported["people"]
        shown = {**imported, "people": writer.take(rows)}
    new = (("teams", imported["teams"]), ("organizations", imported["organizations"]), ("groups", imported["groups"]))
    counts = [f"{len(ids)} new {name}" for name, ids in new if ids]
    states = [sum(row["account"] == state for row in rows) for state in ("made", "changed", "unchanged")]
    text = f"{len(rows)} accounts ({states[0]} made, {states[1]} changed, {states[2]} as they were)"
    report_import(", ".join([text, *counts]), shown, rows, file=passwords, dry_run=dry_run, as_json=as_json)


def import_accounts(file: Path, params: Mapping[str, Param], passwords: Path | None, *, as_json: bool) -> None:
    """Import accounts, and print the passwords made for them or write them to a file."""
    with PasswordWriter(passwords) as writer:
        document = send("accounts", file, params)
        rows = checked(document if isinstance(document, list) else [document], list[NewAccount])
        shown = writer.take(rows)
    dry_run = "dry_run" in params
    report_import(f"{len(rows)} accounts", shown, rows, file=passwords, dry_run=dry_run, as_json=as_json)


def import_objects(path: str, file: Path, *, replace: bool, dry_run: bool, as_json: bool) -> None:
    """Send a file of objects, in the format its name tells."""
    document = send(path, file, import_params(replace=replace, dry_run=dry_run))
    count = len(document) if isinstance(document, list) else 1
    report(f"{count} {path} {would(dry_run)} imported", document, as_json=as_json)


def import_params(make: bool = False, renew: bool = False, file: Path | None = None, **more: bool) -> dict[str, Param]:
    """Give the query of an import: the options that were chosen; a file for passwords asks for passwords too."""
    chosen = {"generate_passwords": make or file is not None, "renew_passwords": renew, **more}
    return {name: "true" for name, is_chosen in chosen.items() if is_chosen}


def send(path: str, file: Path, params: Mapping[str, Param], shape: type[Shape] | None = None) -> Shape:
    """Send a file to a collection; its name tells its format."""
    kind = TYPES.get(file.suffix.lower())
    if kind is None:
        raise Failure(f"{file}: expected a name that ends with {', '.join(TYPES)}")
    data = read_file(file, "file")
    headers = {"Content-Type": kind}
    with Client.open() as client:
        return client.post(path, shape=shape, content=data, headers=headers, params=params, timeout=SECONDS)


class PasswordWriter:
    """Writes passwords to a new file, made before anything is sent, so that none is lost; removed if none is written.

    Without a path the passwords stay where they are.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._written = False

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                raise Failure(f"{self._path}: expected a new file, found one that is there already") from None
            except OSError as error:
                raise Failure(f"{self._path}: {error.strerror or error}", 1) from None
        return self

    def __exit__(self, *_error: object) -> None:
        if self._path is None:
            return
        os.close(self._file)
        if not self._written:
            self._path.unlink()

    def take(self, accounts: Sequence[NewAccount]) -> list[Mapping[str, object]]:
        """Write the passwords of some accounts; returns the accounts without them, or as they are without a file."""
        if self._path is None:
            return list(accounts)
        if with_password := [account for account in accounts if "password" in account]:
            self._written = True
            os.write(self._file, as_csv(with_password).encode())
        return [{name: value for name, value in account.items() if name != "password"} for account in accounts]


def as_csv(accounts: Sequence[NewAccount]) -> str:
    """Write usernames and passwords as CSV; names that a spreadsheet would run as a formula are quoted for it."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(PASSWORD_COLUMNS)
    for account in accounts:
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in password_cells(account)])
    return stream.getvalue()


def password_cells(account: NewAccount) -> list[str]:
    """Give the cells of an account whose password was made."""
    team = account.get("team") or account["team_id"] or ""
    return [account["username"], account["password"], account["name"], team]


def report_import(
    text: str, document: object, accounts: Sequence[NewAccount], *, file: Path | None, dry_run: bool, as_json: bool
) -> None:
    """Print what an import did; passwords come as a table, unless they are in a file or in the JSON."""
    report(f"{text} {would(dry_run)} imported", document, as_json=as_json)
    with_password = [account for account in accounts if "password" in account]
    if with_password and file is not None:
        say(f"{len(with_password)} passwords are in {file}; nobody can read them from the server again")
    elif with_password and not as_json:
        show(table("", PASSWORD_COLUMNS, [password_cells(account) for account in with_password]))
        say("these passwords are shown this once: the server keeps only hashes of them")
    without = sum(not account.get("has_password", True) for account in accounts)
    if without and not dry_run:
        say(f"{without} accounts have no password and cannot log in; --make-passwords makes them")


def would(dry_run: bool) -> str:
    """Give the verb of what has been done, or would be."""
    return "would be" if dry_run else "have been"
