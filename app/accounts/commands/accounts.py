"""`jurado admin user`: accounts."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

import typer

from app.accounts.commands.access import read_password
from app.accounts.commands.imports import (
    CardsFile,
    DryRun,
    Encoding,
    Import,
    MakePasswords,
    PasswordFile,
    Passwords,
    RenewPasswords,
    Replace,
    Title,
    import_accounts,
    import_params,
    of_contest,
)
from app.core.commands.client import Client, without_none
from app.core.commands.options import AsJson
from app.core.commands.output import examples, report
from app.core.commands.requests import delete, listing
from app.core.commands.resources.people import Identified
from app.core.commands.resources.registration import MadePassword, MadeReset

InContest = Annotated[
    str | None, typer.Option("--contest", metavar="ID", help="only those of this contest, which its owners may see")
]

user = typer.Typer(no_args_is_help=True, help="Accounts: who may log in.")


@user.command("list", epilog=examples("jurado admin user list", "jurado admin user list --contest finals --json"))
def list_users(contest: InContest = None, as_json: AsJson = False) -> None:
    """List all accounts, or a contest's."""
    listing(of_contest("accounts", contest), ["username", "type", "team_id", "name"], as_json=as_json)


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
        account = client.post("accounts", without_none(given), Identified)
    report(f"account {account['id']} has been made", account, as_json=as_json)


@user.command(
    "password",
    epilog=examples("jurado admin user password anna", "jurado admin user password anna --one-time --hours 24"),
)
def reset_user_password(
    account: Annotated[str, typer.Argument(help="the account's id")],
    one_time: Annotated[
        bool, typer.Option("--one-time", help="make a code with which its owner sets a password, in place of one")
    ] = False,
    hours: Annotated[int, typer.Option(metavar="N", help="how long that code is valid, at most 168 hours")] = 24,
    as_json: AsJson = False,
) -> None:
    """Give an account another password, or a code with which its owner sets one; either is shown once.

    A new password ends every login of the account; with a code that comes only once it is used.
    """
    with Client.open() as client:
        if one_time:
            reset = client.post(f"accounts/{account}/password-reset", {"hours": hours}, MadeReset)
            command = f"jurado reset-password {client.url} {reset['username']} --code {reset['code']}"
            link = f"{client.url}/reset-password?{urlencode({'username': reset['username'], 'code': reset['code']})}"
            report(f"good once, until {reset['expires']}: {command}\nlink: {link}", reset, as_json=as_json)
            return
        made = client.post(f"accounts/{account}/password", None, MadePassword)
    report(f"the new password of {made['username']} is {made['password']}", made, as_json=as_json)


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
    cards: CardsFile = None,
    title: Title = "Jurado",
    encoding: Encoding = None,
    replace: Replace = False,
    dry_run: DryRun = False,
    contest: InContest = None,
    as_json: AsJson = False,
) -> None:
    """Import accounts from a file: all of them, or none and a list of what is wrong.

    A file for passwords or cards asks for passwords too. Owners of contests import accounts of teams made for these.
    """
    target = Passwords(passwords, cards, title)
    params = import_params(make_passwords or target.to_files, renew_passwords, replace=replace, dry_run=dry_run)
    import_accounts(file, params, target, encoding=encoding, as_json=as_json, contest=contest)
