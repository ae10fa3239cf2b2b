"""`jurado register` and `jurado reset-password`: an account of one's own, and a new password with a code."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from app.core.commands.client import Client, without_none
from app.core.commands.config import Login, cleaned
from app.core.commands.options import Contest
from app.core.commands.output import Failure
from app.core.commands.registry import command
from app.core.commands.requests import Shown

Server = Annotated[str, typer.Argument(metavar="URL", help="the server, such as http://127.0.0.1:8000")]
PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="read the password from stdin")]


@command("register")
def register(
    url: Server,
    contest: Contest,
    code: Annotated[str, typer.Option(help="the contest's code, which its organisers hand out")],
    name: Annotated[str, typer.Option(help="your name")],
    email: Annotated[str, typer.Option(help="only judges see it")],
    team: Annotated[str | None, typer.Option(help="the name of a new team; default: your name")] = None,
    team_code: Annotated[str | None, typer.Option(metavar="CODE", help="join the team whose code this is")] = None,
    username: Annotated[str | None, typer.Option(help="to log in with; default: made of your name")] = None,
    password_stdin: PasswordStdin = False,
) -> Shown:
    """Register for a contest that lets people do so, and choose a password.

    Examples:
      jurado register https://jurado.example finals --code k7fmq-2xwrt --name 'Ana Pérez' --email ana@example.org
    """
    given = {"code": code, "name": name, "email": email, "team": team, "team_code": team_code, "username": username}
    password = new_password(name, from_stdin=password_stdin)
    with Client(Login(cleaned(url))) as client:
        made = client.post(f"contests/{contest}/registrations", {**without_none(given), "password": password})
    text = f"registered as {made['username']}, in the team {made['team']}"
    if made["team_code"] is not None:
        text += f"\nothers join it with --team-code {made['team_code']}"
    return Shown(made, f"{text}\nnext: jurado login {cleaned(url)} {made['username']}")


@command("reset-password")
def reset_password(
    url: Server,
    user: Annotated[str, typer.Argument(help="your username there")],
    code: Annotated[str, typer.Option(help="the code that an admin gave you; it is good once")],
    password_stdin: PasswordStdin = False,
) -> Shown:
    """Set a new password with a code. Every login of the account ends, with its token.

    Examples:
      jurado reset-password https://jurado.example ana --code k7fmq-2xwrt-hn9bd
    """
    password = new_password(user, from_stdin=password_stdin)
    with Client(Login(cleaned(url))) as client:
        account = client.post("account/password-reset", {"username": user, "code": code, "password": password})
    return Shown(account, f"{user} has a new password; next: jurado login {cleaned(url)} {user}")


def new_password(user: str, *, from_stdin: bool) -> str:
    """Read a new password from standard input, or ask the person at the terminal for it twice."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if sys.stdin is None or not sys.stdin.isatty():
        raise Failure("expected a terminal to ask for the new password, or --password-stdin")
    return str(typer.prompt(f"New password of {user}", hide_input=True, confirmation_prompt=True, err=True))
