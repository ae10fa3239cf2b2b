"""Imports of the admin's client: files of accounts, teams and people, and the passwords that are made for them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.client import Client
from app.cli.names import read_file
from app.cli.output import Failure, examples, say, show, table, tell
from app.cli.solve import AsJson

people = typer.Typer(no_args_is_help=True, help="Class lists: accounts with their teams in one step.")
TYPES = {
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".csv": "text/csv",
    ".tsv": "text/tsv",
}
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
    wish = wishes(make_passwords, renew_passwords, passwords, replace=replace, dry_run=dry_run)
    with kept_passwords(passwords) as keep:
        made = send("people", file, {**wish, "contest_id": contest})
        rows = made["people"]
        shown = {**made, "people": keep(rows)}
    counts = [f"{len(made[name])} new {name}" for name in ("teams", "organizations", "groups") if made[name]]
    states = [sum(row["account"] == state for row in rows) for state in ("made", "changed", "unchanged")]
    text = f"{len(rows)} accounts ({states[0]} made, {states[1]} changed, {states[2]} as they were)"
    report(", ".join([text, *counts]), shown, rows, file=passwords, dry_run=dry_run, as_json=as_json)


def import_accounts(file: Path, wish: Mapping[str, Any], passwords: Path | None, *, as_json: bool) -> None:
    """Import accounts and print or keep the passwords made for them."""
    with kept_passwords(passwords) as keep:
        made = send("accounts", file, wish)
        rows = made if isinstance(made, list) else [made]
        shown = keep(rows)
    report(f"{len(rows)} accounts", shown, rows, file=passwords, dry_run="dry_run" in wish, as_json=as_json)


def import_objects(path: str, file: Path, *, replace: bool, dry_run: bool, as_json: bool) -> None:
    """Send a file of objects, in the format its name tells."""
    made = send(path, file, wishes(replace=replace, dry_run=dry_run))
    count = len(made) if isinstance(made, list) else 1
    tell(f"{count} {path} {would(dry_run)} imported", made, as_json=as_json)


def wishes(make: bool = False, renew: bool = False, file: Path | None = None, **more: bool) -> dict[str, str]:
    """What a request is to ask for; a file for passwords asks for passwords too."""
    named = {"generate_passwords": make or file is not None, "renew_passwords": renew, **more}
    return {name: "true" for name, wanted in named.items() if wanted}


def send(path: str, file: Path, params: Mapping[str, Any]) -> Any:
    """Send a file to a collection; its name tells its format."""
    kind = TYPES.get(file.suffix.lower())
    if kind is None:
        raise Failure(f"{file}: expected a name that ends with {', '.join(TYPES)}")
    data = read_file(file, "file")
    with Client.open() as client:
        return client.post(path, content=data, headers={"Content-Type": kind}, params=params, timeout=SECONDS)


class kept_passwords:
    """A new file for passwords, made before anything is sent, so that none is lost; gone if nothing is in it."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._written = False

    def __enter__(self) -> Any:
        if self._path is not None:
            try:
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                raise Failure(f"{self._path}: expected a new file, found one that is there already") from None
            except OSError as error:
                raise Failure(f"{self._path}: {error.strerror or error}", 1) from None
        return self._keep

    def __exit__(self, *_error: object) -> None:
        if self._path is None:
            return
        os.close(self._file)
        if not self._written:
            self._path.unlink()

    def _keep(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Write the passwords of some rows; returns the rows without them, or as they are if there is no file."""
        made = [row for row in rows if "password" in row]
        if self._path is None:
            return list(rows)
        if made:
            self._written = True
            os.write(self._file, as_csv(made).encode())
        return [{name: value for name, value in row.items() if name != "password"} for row in rows]


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Usernames and passwords as CSV; names that a spreadsheet would run as a formula are quoted for it."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["username", "password", "name", "team"])
    for row in rows:
        cells = [row["username"], row["password"], row["name"], row.get("team") or row["team_id"] or ""]
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells])
    return stream.getvalue()


def report(
    text: str, made: object, rows: Sequence[Mapping[str, Any]], *, file: Path | None, dry_run: bool, as_json: bool
) -> None:
    """Say what an import did; passwords come as a table, unless they are in a file or in the JSON."""
    tell(f"{text} {would(dry_run)} imported", made, as_json=as_json)
    secrets = [row for row in rows if "password" in row]
    if secrets and file is not None:
        say(f"{len(secrets)} passwords are in {file}; nobody can read them from the server again")
    elif secrets and not as_json:
        cells = [[row["username"], row["password"], row["name"], row.get("team") or row["team_id"]] for row in secrets]
        show(table("", ["username", "password", "name", "team"], cells))
        say("these passwords are shown this once: the server keeps only hashes of them")
    without = sum(not row.get("has_password", True) for row in rows)
    if without and not dry_run:
        say(f"{without} accounts have no password and cannot log in; --make-passwords makes them")


def would(dry_run: bool) -> str:
    """The verb of what is done, or would be."""
    return "would be" if dry_run else "have been"
