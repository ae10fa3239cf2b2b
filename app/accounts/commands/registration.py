"""`jurado admin registration`: people who register for a contest by themselves, with a code and up to a cap.

- `jurado register`: an account of one's own.
- `jurado admin audit`: who changed what.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

import typer
from pydantic import JsonValue

from app.accounts.commands.accounts import new_password
from app.core.commands import config, output
from app.core.commands.client import Client, without_none
from app.core.commands.registry import Cell, Contest, Request, Shown, Table, command, keys

NONE = "none"
Most = Annotated[int | None, typer.Option("--most", metavar="N", help="accounts that may register in all")]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="from then on nobody registers, such as 2026-12-01T12:00:00Z; or none"),
]
TeamSize = Annotated[int | None, typer.Option("--team-size", metavar="N", help="accounts a registered team may have")]
Group = Annotated[str | None, typer.Option("--group", metavar="ID", help="the group of registered teams; or none")]


@command("admin registration show")
def show_terms(contest: Contest) -> Request:
    """Show whether people may register, the code, and how many places are taken.

    Examples:
      jurado admin registration show finals
    """
    return Request("GET", f"contests/{contest}/registration", terms_text(contest))


@command("admin registration open")
def open_registration(
    contest: Contest,
    most: Most = None,
    until: Until = None,
    team_size: TeamSize = None,
    group: Group = None,
) -> Request:
    """Let people register, or change the terms while they may. Prints the code to hand out.

    Examples:
      jurado admin registration open finals --most 40
      jurado admin registration open finals --most 40 --until 2026-12-01T12:00:00Z --team-size 3
    """
    change = without_none({"most": most, "until": until and moment(until), "team_size": team_size, "group_id": group})
    return change_terms(
        contest, {"open": True, **{name: None if value == NONE else value for name, value in change.items()}}
    )


@command("admin registration close")
def close_registration(contest: Contest) -> Request:
    """Close registration. The accounts, the code and the terms stay.

    Examples:
      jurado admin registration close finals
    """
    return change_terms(contest, {"open": False})


@command("admin registration new-code")
def renew_code(contest: Contest) -> Request:
    """Replace the code; the old one stops working.

    Examples:
      jurado admin registration new-code finals
    """
    return Request("POST", f"contests/{contest}/registration/code", terms_text(contest))


@command("admin registration list")
def list_registered(contest: Contest) -> Request:
    """List who has registered, the first one first.

    Examples:
      jurado admin registration list finals --json
    """
    return Request(
        "GET",
        f"contests/{contest}/registrations",
        Table(keys("time username name team email"), empty="no one has registered yet"),
    )


def change_terms(contest: str, change: Mapping[str, object]) -> Request:
    """Change the terms of a contest and print them."""
    return Request("PATCH", f"contests/{contest}/registration", terms_text(contest), change)


def moment(text: str) -> str:
    """Check that a text is `none` or a time with its zone; raises Failure."""
    try:
        time = None if text == NONE else datetime.fromisoformat(text)
    except ValueError:
        time = None
    if text != NONE and (time is None or time.tzinfo is None):
        raise output.Failure(f"--until: expected a time such as 2026-12-01T12:00:00Z, found {text!r}")
    return text


def terms_text(contest: str) -> Callable[[Mapping[str, str]], str]:
    """Give the function that says whether and how one registers for a contest."""

    def text(terms: Mapping[str, str]) -> str:
        taken = f"{terms['registered']} of {terms['most']} places are taken"
        until = f", until {terms['until']}" if terms["until"] else ""
        if not terms["open"]:
            return f"registration for {contest} is not open; {taken}"
        url = config.current_login().url
        link = f"{url}/c/{contest}/register?{urlencode({'code': terms['code'] or ''})}"
        return (
            f"registration for {contest} is open{until}; {taken}\ncode: {terms['code']}\nlink: {link}"
            f"\njurado register {url} {contest}"
        )

    return text


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
    with Client(config.Login(config.cleaned(url))) as client:
        made = client.post(f"contests/{contest}/registrations", {**without_none(given), "password": password})
    text = f"registered as {made['username']}, in the team {made['team']}"
    if made["team_code"] is not None:
        text += f"\nothers join it with --team-code {made['team_code']}"
    return Shown(made, f"{text}\nnext: jurado login {config.cleaned(url)} {made['username']}")


AT_ONCE = 1000


@command("admin audit")
def show_audit(
    contest: Annotated[str | None, typer.Option(metavar="ID", help="only this contest (owners name theirs)")] = None,
    actor: Annotated[str | None, typer.Option(metavar="ACCOUNT", help="only this account, by id or username")] = None,
    operation: Annotated[str | None, typer.Option(metavar="NAME", help="only this operation of the API")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="only from this time on, with its zone")] = None,
    limit: Annotated[int, typer.Option(min=0, help="the newest so many; 0: all")] = 100,
) -> Shown:
    """Show who changed what, when and from where, the newest first.

    Examples:
      jurado admin audit --contest finals --since 2026-11-22T09:00:00+01:00
      jurado admin audit --actor ana --operation apply_rejudging
      jurado admin audit --limit 0 --json > audit.json
    """
    path = "audit" if contest is None else f"contests/{contest}/audit"
    with Client.open() as client:
        entries = list(_entries(client, path, limit, {"actor": actor, "operation": operation, "since": since}))
    return Shown(entries, Table(AUDIT, empty="no entries"))


def _entries(client: Client, path: str, limit: int, wanted: Mapping[str, str | None]) -> Iterator[output.JsonMapping]:
    """The entries page by page; `limit` 0: all."""
    before, left = None, limit
    while True:
        most = min(AT_ONCE, left) if limit else AT_ONCE
        entries = client.rows(path, limit=most, before=before, **wanted)
        yield from entries
        left -= len(entries)
        if len(entries) < most or (limit and left <= 0):
            return
        before = entries[-1]["id"]


def changes_text(changes: output.JsonMapping) -> str:
    """Say what became different: the values of one changed row, or how many rows of which tables."""
    if len(changes["objects"]) == 1 and (only := changes["objects"][0])["what"] == "changed":
        before, after = only["before"], only["after"]
        return "; ".join(f"{name}: {_short(before.get(name))} → {_short(after.get(name))}" for name in after)
    return "; ".join(
        f"{table_name} {', '.join(f'{count} {what}' for what, count in each.items())}"
        for table_name, each in changes["counts"].items()
    )


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"


AUDIT: Mapping[str, Cell] = {
    "time": "time",
    "who": lambda entry: f"{entry['username']} ({entry['role']})",
    "from": "address",
    "operation": "operation",
    "where": lambda entry: entry["contest_id"] or entry["problem_id"] or "",
    "what": lambda entry: changes_text(entry["changes"]),
}
