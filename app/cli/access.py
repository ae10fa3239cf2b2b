"""`jurado login`, `logout`, `passwd` and `tokens`: from a password to a token that is kept, and back."""

from __future__ import annotations

import os
import socket
import sys
from typing import Annotated, Any
from urllib.parse import quote

import typer

from app.cli.client import Client
from app.cli.config import Login, cleaned, forget_login, keep_login, kept_login
from app.cli.output import Failure, say, show, table, write_json
from app.cli.solve import AsJson


def login(
    url: Annotated[str, typer.Argument(help="the server, such as http://127.0.0.1:8000")],
    user: Annotated[str, typer.Argument(help="your username there")],
    password_stdin: Annotated[bool, typer.Option("--password-stdin", help="read the password from stdin")] = False,
) -> None:
    """Log in to a server and keep its token (in ~/.config/jurado/config.toml, readable by you alone).

    The password is asked for, or taken from standard input or JURADO_PASSWORD; it is not kept.
    """
    server = cleaned(url)
    path = keep_login(new_login(server, user, read_password(user, from_stdin=password_stdin)))
    say(f"logged in to {server} as {user}; the token is in {path}")


def logout() -> None:
    """Forget the token, here and on the server."""
    kept = kept_login()
    if kept is None:
        say("not logged in")
        return
    try:
        with Client(kept) as client:
            client.delete(f"account/tokens/{kept.token_id}")
    except Failure as error:
        say(f"the token is forgotten here, but the server did not take it back: {error}")
    forget_login()
    say(f"logged out of {kept.url}")


def passwd(
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="read the old and the new password from stdin, one a line")
    ] = False,
    keep_tokens: Annotated[
        bool, typer.Option("--keep-tokens", help="leave the other tokens of the account as they are")
    ] = False,
) -> None:
    """Change your password. Whatever else is logged in with the old one, or with another token, is logged out."""
    with Client.open() as client:
        user = client.get("account")["username"]
        old = sys.stdin.readline().rstrip("\r\n") if password_stdin else read_password(user, from_stdin=False)
        new = sys.stdin.readline().rstrip("\r\n") if password_stdin else _new_password(user)
        client.patch("account", {"old_password": old, "password": new, "keep_tokens": keep_tokens})
    say(f"{user} has another password" + ("" if keep_tokens else "; other tokens of the account are taken back"))


def tokens(
    revoke: Annotated[
        list[str] | None, typer.Option("--revoke", metavar="ID", help="take this one back; may be given several times")
    ] = None,
    others: Annotated[bool, typer.Option("--revoke-others", help="take back all but the one in use here")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tokens of your account: every login and program that has one, and when it was last used."""
    with Client.open() as client:
        for token_id in revoke or []:
            client.delete(f"account/tokens/{quote(token_id, safe='')}")
            say(f"took back the token {token_id}")
        if others:
            client.request("DELETE", "/api/account/tokens", params={"others": "true"})
            say("took back all other tokens")
        listed = client.get("account/tokens")
    if as_json:
        write_json(listed)
        return
    columns = ["id", "label", "made", "last used", "ends", ""]
    show(table("", columns, [_token_cells(token) for token in listed]))


def _token_cells(token: dict[str, Any]) -> tuple[str, ...]:
    used, ends = token["last_used"] or "never", token["expires"] or "never"
    return token["id"], token["label"], token["created"], used, ends, "in use here" if token["current"] else ""


def _new_password(user: str) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        raise Failure("expected a terminal to ask for the new password, or --password-stdin")
    return str(typer.prompt(f"New password of {user}", hide_input=True, confirmation_prompt=True, err=True))


def read_password(user: str, *, from_stdin: bool) -> str:
    """Take the password from standard input, JURADO_PASSWORD, or the person at the terminal."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if "JURADO_PASSWORD" in os.environ:
        return os.environ["JURADO_PASSWORD"]
    if sys.stdin is None or not sys.stdin.isatty():
        raise Failure("expected a terminal to ask for the password, --password-stdin or JURADO_PASSWORD")
    return str(typer.prompt(f"Password of {user}", hide_input=True, err=True))


def new_login(server: str, user: str, password: str) -> Login:
    """Get a token for the account."""
    with Client(Login(server), auth=(user, password)) as client:
        made = client.post("account/tokens", {"label": f"jurado on {socket.gethostname()}"})
    return Login(server, made["token"], user, made["id"])
