"""`jurado admin user`: accounts.

- `jurado admin people`: class lists.
- `jurado login`, `logout` and `passwd`: a password is exchanged for a token, which is stored and revoked.
"""

import os
import socket
import sys
from typing import Annotated

import typer
from jurado_client.connection import named

from app.accounts.commands import imports
from app.core.commands import config, output
from app.core.commands.client import Client
from app.core.commands.registry import AsJson, Request, collection, command, deletion, keys

Server = Annotated[str, typer.Argument(metavar="URL", help="the server, such as http://127.0.0.1:8000")]
PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="read the password from stdin")]


@command("admin people import")
def import_people(
    file: imports.Import,
    contest: Annotated[str | None, typer.Option(metavar="ID", help="let their teams take part there")] = None,
    make_passwords: imports.MakePasswords = False,
    renew_passwords: imports.RenewPasswords = False,
    passwords: imports.PasswordFile = None,
    encoding: imports.Encoding = None,
    replace: imports.Replace = False,
    dry_run: imports.DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import a class list: all of it, or nothing and a list of what is wrong.

    A file for passwords asks for passwords too.

    Examples:
      jurado admin people import class.csv --dry-run
      jurado admin people import class.csv --contest finals --make-passwords
      jurado admin people import class.csv --contest finals --passwords passwords.csv
    """
    params = imports.import_params(
        make_passwords or passwords is not None, renew_passwords, replace=replace, dry_run=dry_run
    )
    query = {**params, "contest_id": contest}
    imports.import_file("people", file, query, as_json=as_json, encoding=encoding, passwords=passwords)


@command("login")
def login(
    url: Server,
    user: Annotated[str, typer.Argument(help="your username there")],
    password_stdin: PasswordStdin = False,
) -> None:
    """Log in to a server and keep its token (in ~/.config/jurado/config.toml, readable by you alone).

    The password is asked for, or taken from standard input or JURADO_PASSWORD; only the token is kept.

    Examples:
      jurado login http://127.0.0.1:8000 admin
      jurado login http://127.0.0.1:8000 admin --password-stdin < secret
    """
    server = config.cleaned(url)
    path = config.store_login(new_login(server, user, read_password(user, from_stdin=password_stdin)))
    output.say(f"logged in to {server} as {user}; the token is in {path}")


@command("logout")
def logout() -> None:
    """Forget the token, here and on the server.

    Examples:
      jurado logout
    """
    login = config.stored_login()
    if login is None:
        output.say("not logged in")
        return
    try:
        with Client(login) as client:
            client.delete(f"account/tokens/{login.token_id}")
    except output.Failure as error:
        output.say(f"the token is forgotten here, but the server did not revoke it: {error}")
    config.delete_login()
    output.say(f"logged out of {login.url}")


@command("passwd")
def passwd(
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="read the old and the new password from stdin, one a line")
    ] = False,
) -> None:
    """Change your password. Every other login of the account ends, with its token.

    Examples:
      jurado passwd
      jurado passwd --password-stdin < old-and-new.txt
    """
    with Client.open() as client:
        user = client.get("account")["username"]
        old = new_password(user, from_stdin=True) if password_stdin else read_password(user, from_stdin=False)
        new = new_password(user, from_stdin=password_stdin)
        client.patch("account", {"old_password": old, "password": new})
    output.say(f"{user} has a new password; its other tokens are revoked")


def new_password(user: str, *, from_stdin: bool) -> str:
    """Read a new password from standard input, or ask the person at the terminal for it twice."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if sys.stdin is None or not sys.stdin.isatty():
        raise output.Failure("expected a terminal to ask for the new password, or --password-stdin")
    return str(typer.prompt(f"New password of {user}", hide_input=True, confirmation_prompt=True, err=True))


def read_password(user: str, *, from_stdin: bool) -> str:
    """Read the password from standard input, JURADO_PASSWORD, or the person at the terminal."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if "JURADO_PASSWORD" in os.environ:
        return os.environ["JURADO_PASSWORD"]
    if sys.stdin is None or not sys.stdin.isatty():
        raise output.Failure("expected a terminal to ask for the password, --password-stdin or JURADO_PASSWORD")
    return str(typer.prompt(f"Password of {user}", hide_input=True, err=True))


def new_login(server: str, user: str, password: str) -> config.Login:
    """Make a token for the account."""
    with Client(config.Login(server), auth=(user, password)) as client:
        new = client.post("account/tokens", {"label": f"jurado on {socket.gethostname()}"})
    return config.Login(server, new["token"], user, new["id"])


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
    return collection(imports.of_contest("accounts", contest), keys("username type team_id name"))


@command("admin user add")
def add_user(
    username: Annotated[str, typer.Argument(help="to log in with")],
    kind: Annotated[str, typer.Option("--type", help="team, judge, admin, analyst or staff")] = "team",
    team_id: Annotated[str | None, typer.Option("--team", metavar="ID", help="the team it belongs to")] = None,
    full_name: Annotated[str | None, typer.Option("--name", help="the name shown")] = None,
    password_stdin: PasswordStdin = False,
) -> Request:
    """Make an account; its password is asked for, or taken from standard input or JURADO_PASSWORD.

    Examples:
      jurado admin user add anna --team red --password-stdin < secret
      jurado admin user add judge1 --type judge
    """
    password = read_password(username, from_stdin=password_stdin)
    given = {"username": username, "type": kind, "team_id": team_id, "name": full_name, "password": password}
    return Request("POST", "accounts", lambda made: f"account {made['id']} has been created", named(given))


@command("admin user password")
def renew_password(account: Annotated[str, typer.Argument(help="the account's id")]) -> Request:
    """Give an account another password, shown once; every login of the account ends.

    Examples:
      jurado admin user password anna
    """
    return Request(
        "POST",
        f"accounts/{account}/password",
        lambda made: f"the new password of {made['username']} is {made['password']}",
    )


@command("admin user delete")
def delete_user(account: Annotated[str, typer.Argument(help="the account's id")]) -> Request:
    """Delete an account that has submitted nothing, with its tokens.

    Examples:
      jurado admin user delete anna
    """
    return deletion(f"accounts/{account}")


@command("admin user import")
def import_users(
    file: imports.Import,
    make_passwords: imports.MakePasswords = False,
    renew_passwords: imports.RenewPasswords = False,
    passwords: imports.PasswordFile = None,
    encoding: imports.Encoding = None,
    replace: imports.Replace = False,
    dry_run: imports.DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Import accounts from a file: all of them, or none and a list of what is wrong.

    A file for passwords asks for passwords too. Owners of contests import accounts of teams made for these.

    Examples:
      jurado admin user import accounts.csv --make-passwords --passwords passwords.csv
      jurado admin user import accounts.yaml --dry-run
    """
    params = imports.import_params(
        make_passwords or passwords is not None, renew_passwords, replace=replace, dry_run=dry_run
    )
    imports.import_file("accounts", file, params, as_json=as_json, encoding=encoding, passwords=passwords)
