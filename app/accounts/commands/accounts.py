"""`jurado admin user`: accounts."""

from __future__ import annotations

from collections.abc import Mapping
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
from app.core.commands.client import without_none
from app.core.commands.config import current_login
from app.core.commands.options import AsJson
from app.core.commands.registry import command
from app.core.commands.requests import Request, collection, deletion, keys

InContest = Annotated[
    str | None, typer.Option("--contest", metavar="ID", help="only those of this contest, which its owners may see")
]


@command("admin user list")
def list_users(contest: InContest = None) -> Request:
    """List all accounts, or a contest's.

    Examples:
      jurado admin user list
      jurado admin user list --contest finals --json
    """
    return collection(of_contest("accounts", contest), keys("username type team_id name"))


@command("admin user add")
def add_user(
    username: Annotated[str, typer.Argument(help="to log in with")],
    kind: Annotated[str, typer.Option("--type", help="team, judge, admin, analyst or staff")] = "team",
    team_id: Annotated[str | None, typer.Option("--team", metavar="ID", help="the team it belongs to")] = None,
    full_name: Annotated[str | None, typer.Option("--name", help="the name shown")] = None,
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="read the password from stdin")] = False,
) -> Request:
    """Make an account; its password is asked for, or taken from standard input or JURADO_PASSWORD.

    Examples:
      jurado admin user add anna --team red --password-stdin < secret
      jurado admin user add judge1 --type judge
    """
    password = read_password(username, from_stdin=password_stdin)
    given = {"username": username, "type": kind, "team_id": team_id, "name": full_name, "password": password}
    return Request("POST", "accounts", lambda made: f"account {made['id']} has been created", without_none(given))


@command("admin user password")
def reset_user_password(
    account: Annotated[str, typer.Argument(help="the account's id")],
    one_time: Annotated[
        bool, typer.Option("--one-time", help="make a code with which its owner sets a password, in place of one")
    ] = False,
    hours: Annotated[int, typer.Option(metavar="N", help="how long that code is valid, at most 168 hours")] = 24,
) -> Request:
    """Give an account another password, or a code with which its owner sets one; either is shown once.

    A new password ends every login of the account; with a code that comes only once it is used.

    Examples:
      jurado admin user password anna
      jurado admin user password anna --one-time --hours 24
    """
    if one_time:
        return Request("POST", f"accounts/{account}/password-reset", _code_text, {"hours": hours})
    return Request(
        "POST",
        f"accounts/{account}/password",
        lambda made: f"the new password of {made['username']} is {made['password']}",
    )


def _code_text(reset: Mapping[str, str]) -> str:
    url, username, code = current_login().url, reset["username"], reset["code"]
    link = f"{url}/reset-password?{urlencode({'username': username, 'code': code})}"
    command_line = f"jurado reset-password {url} {username} --code {code}"
    return f"works once, until {reset['expires']}: {command_line}\nlink: {link}"


@command("admin user delete")
def delete_user(account: Annotated[str, typer.Argument(help="the account's id")]) -> Request:
    """Delete an account that has submitted nothing, with its tokens.

    Examples:
      jurado admin user delete anna
    """
    return deletion(f"accounts/{account}")


@command("admin user import")
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

    Examples:
      jurado admin user import accounts.csv --make-passwords --passwords passwords.csv
      jurado admin user import accounts.yaml --dry-run
    """
    target = Passwords(passwords, cards, title)
    params = import_params(make_passwords or target.to_files, renew_passwords, replace=replace, dry_run=dry_run)
    import_accounts(file, params, target, encoding=encoding, as_json=as_json, contest=contest)
